/* SPDX-License-Identifier: MIT */
/*
 * file_limit.h - limits the file size of running processes (RLIMIT_FSIZE, the soft limit).
 *
 * The limit holds for each file that a process writes, wherever it is stored, and for files in
 * memory. Session code can raise it again up to the hard limit.
 */
#ifndef SANDBOX_PROCESS_FILE_LIMIT_H
#define SANDBOX_PROCESS_FILE_LIMIT_H

#include <stdint.h>

/*
 * Sets the limit to `now` for all processes below the caller. A lower limit stays, because session
 * code chose it, unless it is `before`, the limit that the last call set.
 */
void file_limit_set(uint64_t before, uint64_t now);

#endif
