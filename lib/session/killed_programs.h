/* SPDX-License-Identifier: MIT */
/* killed_programs.h - the sentence on programs that were killed at a limit of the session. */
#ifndef SESSION_KILLED_PROGRAMS_H
#define SESSION_KILLED_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "proc/sandbox.h"

/*
 * Returns whether code had started one of the programs. The copy that saves variables for a driver
 * (driver/copying.py) is no program of the code.
 */
bool killed_programs_of_code(const struct sandbox_killed *killed);
/*
 * Appends it to `out`; `killed` has at least one program. `memory_max` is the limit of memory;
 * `disk_why` says how much the folder holds, and is not read unless killed->for_disk.
 */
void killed_programs_describe(struct buf *out, const struct sandbox_killed *killed,
			      uint64_t memory_max, const char *disk_why);

#endif
