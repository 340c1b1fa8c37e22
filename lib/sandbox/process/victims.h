/* SPDX-License-Identifier: MIT */
/*
 * victims.h - chooses which processes of a session are ended at a limit. Pure: it reads only its
 * arguments.
 *
 * At a limit of memory the order is: programs that grow, other programs, interpreters that grow,
 * other interpreters. Interpreters whose cell runs come before idle ones, and of each kind the
 * newest comes first. Programs are those that code started.
 */
#ifndef SANDBOX_PROCESS_VICTIMS_H
#define SANDBOX_PROCESS_VICTIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that may be ended. */
struct victim {
	uint64_t bytes;   /* freed if it ends */
	uint64_t started; /* the newest has the largest */
	bool is_interpreter;
	bool is_running; /* an interpreter whose cell runs */
	bool is_growing;
	bool is_chosen; /* to be ended: the result */
	size_t index;   /* the caller's own */
};

/* How much memory may stay in use if a process stays, by what it is. */
struct victims_need {
	uint64_t held;      /* in use even if all end, such as files in memory */
	uint64_t max;       /* for one that grows, and for a program unless only programs grow */
	uint64_t still_max; /* for any other */
	bool programs_only; /* no interpreter is chosen */
	size_t count_max;   /* at most so many are chosen */
};

/*
 * Chooses those to be ended so that the memory fits, and sorts `rows` in the order of killing. A
 * process stays if the others suffice. One that does not grow also stays if its end cannot suffice,
 * because too much is held. One that grows never stays in place of one that does not.
 */
void victims_for_memory(struct victim *rows, size_t len, const struct victims_need *need);

/*
 * Chooses those to be ended so that a folder grows no more. Here is_growing means that it writes.
 * The order is: programs that write, running interpreters that write, idle ones that write; then
 * programs, running interpreters and idle ones that do not. All processes of the first of these
 * kinds that has any are chosen.
 */
void victims_for_disk(struct victim *rows, size_t len);

#endif
