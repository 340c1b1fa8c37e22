/* SPDX-License-Identifier: MIT */
/*
 * rest.h - waits until nothing moves any more: what did not come by then, does not come.
 *
 * For what processes say through sockets and pipes. Not for terminals, whose bytes the kernel hands
 * on by itself, and where a process waits for a time or computes, there is no rest. Include after
 * cmocka.h.
 */
#ifndef SUPPORT_REST_H
#define SUPPORT_REST_H

#include <stdlib.h>
#include <string.h>

#include "patience.h"
#include "sandbox/process/proctree.h"

enum { REST_TURNS = 8 };

/* The number behind `name` in a file status of /proc. */
static inline unsigned long long rest_number(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line != NULL ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* True when all processes below us sleep; *ret_moves is another number when one ran since. */
static inline bool rest_look(unsigned long long *ret_moves)
{
	cleanup_pidlist struct pidlist list = { 0 };
	bool asleep = true;

	*ret_moves = 0;
	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++) {
		char path[64];
		char status[4096];
		const char *state;

		(void)snprintf(path, sizeof(path), "/proc/%d/status", list.pids[i]);
		if (!proctree_read(path, status, sizeof(status)))
			return false;
		state = strstr(status, "\nState:\t");
		asleep = asleep && state != NULL && strchr("STtZ", state[8]) != NULL;
		*ret_moves += (unsigned long long)list.pids[i] * 1000003 +
			      rest_number(status, "\nvoluntary_ctxt_switches:\t") +
			      rest_number(status, "\nnonvoluntary_ctxt_switches:\t");
	}
	return asleep;
}

/* Returns whether no process ran, nor had anything to do, between two looks. */
static inline bool rest_is_there(struct loop *loop)
{
	unsigned long long before;
	unsigned long long after;

	if (!rest_look(&before))
		return false;
	for (int i = 0; i < REST_TURNS; i++)
		loop_turn(loop, 0);
	return rest_look(&after) && before == after;
}

/* Turns `loop` until all processes below us wait for each other or for us, and we for them. */
static inline void rest(struct loop *loop)
{
	patience_turn_until(loop, rest_is_there(loop));
}

#endif
