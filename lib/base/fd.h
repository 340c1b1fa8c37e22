/* SPDX-License-Identifier: MIT */
/* fd.h - owned file descriptors. -1 means none; every descriptor is close-on-exec from birth. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/util.h"

enum { FD_WRITER_MS = 5000 };

/*
 * Closes *fd once, leaves -1 and keeps errno. Never retries: on Linux the number is free even after
 * EINTR.
 */
void fd_close(int *fd);
#define cleanup_fd __attribute__((cleanup(fd_close)))

/* Hands *fd over to the caller and leaves -1. */
int fd_steal(int *fd);
/*
 * Lists a folder from its beginning and leaves `dir_fd` as it is. Returns NULL and sets errno. The
 * caller closes the list by closedir().
 */
DIR *fd_list(int dir_fd) MUST_CHECK;
/* The same for a descriptor that becomes the list's, or is closed. Returns NULL for -1. */
DIR *fd_list_own(int dir_fd_own) MUST_CHECK;
/*
 * Returns the next entry of a folder, or NULL: with errno 0 at the end of the folder, or with the
 * error for which the rest of it is not known.
 */
const struct dirent *fd_next_entry(DIR *folder) MUST_CHECK;
/*
 * Returns whether a folder may have entries that are not known, because opening or reading it
 * failed with `error`. Returns false for 0, and if the name is gone, no folder, or a link.
 */
bool fd_hides_entries(int error);
/* Returns whether an entry's name is "." or "..". */
bool fd_is_dot(const char *name);
/* Returns whether `path` leads to the file that `fd` holds. */
bool fd_is_file(int fd, const char *path);
/* Returns the path that the kernel has for an open file. The caller frees it. NULL: it has none. */
char *fd_path(int fd) MUST_CHECK;
int fd_set_nonblock(int fd, struct err *err) MUST_CHECK;
/* Returns a close-on-exec copy numbered 3 or higher. Returns -1 and sets *err. */
int fd_dup(int fd, struct err *err) MUST_CHECK;

/*
 * Reads a whole small file of at most `max` bytes. Returns it NUL-terminated; the caller frees it.
 * Returns NULL and sets *err. `dir_fd` may be AT_FDCWD. It waits up to FD_WRITER_MS for the writer
 * of a pipe, so it must not be used for files that a session can touch.
 */
char *fd_read_file(int dir_fd, const char *path, size_t max, size_t *ret_len,
		   struct err *err) MUST_CHECK;
/*
 * Reads a regular file and never waits. Returns as fd_read_file; ERR_INVALID for any other kind of
 * file.
 */
char *fd_read_regular(const char *path, size_t max, size_t *ret_len, struct err *err) MUST_CHECK;
/*
 * Closes every descriptor from `first` on, or marks each as close-on-exec. Returns -1 and sets
 * errno. Where a filter forbids close_range(), both read the list in /proc/self/fd. They do not use
 * the heap.
 */
int fd_close_from(int first) MUST_CHECK;
int fd_mark_from(int first) MUST_CHECK;
/*
 * Closes what was open already when this program began, but stdin, stdout and stderr. That is each
 * descriptor that is not close-on-exec, as all of this program's own are. Without /proc it stays
 * open.
 */
void fd_close_inherited(void);
/*
 * Returns a new file without a name for reading and writing: a memfd that can be sealed. Where
 * memfds are forbidden, it is a file of /dev/shm, /tmp or /var/tmp, which cannot be sealed. Returns
 * -1 and sets *err.
 */
int fd_unnamed(const char *name, struct err *err) MUST_CHECK;
/*
 * Writes all of it and waits where it must: for regular files and blocking pipes only. Returns -1
 * and sets *err.
 */
int fd_write_all(int fd, const void *data, size_t len, struct err *err) MUST_CHECK;
/*
 * Reads up to `len` bytes that begin at `at` in a regular file. Returns their number, which is
 * smaller only at the end of the file. Returns -1 and sets errno.
 */
ssize_t fd_read_at(int fd, void *data, size_t len, uint64_t at) MUST_CHECK;
/* Writes all of it at `at` in a regular file. Returns -1 and sets errno. */
int fd_write_at(int fd, const void *data, size_t len, uint64_t at) MUST_CHECK;
/*
 * Writes the file `name` in the folder anew, with mode 0600, as a whole: a reader finds either the
 * old or the new one. Uses the name ".NAME.new" meanwhile. Returns -1 and sets *err.
 */
int fd_replace_file(int dir_fd, const char *name, const char *text, struct err *err) MUST_CHECK;
/* Makes the empty file `name` in the folder, with mode 0600. One that is there stays as it is. */
void fd_touch(int dir_fd, const char *name);

#endif
