/* SPDX-License-Identifier: MIT */
/*
 * usage.h - what the processes below the caller use, by /proc.
 *
 * Memory is what a process has for itself (anonymous and shared memory), and where there are many
 * descriptors what they hold of the kernel's (held.h). Pages that relatives share are counted by
 * each of them; `exact` shares them out by smaps_rollup, which costs a millisecond for each 80 MB
 * and is for when the quick sum is above a limit. Both ways round, a process that may not be looked
 * into counts by its resident size.
 */
#ifndef SANDBOX_PROCESS_USAGE_H
#define SANDBOX_PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Folders of the session; NULL for none. */
struct usage_paths {
	const char *folder; /* on the file system whose deleted files count */
	const char *shared; /* a file system in memory, of the session alone */
};

enum {
	USAGE_NAME_MAX = 16,
	USAGE_KILLS_MAX = 64, /* processes that one relief kills */
	USAGE_BUSY_MAX = 8,
};

/* Of the first generation, since the last but one quick measure: all it has, when it is new. */
struct usage_growth {
	uint64_t bytes;
	int32_t parent; /* whose child it is; 0: there is none */
	int32_t unused;
};

/* Crosses a channel as it is. */
struct usage {
	uint64_t memory_bytes;
	uint64_t cpu_ms;         /* of all that ever ran below and was waited for, too */
	uint64_t unlinked_bytes; /* of files without a name that they have open (deleted.h) */
	uint32_t processes;
	uint32_t exact;          /* as it was asked for */
	uint64_t programs_bytes; /* of memory_bytes, what is not of the first generation */
	uint64_t shared_bytes;   /* of memory_bytes, what files of places.shared take */
	uint32_t in_flight;      /* descriptors on their way through sockets (held.h) */
	uint32_t tasks;          /* threads of all processes, and zombies, as the kernel counts */
	struct usage_growth growths[USAGE_BUSY_MAX]; /* of an exact one */
};

/* A process and what it has. Crosses a channel as it is; `name` is foreign. */
struct usage_process {
	uint64_t memory_bytes; /* that its end frees */
	uint64_t shared_bytes; /* what it has of memory that others may have, too */
	int32_t pid;           /* 0: there is none */
	int32_t generations;   /* below the caller: 2 is a child's child */
	int32_t parent;
	uint32_t rank;    /* of who is to go: 0 first */
	uint64_t started; /* in ticks of the machine */
	char name[USAGE_NAME_MAX];
};

/* What is to be killed for its memory. Crosses a channel as it is. */
struct usage_kill_request {
	uint64_t memory_max;
	uint64_t still_max; /* for the sake of more than this those go that do not grow */
	uint32_t busy_count;
	int32_t busy[USAGE_BUSY_MAX]; /* whose children run code: as the receiver numbers them */
};

/* What was killed for its memory. Crosses a channel as it is. */
struct usage_killed {
	struct usage_process program; /* the largest above the first generation that counts */
	uint32_t programs;            /* killed like it */
	uint32_t firsts;              /* killed of the first generation that counts */
};

/* Processes of a generation above `first` (1 is a child) are not counted: they are ours. */
/* Of those of `first` that have one parent, which is ours, all but the oldest are programs. */
/*
 * What files in `places->shared` take counts once, and as memory of no process. `places` may be
 * NULL.
 */
void usage_measure(int first, bool exact, const struct usage_paths *paths, struct usage *ret_usage,
		   struct usage_process *ret_largest);

/*
 * Kills processes that count until those that are left have `memory_max` together by an exact
 * measure, or USAGE_KILLS_MAX have been killed. Of the first generation, whose memory is somebody's
 * work, only when the others do not suffice, and then children of `busy` before those that are
 * idle; while others of it grow, those that do not go only for more than still_max. Of each kind
 * one that has grown since the last but one quick measure is first, then the newest; who need not
 * go for the others' sake stays.
 */
void usage_kill_largest(int first, const struct usage_kill_request *request,
			const struct usage_paths *paths, struct usage_killed *ret_killed);

#endif
