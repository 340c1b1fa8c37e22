/* SPDX-License-Identifier: MIT */
/*
 * held.h - what descriptors hold of the kernel's memory, which is no process's.
 *
 * Sockets and pipes are asked by a copy of the descriptor (Linux 5.6, and whoever may look into the
 * process), epolls by fdinfo. What is on its way through a socket is counted, and not looked into.
 */
#ifndef SANDBOX_HELD_H
#define SANDBOX_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/pidlist.h"

enum {
	HELD_DESCRIPTORS_FEW = 1000,  /* of a whole session: those hold little */
	HELD_DESCRIPTORS_MAX = 65536, /* looked at, of all processes: 100 ms */
};

struct held_count {
	uint32_t descriptors;
	uint32_t in_flight; /* on their way through Unix sockets that somebody has open */
};

/* Of all processes of `list`, by their numbers in /proc. */
void held_count(const struct pidlist *list, struct held_count *ret_count);

/* What was counted already: sockets and pipes are shared. */
struct held;

/* NULL without memory. */
struct held *held_new(void);
/* NULL is allowed. */
void held_free(struct held *held);
/* Bytes behind the process's descriptors, without what was counted before. */
uint64_t held_bytes(struct held *held, pid_t pid);

#endif
