/* SPDX-License-Identifier: MIT */
/*
 * part.h - a file on its way into a session, out of the session's reach until it is whole.
 *
 * It lies beside the session's `data`, on the same file system, and takes its place by one rename:
 * code sees all of it or nothing. It goes with the session's folder when nobody places it.
 */
#ifndef WORKSPACE_STAGED_FILE_H
#define WORKSPACE_STAGED_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

struct staged_file;
struct workspace;

/* An empty file. */
struct staged_file *staged_file_new(const struct workspace *workspace, struct err *err) MUST_CHECK;
/* Removes the file unless it was placed. NULL is allowed. */
void staged_file_free(struct staged_file *part);
/* Open for writing; borrowed. */
int staged_file_fd(const struct staged_file *part);
/*
 * Could it be placed at `path` (relative to data)? ERR_INVALID for a path that is not valid,
 * ERR_DENIED where a folder or a link is in the way, ERR_BUSY when something has that name and
 * `overwrite` is false. Makes missing folders.
 */
int staged_file_check(const struct staged_file *part, const char *path, bool overwrite,
		      struct err *err) MUST_CHECK;
/* Gives it to the session as `path`; errors as staged_file_check. Once. */
int staged_file_place(struct staged_file *part, const char *path, bool overwrite,
		      struct err *err) MUST_CHECK;

#endif
