/* SPDX-License-Identifier: MIT */
/*
 * beneath.h - files below a folder that somebody hostile may be changing meanwhile.
 *
 * Paths are relative to the folder's descriptor and are resolved by openat2 with BENEATH,
 * NO_SYMLINKS and NO_MAGICLINKS; on kernels and under filters without openat2, component by
 * component without following. No symbolic link is followed anywhere in a path.
 */
#ifndef WORKSPACE_BENEATH_H
#define WORKSPACE_BENEATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { BENEATH_PATH_MAX = 4095, BENEATH_NAME_MAX = 255 };

/* Relative, not empty, no empty, "." or ".." part, nothing longer than the kernel takes. */
bool beneath_path_valid(const char *path);
/*
 * openat() without links. `flags` get O_CLOEXEC and O_NOFOLLOW. -1 with errno: EINVAL for a path
 * that is not valid, ELOOP (or ENOTDIR before the last part) for a link.
 */
int beneath_open(int dir_fd, const char *path, int flags, mode_t mode);
/* The same, refusing (EXDEV) what lies on another mount. */
int beneath_open_same_mount(int dir_fd, const char *path, int flags);
/*
 * A regular file for reading; a FIFO or a device does not block. A name that is not there stands
 * for one that looks the same (text/normal.h). ERR_INVALID for a path that is not valid,
 * ERR_NOT_FOUND, ERR_DENIED for links and other kinds.
 */
int beneath_open_regular(int dir_fd, const char *path, off_t *ret_size, struct err *err) MUST_CHECK;
/*
 * The folder `name` (one part, valid) in `dir_fd`, made with mode 0700 when there is none.
 * ERR_DENIED when a file or a link lies there.
 */
int beneath_enter(int dir_fd, const char *name, struct err *err) MUST_CHECK;
/*
 * The folder that holds the last part of `path`, missing ones made with mode 0700. `*ret_name`
 * points at the last part within `path`.
 */
int beneath_open_parent(int dir_fd, const char *path, const char **ret_name,
			struct err *err) MUST_CHECK;
/*
 * Gives what was just made in `dir_fd`, open as `fd`, to the folder's owner: a session that root
 * confines as a user of its own has to be able to use it. Nothing when that is us.
 */
int beneath_inherit_owner(int dir_fd, int fd, struct err *err) MUST_CHECK;
/* As renameat(), but an existing `to` is EEXIST. */
int beneath_move_new(int from_fd, const char *from, int to_fd, const char *to);
/* The same within one folder. */
int beneath_rename_new(int dir_fd, const char *from, const char *to);

#endif
