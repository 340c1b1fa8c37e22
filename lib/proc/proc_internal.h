/* SPDX-License-Identifier: MIT */
/* internal.h - what launcher.c, sandbox.c and interpreter.c know of each other. */
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
/* Sandboxes that are closing, by their nodes: launcher_free gives each to sandbox_abandon. */
struct list *launcher_closing(struct launcher *launcher);
void sandbox_abandon(struct list *node);
/* Probes that have no answer yet: launcher_free gives each to launcher_probe_abandon. */
struct list *launcher_probes(struct launcher *launcher);
void launcher_probe_abandon(struct list *node);
/*
 * Sends WIRE_SANDBOX or WIRE_PROBE, starting a launcher when none runs. The descriptors stay the
 * caller's.
 */
int launcher_request(struct launcher *launcher, enum wire_type type, const int *fds,
		     size_t fd_count, struct err *err) MUST_CHECK;

/*
 * For whom it left without an answer: true when it ended by itself, which one of another version
 * does at once, and says so. Waits for its end, for a moment.
 */
bool launcher_differs(struct launcher *launcher, struct err *ret_err);

/*
 * Sends WIRE_START and returns the number that it has in the sandbox, or says why that is not
 * usable. The descriptors stay the caller's.
 */
int sandbox_request(struct sandbox *sandbox, const int *fds, size_t fd_count,
		    struct err *err) MUST_CHECK;
/* Takes what its init has said until now. */
void sandbox_catch_up(struct sandbox *sandbox);
struct loop *sandbox_loop(const struct sandbox *sandbox);
/* Why the sandbox failed, by what its init has said until now; false when nobody said. */
bool sandbox_get_err(struct sandbox *sandbox, struct err *ret_err);

#endif
