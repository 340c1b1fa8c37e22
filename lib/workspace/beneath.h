/* SPDX-License-Identifier: MIT */
/*
 * beneath.h - opens and renames files below a folder that session code may change at the same time.
 *
 * Paths are relative to the folder's descriptor. They are resolved by openat2 with BENEATH,
 * NO_SYMLINKS and NO_MAGICLINKS. Without openat2 (old kernels, seccomp filters) they are resolved
 * component by component without following links. No symbolic link is followed anywhere in a path.
 */
#ifndef WORKSPACE_BENEATH_H
#define WORKSPACE_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { BENEATH_PATH_MAX = 4095, BENEATH_NAME_MAX = 255 };

/*
 * Returns true if `path` is relative and within the kernel's limits, and no part is empty, "." or
 * "..".
 */
bool beneath_path_valid(const char *path);
/*
 * Opens as openat() does, without following links. Adds O_CLOEXEC and O_NOFOLLOW to `flags`.
 * Returns -1 and sets errno: EINVAL for an invalid path, ELOOP (or ENOTDIR before the last part)
 * for a link.
 */
int beneath_open(int dir_fd, const char *path, int flags, mode_t mode);
/*
 * Opens as beneath_open() does, but fails with EXDEV for a file on another mount; without openat2,
 * on another file system.
 */
int beneath_open_same_mount(int dir_fd, const char *path, int flags);
/*
 * Opens a regular file for reading, without blocking on a FIFO or a device. If the name does not
 * exist, a name that looks the same is opened (text/normal.h). Returns -1 and sets *err:
 * ERR_INVALID for an invalid path, ERR_NOT_FOUND, ERR_DENIED for links and other kinds.
 */
int beneath_open_regular(int dir_fd, const char *path, off_t *ret_size, struct err *err) MUST_CHECK;
/*
 * Opens the folder `name` (one valid part) in `dir_fd` and makes it with mode 0700 if it is
 * missing. Returns -1 and sets *err: ERR_DENIED if a file or a link has that name.
 */
int beneath_enter(int dir_fd, const char *name, struct err *err) MUST_CHECK;
/*
 * Opens the folder that holds the last part of `path` and makes missing folders with mode 0700.
 * Sets `*ret_name` to the last part within `path`. Returns -1 and sets *err.
 */
int beneath_open_parent(int dir_fd, const char *path, const char **ret_name,
			struct err *err) MUST_CHECK;
/*
 * Gives the new file `fd` in `dir_fd` to the owner of the folder. A session that root confines runs
 * as a user of its own and must be able to use it. Does nothing if the folder is ours. Returns -1
 * and sets *err.
 */
int beneath_inherit_owner(int dir_fd, int fd, struct err *err) MUST_CHECK;
/* Renames as renameat() does, but fails with EEXIST if `to` exists. */
int beneath_move_new(int from_fd, const char *from, int to_fd, const char *to);
/* Renames as beneath_move_new() does, within one folder. */
int beneath_rename_new(int dir_fd, const char *from, const char *to);

#endif
