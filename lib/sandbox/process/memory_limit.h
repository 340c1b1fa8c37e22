/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.h - limits the memory of running interpreters (RLIMIT_DATA, the soft limit) to what
 * the session's other processes leave.
 *
 * An allocation beyond it fails, as it does at the limit of one process. Without it the process
 * would be killed for what all have together. Session code can raise it again up to the hard limit.
 */
#ifndef SANDBOX_PROCESS_MEMORY_LIMIT_H
#define SANDBOX_PROCESS_MEMORY_LIMIT_H

#include <stdint.h>

#include "sandbox/process/pidlist.h"

/*
 * Limits each of `interpreters` (numbers of /proc), and each process below the caller that has
 * inherited such a limit, to what it has now and `left` bytes more. UINT64_MAX takes the limit
 * away. If `left` is less than `least`, a process gets `least` bytes more. While `left` is 0, a
 * process that has used half of these gets no others. A limit that session code chose stays.
 */
void memory_limit_set(const struct pidlist *interpreters, uint64_t left, uint64_t least);

#endif
