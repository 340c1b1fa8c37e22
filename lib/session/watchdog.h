/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - limits of a whole session that no kernel holds for us: memory of its processes
 * together, processor time, the disk that its folder takes (disk_guard.h), descriptors on their
 * way.
 *
 * Where the kernel does hold memory and processes (proc/cgroups.h), this comes first and the kernel
 * last: it kills without asking where the code was.
 *
 * It looks twice a second while a cell runs and seldom else. Over the limit of memory programs
 * that code started are killed, and interpreters when those do not suffice, after their cells were
 * interrupted (memory_hold.h), the idle ones last. Over that of processor time cells are
 * interrupted, too, and over any other the interpreters that run are killed.
 * What ended, why, and what to do is in the next answer.
 */
#ifndef SESSION_WATCHDOG_H
#define SESSION_WATCHDOG_H

#include "session/session.h"

struct watchdog;

enum {
	WATCHDOG_BUSY_MS = 500,
	WATCHDOG_IDLE_MS = 5000,
	WATCHDOG_LOOK_MS = 10000, /* at shared folders */
	WATCHDOG_WHERE_MS = 100,  /* for an interpreter to say where it is, before it is killed */
	/* So often within that time processes are killed for their memory; then it is the code's
	 * interpreters. */
	WATCHDOG_RELIEFS_MAX = 5,
	WATCHDOG_RELIEFS_MS = 60000,
};

/*
 * The kernel counts a user's descriptors on their way, and refuses all that user's programs when
 * they are as many as one process may have open, 1,024 as a rule.
 */
#define WATCHDOG_IN_FLIGHT_MAX 500U

/*
 * The session, whose sandbox has just been opened, is borrowed until free. `cpu_ms` is what that
 * used before: it does not count.
 */
struct watchdog *watchdog_new(struct session *session, uint64_t cpu_ms);
/* The session has another sandbox, just opened: what was used in the one before still counts. */
void watchdog_move(struct watchdog *watchdog);
/* Before sandbox_close. NULL is allowed. */
void watchdog_free(struct watchdog *watchdog);
/*
 * An interpreter was killed, by none of us: when that was the kernel's limit of memory, which one
 * it was and how much, for the caller to free; else NULL.
 */
char *watchdog_explain_kill(struct watchdog *watchdog);
/* A cell begins: what it takes is looked at soon. */
void watchdog_wake(struct watchdog *watchdog);
/* One of `runner` has ended: writes into it which limits it met that only this knows of. */
void watchdog_end_cell(struct watchdog *watchdog, const struct runner *runner, struct cell *cell);
/*
 * Ends the interpreters of the session that run a cell, or all when none does: then it is their
 * children. `why` as runner_end takes it.
 */
void watchdog_end_code(struct session *session, const char *why);

#endif
