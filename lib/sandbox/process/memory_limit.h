/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - limits the memory of running interpreters (RLIMIT_DATA, the soft limit). Each
 * may allocate as much as the session's memory has left.
 *
 * An allocation beyond that fails, as it does at the limit of one process. Without this limit the
 * process would be killed when all together exceed the session's. Session code can raise the limit
 * of a process again, up to the hard limit.
 */
#ifndef SANDBOX_PROCESS_MEMORY_LIMIT_H
#define SANDBOX_PROCESS_MEMORY_LIMIT_H

#include <stdint.h>

#include "sandbox/process/pidlist.h"

/*
 * Limits each of `interpreters` (numbers of /proc), and each process below the caller that has
 * inherited such a limit, to what it has now and `left` bytes more. UINT64_MAX takes the limit
 * away. If `left` is less than `least`, a process gets `least` bytes more. If `left` is 0, it gets
 * these once: a process that has used half of them gets none again. A limit that session code chose
 * stays.
 */
void memory_limit_set(const struct pidlist *interpreters, uint64_t left, uint64_t least);

#endif
