/* SPDX-License-Identifier: MIT */
/*
 * proc_internal.h - functions that launcher.c, launcher_probe.c, sandbox.c and interpreter.c share.
 */
#ifndef PROC_PROC_INTERNAL_H
#define PROC_PROC_INTERNAL_H

#include "base/err.h"
#include "base/list.h"
#include "event/loop.h"
#include "proc/interpreter.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"
#include "sandbox/wire/wire.h"

struct loop *launcher_loop(const struct launcher *launcher);
/*
 * Returns the list of sandboxes that are closing, by their nodes; launcher_free passes each to
 * sandbox_abandon.
 */
struct list *launcher_closing(struct launcher *launcher);
/* Frees a closing sandbox without calling `closed`. */
void sandbox_abandon(struct list *node);
/* Returns the list of unanswered probes; launcher_free passes each to launcher_probe_abandon. */
struct list *launcher_probes(struct launcher *launcher);
/* Frees a probe without calling `done`. */
void launcher_probe_abandon(struct list *node);
/*
 * Sends WIRE_SANDBOX or WIRE_PROBE, and starts a launcher first when none runs. The descriptors
 * stay the caller's. Returns -1 and sets *err.
 */
int launcher_request(struct launcher *launcher, enum wire_type type, const int *fds,
		     size_t fd_count, struct err *err) MUST_CHECK;

/*
 * Returns whether the launcher exited with success without a reply, as one of another version does
 * at once; *ret_err then says so. Waits briefly for its exit.
 */
bool launcher_differs(struct launcher *launcher, struct err *ret_err);

/*
 * Sends WIRE_START and returns the interpreter's number in the sandbox. Returns -1 and sets *err to
 * the reason when the sandbox is dead. `fails_softly` as in struct interpreter_spec. The
 * descriptors stay the caller's.
 */
int sandbox_request(struct sandbox *sandbox, bool fails_softly, const int *fds, size_t fd_count,
		    struct err *err) MUST_CHECK;
/* Reads and handles all messages that init has sent so far. */
void sandbox_catch_up(struct sandbox *sandbox);
struct loop *sandbox_loop(const struct sandbox *sandbox);
/*
 * Returns whether the sandbox has failed, by the messages of its init so far, and then sets
 * *ret_err.
 */
bool sandbox_get_err(struct sandbox *sandbox, struct err *ret_err);

#endif
