/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - limits of a whole session that no kernel enforces: memory of all its processes,
 * processor time, disk space of its folder (disk_guard.h), descriptors in flight. In tier landlock
 * they include processes and threads: code can raise the kernel's limit.
 *
 * Where a control group limits memory and processes (proc/cgroups.h), the watchdog acts before the
 * kernel does: the kernel kills without asking where the code was.
 *
 * It polls twice a second while code, or a program that it started, runs, and seldom otherwise.
 * Above the memory limit it interrupts cells (memory_guard.h), then kills programs that code
 * started, then interpreters, the idle ones last. Above the limit of processor time it interrupts
 * cells. Processes that write on above the limit of the disk are killed in the same order. Above
 * any other limit it kills the interpreters that run. The next answer says what ended, why, and
 * what to do.
 */
#ifndef SESSION_WATCHDOG_H
#define SESSION_WATCHDOG_H

#include "session/session.h"

struct watchdog;

enum {
	WATCHDOG_BUSY_MS = 500,   /* between polls while code, or a program that it started, runs */
	WATCHDOG_IDLE_MS = 5000,  /* between polls otherwise */
	WATCHDOG_LOOK_MS = 10000, /* between inspections of shared folders */
	WATCHDOG_WHERE_MS = 100, /* for an interpreter to report where it is, before it is killed */
	/*
	 * This many kills of processes for their memory within that time; then the interpreters are
	 * killed.
	 */
	WATCHDOG_KILLS_MAX = 5,
	WATCHDOG_KILLS_MS = 60000,
};

/*
 * The kernel counts a user's descriptors in flight. It refuses all programs of that user once there
 * are as many as one process may have open, usually 1,024.
 */
#define WATCHDOG_IN_FLIGHT_MAX 500U

/*
 * Starts watching a session whose sandbox has just been opened. The session is borrowed until free.
 * `cpu_ms` was used before the session and does not count.
 */
struct watchdog *watchdog_new(struct session *session, uint64_t cpu_ms);
/* Continues with the session's new sandbox. Use in the earlier sandbox still counts. */
void watchdog_move(struct watchdog *watchdog);
/* Frees it. Must precede sandbox_close. May be NULL. */
void watchdog_free(struct watchdog *watchdog);
/*
 * Explains an interpreter that was killed by another party. Returns which limit of memory the
 * kernel enforced and how much it was; the caller frees it. Returns NULL if it was no such limit.
 */
char *watchdog_explain_kill(struct watchdog *watchdog);
/* Returns the memory of all processes as measured last; 0: not yet. `watchdog` may be NULL. */
uint64_t watchdog_memory(const struct watchdog *watchdog);
/* Polls soon, because a cell begins. */
void watchdog_wake(struct watchdog *watchdog);
/*
 * Writes into a cell of `runner` which limits it met. For a cell that goes on, only the limit of
 * the disk is considered.
 */
void watchdog_explain_cell(struct watchdog *watchdog, const struct runner *runner,
			   struct cell *cell);
/* Takes the disk space that the scan after a cell has counted. */
void watchdog_take_scan(struct watchdog *watchdog, uint64_t bytes);
/* Notes that the changes of an ended cell are known, and so what its answer says. */
void watchdog_note_answer(struct watchdog *watchdog, const struct cell *cell);
/*
 * Kills what writes to the session's folder, unless a kill is under way. `why` is reported by the
 * next answer, with the name of a program or as the reason for the end of an interpreter.
 */
void watchdog_end_writers(struct watchdog *watchdog, const char *why);

#endif
