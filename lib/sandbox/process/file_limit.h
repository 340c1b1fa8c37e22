/* SPDX-License-Identifier: MIT */
/*
 * filemax.h - how large files of running processes may become (RLIMIT_FSIZE, the soft limit).
 *
 * It bounds every file that they write, each by itself, wherever it lies, and memory that is a
 * file. Code can raise it again, up to the hard limit.
 */
#ifndef SANDBOX_PROCESS_FILE_LIMIT_H
#define SANDBOX_PROCESS_FILE_LIMIT_H

#include <stdint.h>

/*
 * Sets it for all processes below the caller. One that is lower stays, as code chose it, but for
 * `before`, which is what the last call set.
 */
void file_limit_set(uint64_t before, uint64_t now);

#endif
