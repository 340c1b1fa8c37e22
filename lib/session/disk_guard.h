/* SPDX-License-Identifier: MIT */
/*
 * disk_guard.h - keeps a session's folder within disk_max.
 *
 * As the folder fills, the guard lowers the maximum size of a file to what still fits. It is 0 when
 * the folder is over its limit and grows: writers then fail as on a full disk, and nothing is lost.
 * If it grows all the same (because code raises its own limit, or writes mapped files), the cells
 * that run are interrupted, then those processes that write are ended. Every cell begins with the
 * full size, because it may be the one that tidies up, and keeps it until the folder grows. Once
 * the folder has grown by an eighth of the limit since it passed the limit, a cell keeps it only
 * until the next measure. From then on, cells begin with no room while programs behind them write
 * on.
 */
#ifndef SESSION_DISK_GUARD_H
#define SESSION_DISK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DISK_GUARD_MS = 10000,     /* between polls while there is room */
	DISK_GUARD_NEAR_MS = 200,  /* between polls while there is little */
	DISK_GUARD_FREED_MS = 100, /* until it polls whether the file system has more room */
	DISK_GUARD_WALKS = 10,     /* a walk takes at most one part in so many of the time */
};

/* With less room on the file system, the session's next answer says so. */
#define DISK_GUARD_FREE_MIN (64ULL << 20)
/* Less is no growth: folders take some, and file systems count late. */
#define DISK_GUARD_STEP (1ULL << 20)

struct cell;
struct disk_guard;
struct runner;
struct session;

/* Makes a guard. The session is borrowed until free. */
struct disk_guard *disk_guard_new(struct session *session);
/* Frees it. May be NULL. */
void disk_guard_free(struct disk_guard *guard);
/* Polls when it is due. `children`: there are processes beside the interpreters. */
void disk_guard_tick(struct disk_guard *guard, bool running, bool children);
/*
 * Sets whether there are processes beside the interpreters. Cells that had no room because of these
 * get it once they are gone.
 */
void disk_guard_set_children(struct disk_guard *guard, bool children);
/* Sets what unlinked files take, which no walk sees. */
void disk_guard_set_unlinked(struct disk_guard *guard, uint64_t bytes);
/* Sets what the processes of the sandbox have written in all; much of it starts a walk. */
void disk_guard_set_written(struct disk_guard *guard, uint64_t bytes);
/* Continues with the session's new sandbox. */
void disk_guard_move(struct disk_guard *guard);
/*
 * Writes into a cell of `runner` what the guard did meanwhile. If the cell has ended and no other
 * one runs, also lets files grow again, unless programs that go on fill the folder.
 */
void disk_guard_explain_cell(struct disk_guard *guard, const struct runner *runner,
			     struct cell *cell);
/*
 * Takes what the scan after a cell has counted. A cell may pass the limit and end before a walk
 * sees it: its answer says so.
 */
void disk_guard_take_scan(struct disk_guard *guard, uint64_t bytes);
/* Notes whether the answer of a cell that has ended says that the folder is over its limit. */
void disk_guard_note_answer(struct disk_guard *guard, const struct cell *cell);

#endif
