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
 * Lets `interpreters`, in numbers of /proc, and the processes below the caller that have such a
 * limit from one of them, have `left` bytes more than now; UINT64_MAX takes the limit away. With
 * less than `least` they have that; where nothing is left, once. A limit that session code chose
 * stays.
 */
void memory_limit_set(const struct pidlist *interpreters, uint64_t left, uint64_t least);

#endif
