/* SPDX-License-Identifier: MIT */
/*
 * vfs.h - SQLite reads database files of a session: below its folder's descriptor, never through
 * a link, never writing.
 *
 * A file is held by a shared lock while it is open, as SQLite's own reader would, so that nobody
 * writes to it meanwhile. What SQLite would have to write for (a journal to roll back, a log to
 * read with shared memory) is refused with what to do.
 */
#ifndef SQL_VFS_H
#define SQL_VFS_H

#include "base/err.h"

#define VFS_NAME "beneath"

/* Names below `dir_fd` are what connections of VFS_NAME open from now on. */
int vfs_register(int dir_fd, struct err *err) MUST_CHECK;
/* ERR_NOT_FOUND, ERR_DENIED, ERR_INVALID for no database, ERR_BUSY with what to do. */
int vfs_check(int dir_fd, const char *path, struct err *err) MUST_CHECK;

#endif
