/* SPDX-License-Identifier: MIT */
/*
 * usage.h - measures what the processes below the caller use, by /proc.
 *
 * Memory is the private and shared memory of each process; kernel memory (kernel_memory.h) is added
 * when there are many descriptors. A quick measure counts a page that related processes share once
 * for each of them. An exact one divides it among them by smaps_rollup, at a millisecond for each
 * 80 MB. It is meant for when the quick sum is above a limit. A process that may not be traced
 * counts by its resident size. One that /proc hides (hidepid) counts as a process, without memory.
 */
#ifndef SANDBOX_PROCESS_USAGE_H
#define SANDBOX_PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"
#include "sandbox/process/written.h"

/* Folders of the session; each may be NULL. */
struct usage_paths {
	const char *folder; /* on the file system whose unlinked files count */
	const char *shared; /* a file system in memory that only this session uses */
};

enum {
	USAGE_NAME_MAX = 16,
	USAGE_COMMAND_MAX = 128,
	USAGE_KILLS_MAX = 64, /* processes that one call kills */
	USAGE_BUSY_MAX = 8,
};

/*
 * Growth of one first-generation process since the last but one quick measure; all its memory when
 * it is new.
 */
struct usage_growth {
	uint64_t bytes;
	int32_t parent; /* the process's parent; 0: unused row */
	int32_t unused;
};

/* Crosses a channel as raw bytes. */
struct usage {
	uint64_t memory_bytes;
	uint64_t cpu_ms;         /* of all processes that ever ran below and were waited for, too */
	uint64_t unlinked_bytes; /* of open files without a name (unlinked.h) */
	uint32_t processes;
	uint32_t exact;          /* 1: an exact measure */
	uint64_t programs_bytes; /* part of memory_bytes that is not of the first generation */
	uint64_t shared_bytes;   /* part of memory_bytes that files in paths.shared take */
	uint32_t in_flight;      /* descriptors in flight through sockets (kernel_memory.h) */
	uint32_t user_full;      /* 1: the user has as many processes as the kernel allows it, or
				    nearly (seen in tier landlock); the caller's to set */
	uint64_t written_bytes;  /* to disks, by the processes below and by those that were waited
				    for. It falls when one ends that no process waits for. 0 in an
				    exact measure */
	uint32_t tasks;   /* threads of all processes, and zombies, as the kernel counts them */
	uint32_t threads; /* of `processes`: at least one of each */
	struct usage_growth growths[USAGE_BUSY_MAX]; /* only of an exact measure */
};

/* One process. Crosses a channel as raw bytes; `name` is untrusted. */
struct usage_process {
	uint64_t memory_bytes; /* freed if the process ends */
	uint64_t shared_bytes; /* memory that other processes may have, too */
	int32_t pid;           /* 0: no process */
	int32_t generations;   /* below the caller: 2 is a child's child */
	int32_t parent;
	uint32_t unused;
	uint64_t started; /* in ticks since the machine's boot */
	struct written written;
	char name[USAGE_NAME_MAX];
};

/* Why processes are killed. */
enum usage_cause {
	USAGE_MEMORY, /* they have too much */
	USAGE_DISK,   /* the session's folder grows on */
};

/* Whom to kill. Crosses a channel as raw bytes. */
struct usage_kill_request {
	uint32_t cause; /* enum usage_cause */
	/* From here to still_max: for USAGE_MEMORY only. */
	uint32_t programs_only; /* interpreters, which are of the first generation, are spared */
	uint64_t memory_max;
	uint64_t still_max; /* as in struct victims_need */
	uint32_t busy_count;
	int32_t busy[USAGE_BUSY_MAX]; /* parents of processes that run code, numbered as the
					 receiver does */
};

/* The processes that were killed. Crosses a channel as raw bytes. */
struct usage_killed {
	/* The one above the first generation with the most memory, or that has written most. */
	struct usage_process program;
	uint32_t cause;                  /* as requested */
	uint32_t programs;               /* how many above the first generation */
	uint32_t firsts;                 /* how many of the first generation */
	char command[USAGE_COMMAND_MAX]; /* of `program`, cut to this; untrusted */
};

/*
 * A process counts if it is `first` generations below the caller (1 is a child) or deeper; those
 * above belong to ptycell. Among the children of one such parent only the oldest is of the first
 * generation. The others are orphans that it inherited, and count as programs.
 */

/*
 * Measures all processes that count. Files in `paths->shared` count once, and for no process.
 * `paths` may be NULL.
 */
void usage_measure(int first, bool exact, const struct usage_paths *paths, struct usage *ret_usage,
		   struct usage_process *ret_largest);

/* Returns the threads of all processes that count, and zombies, as the kernel counts them. */
uint32_t usage_count_tasks(int first);

/*
 * Appends to *ret_pids the process of the first generation below each of `parents`, in numbers of
 * /proc.
 */
void usage_list_interpreters(int first, const struct pidlist *parents, struct pidlist *ret_pids);

/*
 * Kills processes that count, at most USAGE_KILLS_MAX: for their memory until the rest have at most
 * `memory_max` by an exact measure, or those that write to disks.
 *
 * victims.h says in which order, and who stays. An interpreter runs if it is a child of `busy`. A
 * process grows, or writes, if it did since the last but one quick measure; only those that write
 * most are said to write.
 */
void usage_kill(int first, const struct usage_kill_request *request,
		const struct usage_paths *paths, struct usage_killed *ret_killed);

#endif
