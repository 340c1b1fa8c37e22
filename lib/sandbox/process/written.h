/* SPDX-License-Identifier: MIT */
/*
 * written.h - what a process has written in its life, and the children that it waited for.
 *
 * The kernel counts a page for a disk when it becomes dirty, also by a map. It counts no pages of
 * files in memory, and some network file systems do not count either. Bytes given to write()
 * count everywhere, but for pipes and terminals, too.
 */
#ifndef SANDBOX_PROCESS_WRITTEN_H
#define SANDBOX_PROCESS_WRITTEN_H

#include <stdint.h>
#include <sys/types.h>

struct written {
	uint64_t disk;  /* bytes of pages for disks */
	uint64_t calls; /* bytes given to write() */
};

/* Returns zeros for a process that is gone or may not be read, and where the kernel counts nothing.
 */
struct written written_by(pid_t pid);

#endif
