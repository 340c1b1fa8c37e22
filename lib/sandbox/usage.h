/* SPDX-License-Identifier: MIT */
/*
 * usage.h - what the processes below the caller use, by /proc.
 *
 * Memory is what a process has for itself (anonymous and shared memory), so pages that relatives
 * share are counted by each of them; `exact` shares them out by smaps_rollup, which costs a
 * millisecond for each 80 MB and is for when the quick sum is above a limit. Both ways round, a
 * process that may not be looked into counts by its resident size.
 */
#ifndef SANDBOX_USAGE_H
#define SANDBOX_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Crosses a channel as it is. */
struct usage {
	uint64_t memory_bytes;
	uint64_t cpu_ms;        /* of all that ever ran below and was waited for, too */
	uint64_t deleted_bytes; /* of files without a name that they have open (deleted.h) */
	uint32_t processes;
	uint32_t exact; /* as it was asked for */
	/* The process with the most memory is of the first generation that counts. */
	uint32_t largest_is_first;
	uint32_t reserved;
};

enum { USAGE_NAME_MAX = 16 };

/* The process with the most memory. Crosses a channel as it is; `name` is foreign. */
struct usage_largest {
	uint64_t memory_bytes;
	int32_t pid;         /* 0: there is none */
	int32_t generations; /* below the caller: 2 is a child's child */
	char name[USAGE_NAME_MAX];
};

/* Processes of a generation above `first` (1 is a child) are not counted: they are ours. */
/* `folder` lies on the file system whose deleted files count; NULL for none. */
void usage_measure(int first, bool exact, const char *folder, struct usage *ret_usage,
		   struct usage_largest *ret_largest);

/* Kills that process, when it is still one below the caller. */
void usage_kill(const struct usage_largest *largest);

#endif
