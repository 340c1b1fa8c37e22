/* SPDX-License-Identifier: MIT */
/*
 * kernel_memory.h - kernel memory that is held by descriptors and charged to no process.
 *
 * Sockets and pipes are measured by a duplicate of the descriptor (pidfd_getfd, Linux 5.6; needs
 * the right to trace the process), epolls by fdinfo. Descriptors in flight through a socket are
 * counted but not measured.
 */
#ifndef SANDBOX_PROCESS_KERNEL_MEMORY_H
#define SANDBOX_PROCESS_KERNEL_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

enum {
	KERNEL_MEMORY_DESCRIPTORS_FEW = 1000,  /* of a whole session: not worth measuring */
	KERNEL_MEMORY_DESCRIPTORS_MAX = 65536, /* examined of all processes together: 100 ms */
};

struct kernel_memory_count {
	uint32_t descriptors;
	uint32_t in_flight; /* in flight through Unix sockets that a process has open */
};

/* Counts the descriptors of all processes of `list`, given by their numbers in /proc. */
void kernel_memory_count(const struct pidlist *list, struct kernel_memory_count *ret_count);

/* The sockets and pipes that were counted already: processes share them. */
struct kernel_memory;

/* Returns NULL when memory is short. */
struct kernel_memory *kernel_memory_new(void);
/* Frees it. May be NULL. */
void kernel_memory_free(struct kernel_memory *memory);
/* Returns the bytes behind the process's descriptors that were not counted before. */
uint64_t kernel_memory_bytes(struct kernel_memory *memory, pid_t pid);

#endif
