/* SPDX-License-Identifier: MIT */
/*
 * victims.h - chooses which processes of a session are ended at a limit. Pure: it reads only its
 * arguments.
 *
 * Programs that code started come before interpreters, growing ones before still ones, the newest
 * first. Interpreters whose cell runs come before idle ones.
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

/* How much memory may stay in use. */
struct victims_need {
	uint64_t held; /* in use even if all end, such as files in memory */
	uint64_t max;  /* while a process that grows is left, and for a program if none grows */
	uint64_t still_max; /* for other processes that do not grow */
	bool programs_only; /* no interpreter is chosen */
	size_t count_max;   /* at most so many are chosen */
};

/*
 * Chooses those to be ended so that the memory fits; `rows` come to be in the order of killing. A
 * process stays if the others suffice. One that does not grow also stays if its end cannot suffice,
 * because too much is held. One that grows never stays in place of one that does not.
 */
void victims_for_memory(struct victim *rows, size_t len, const struct victims_need *need);

/*
 * Chooses those to be ended so that a folder grows no more; is_growing means: writes. All of the
 * first kind that is there go: programs that write, running interpreters that do, idle ones that
 * do. If none is known to write, programs go, else running interpreters, else idle ones.
 */
void victims_for_disk(struct victim *rows, size_t len);

#endif
