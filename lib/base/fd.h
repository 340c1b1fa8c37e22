/* SPDX-License-Identifier: MIT */
/* fd.h - owning file descriptors. -1 means none; every descriptor is close-on-exec from birth. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/util.h"

enum { FD_WRITER_MS = 5000 };

/* Closes once (never retried: on Linux the number is gone even on EINTR), leaves -1, keeps errno.
 */
void fd_close(int *fd);
#define cleanup_fd __attribute__((cleanup(fd_close)))

/* Hands *fd over to the caller and leaves -1. */
int fd_steal(int *fd);
/* Does this path lead to what the descriptor holds? */
bool fd_is_file(int fd, const char *path);
int fd_set_nonblock(int fd, struct err *err) MUST_CHECK;
/* A close-on-exec copy numbered 3 or higher. */
int fd_dup(int fd, struct err *err) MUST_CHECK;

/*
 * All of a small file, at most `max` bytes, NUL-terminated; the caller frees it. `dir_fd` may be
 * AT_FDCWD. Waits for the writer of a pipe, who has FD_WRITER_MS to begin: not for files that a
 * session can touch.
 */
char *fd_read_file(int dir_fd, const char *path, size_t max, size_t *ret_len,
		   struct err *err) MUST_CHECK;
/* The same, but never waits: ERR_INVALID for anything but a regular file. */
char *fd_read_regular(const char *path, size_t max, size_t *ret_len, struct err *err) MUST_CHECK;
/*
 * Closes every descriptor from `first` on, or marks each as close-on-exec. -1 with errno. Where a
 * filter forbids close_range(), /proc/self/fd says which there are. Makes no use of the heap.
 */
int fd_close_from(int first) MUST_CHECK;
int fd_mark_from(int first) MUST_CHECK;
/*
 * A new file without a name that can be read and written: a memfd that can be sealed, else, where
 * those are forbidden, a file of /dev/shm or /tmp, which cannot.
 */
int fd_unnamed(const char *name, struct err *err) MUST_CHECK;
/* Writes all of it, waiting where it must: for regular files only. */
int fd_write_all(int fd, const void *data, size_t len, struct err *err) MUST_CHECK;

#endif
