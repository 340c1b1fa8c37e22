/* SPDX-License-Identifier: MIT */
/*
 * vfs.h - lets SQLite read database files of a session: below its folder's descriptor, never
 * through a link, never writing.
 *
 * An open file is held by a shared lock, as SQLite's own reader holds it, so that no process writes
 * to it. A file for which SQLite would have to write is refused with advice: one with a journal to
 * roll back, or with a log that needs shared memory.
 */
#ifndef SQL_VFS_H
#define SQL_VFS_H

#include "base/err.h"

#define VFS_NAME "beneath"

/* Makes connections of VFS_NAME open names below `dir_fd` from now on. Returns -1 and sets *err. */
int vfs_register(int dir_fd, struct err *err) MUST_CHECK;
/*
 * Checks a file. Returns -1 and sets *err: ERR_NOT_FOUND, ERR_DENIED, ERR_INVALID when it is not a
 * database, ERR_BUSY with advice.
 */
int vfs_check(int dir_fd, const char *path, struct err *err) MUST_CHECK;

#endif
