/* SPDX-License-Identifier: MIT */
/*
 * open_files.h - finds out whether a process still has a file open, and how.
 *
 * A list of descriptors alone would not do: some processes hide theirs, and a mapping has none. So
 * the kernel is asked for each file. Only what it does not show, how the file is open, comes from
 * the list.
 */
#ifndef FILES_OPEN_FILES_H
#define FILES_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The order counts: from OPEN_FILES_UNKNOWN on a file may be open for writing. With
 * OPEN_FILES_APPENDS and OPEN_FILES_WRITES it is.
 */
enum open_files_how {
	OPEN_FILES_NONE,    /* no process has it open */
	OPEN_FILES_READS,   /* none has it open for writing */
	OPEN_FILES_UNKNOWN, /* no lease is granted, and /proc shows none */
	OPEN_FILES_APPENDS, /* all only write at its end (O_APPEND) */
	OPEN_FILES_WRITES,  /* at least one may write anywhere, or others read */
};

struct open_file {
	uint64_t ino;
	bool appends;
};

/* The descriptors that processes have. Zeros are an empty list. */
struct open_files {
	struct open_file *files;
	size_t count;
};

/* Lists those of all processes that /proc shows. Must be called before lockdown_files(). */
void open_files_list(struct open_files *open);
void open_files_release(struct open_files *open);
/*
 * Reports how a file is open. `fd` is open for reading; -1 is a file of which nothing is known.
 * This process must not have the file open but by `fd`, and must ignore SIGIO.
 */
enum open_files_how open_files_how(const struct open_files *open, int fd);

#endif
