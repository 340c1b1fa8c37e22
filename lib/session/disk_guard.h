/* SPDX-License-Identifier: MIT */
/*
 * disk_guard.h - a session's folder stays within disk_max.
 *
 * As it fills, the size that one file may have is lowered to what still fits, and to 0 when the
 * folder is over its limit and grows: then writers fail as at a full disk, and nothing is lost.
 * What grows all the same (code that raised its own limit, files that are mapped) is interrupted,
 * and ended when it goes on. A cell begins with the full size: it may be the one that tidies up.
 */
#ifndef SESSION_DISK_GUARD_H
#define SESSION_DISK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DISK_GUARD_MS = 10000,     /* from one look to the next, while there is room */
	DISK_GUARD_NEAR_MS = 500,  /* while there is not */
	DISK_GUARD_FREED_MS = 100, /* then it is looked whether the file system has more room */
	DISK_GUARD_WALKS = 10,     /* a walk takes one part in so many of the time at most */
};

/* With less left on the file system the session's next answer says so. */
#define DISK_GUARD_FREE_MIN (64ULL << 20)
/* Less is no growth: folders, and what file systems count late. */
#define DISK_GUARD_STEP (1ULL << 20)

struct cell;
struct disk_guard;
struct runner;
struct session;

/* The session is borrowed until free. */
struct disk_guard *disk_guard_new(struct session *session);
/* NULL is allowed. */
void disk_guard_free(struct disk_guard *guard);
/* Looks, when it is time. `children`: processes beside the interpreters. */
void disk_guard_tick(struct disk_guard *guard, bool running, bool children);
/* What files without a name take, which no walk sees. */
void disk_guard_set_deleted(struct disk_guard *guard, uint64_t bytes);
/* The session has another sandbox, as it was made. */
void disk_guard_move(struct disk_guard *guard);
/* A cell of `runner` has ended: writes into it what the guard did meanwhile. */
void disk_guard_end_cell(struct disk_guard *guard, const struct runner *runner, struct cell *cell);

#endif
