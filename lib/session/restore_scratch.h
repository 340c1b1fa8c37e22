/* SPDX-License-Identifier: MIT */
/*
 * restore_scratch.h - names what a replay takes away from /tmp and /dev/shm.
 *
 * Both lie in the memory of the session's sandbox and end with it. The cells that run again begin
 * in another one.
 */
#ifndef SESSION_RESTORE_SCRATCH_H
#define SESSION_RESTORE_SCRATCH_H

#include <stddef.h>

struct restore_list;

/* The first files of both folders. Zero-initialised. */
struct restore_scratch {
	char **paths; /* untrusted, not cleaned: "/tmp/a" */
	size_t count;
	size_t seen; /* entries of folders, which are limited: session code makes them */
};

void restore_scratch_release(struct restore_scratch *scratch);
/* Lists the files that the SANDBOX_SCRATCH folders `fds` have. NULL: there are no such folders. */
void restore_scratch_read(struct restore_scratch *scratch, const int *fds);
/* Adds the files that the folders `fds` do not have. NULL: they have none. */
void restore_scratch_compare(const struct restore_scratch *scratch, const int *fds,
			     struct restore_list *gone);

#endif
