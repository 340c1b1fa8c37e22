/* SPDX-License-Identifier: MIT */
/*
 * process_limit.h - limits how many processes and threads the caller's user may have (RLIMIT_NPROC)
 * where that user has others besides those below the caller.
 *
 * The kernel counts the processes and threads of a user together, on the whole machine, but
 * compares the sum with the limit of the process that forks. So each process below the caller may
 * have a limit that suits the rest of the user's processes.
 */
#ifndef SANDBOX_PROCESS_PROCESS_LIMIT_H
#define SANDBOX_PROCESS_PROCESS_LIMIT_H

#include <stdint.h>

#define PROCESS_LIMIT_UNKNOWN UINT64_MAX

/*
 * Returns how many processes and threads the kernel counts for the caller's user, also those that
 * /proc hides. Returns 0 where no limit holds for the caller (root), and PROCESS_LIMIT_UNKNOWN
 * where the kernel refuses every fork, by the caller's own limit or for want of something else.
 *
 * It forks processes, which end at once. `near` is the last count: two forks if it still holds, a
 * few more if it nearly does, some 15 if there is none (0).
 */
uint64_t process_limit_count(uint64_t near);
/*
 * Sets the soft limit of all processes below the caller's children, up to their hard limit. A soft
 * limit below `own_below` stays, because session code chose it.
 */
void process_limit_set(uint64_t own_below, uint64_t limit);

#endif
