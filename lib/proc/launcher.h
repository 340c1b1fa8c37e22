/* SPDX-License-Identifier: MIT */
/*
 * launcher.h - the server's side of ptycell-launcher, the process that builds sandboxes.
 *
 * A server runs at most one launcher. It is exec'd for the first sandbox, or earlier by
 * launcher_start. When it dies, all its sandboxes die with it, and their interpreters report that;
 * the next sandbox starts a new launcher. Every descriptor that the launcher sends has its count
 * and type checked. No function here blocks, except launcher_free, for a moment.
 */
#ifndef PROC_LAUNCHER_H
#define PROC_LAUNCHER_H

#include "base/err.h"
#include "event/loop.h"
#include "sandbox/report.h"

struct launcher;

/* Returns a launcher that runs no program yet. `path` of ptycell-launcher is copied. */
struct launcher *launcher_new(struct loop *loop, const char *path);
/*
 * Execs ptycell-launcher when none runs, so that the first sandbox need not wait for it. A caller
 * may ignore an error: the first sandbox meets the same one and reports it. Returns -1 and sets
 * *err.
 */
int launcher_start(struct launcher *launcher, struct err *err) MUST_CHECK;
/* Ends the program, which kills every sandbox, and frees the launcher. May be NULL. */
void launcher_free(struct launcher *launcher);

/*
 * Receives the result of a probe. Exactly one of `report` and `err` is not NULL; both are borrowed
 * for the call. The callback may free the launcher.
 */
typedef void launcher_probe_fn(void *data, const struct sandbox_report *report,
			       const struct err *err);
/*
 * Finds out in throw-away processes how this machine can confine a session. Starts the program when
 * none runs. Calls `done` once, from the loop, after 10 s at the latest; not after launcher_free.
 */
void launcher_probe(struct launcher *launcher, launcher_probe_fn *done, void *data);

#endif
