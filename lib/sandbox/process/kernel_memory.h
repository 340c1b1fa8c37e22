/* SPDX-License-Identifier: MIT */
/*
 * held.h - what descriptors hold of the kernel's memory, which is no process's.
 *
 * Sockets and pipes are asked by a copy of the descriptor (Linux 5.6, and whoever may look into the
 * process), epolls by fdinfo. What is on its way through a socket is counted, and not looked into.
 */
#ifndef SANDBOX_PROCESS_KERNEL_MEMORY_H
#define SANDBOX_PROCESS_KERNEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

enum {
	KERNEL_MEMORY_DESCRIPTORS_FEW = 1000,  /* of a whole session: those hold little */
	KERNEL_MEMORY_DESCRIPTORS_MAX = 65536, /* looked at, of all processes: 100 ms */
};

struct kernel_memory_count {
	uint32_t descriptors;
	uint32_t in_flight; /* on their way through Unix sockets that somebody has open */
};

/* Of all processes of `list`, by their numbers in /proc. */
void kernel_memory_count(const struct pidlist *list, struct kernel_memory_count *ret_count);

/* What was counted already: sockets and pipes are shared. */
struct kernel_memory;

/* NULL without memory. */
struct kernel_memory *kernel_memory_new(void);
/* NULL is allowed. */
void kernel_memory_free(struct kernel_memory *held);
/* Bytes behind the process's descriptors, without what was counted before. */
uint64_t kernel_memory_bytes(struct kernel_memory *held, pid_t pid);

#endif
