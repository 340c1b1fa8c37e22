/* SPDX-License-Identifier: MIT */
/*
 * staged_file.h - a file that is being written for a session, out of its reach until it is
 * complete.
 *
 * The file is stored beside the session's `data`, on the same file system, and is placed by one
 * rename: session code sees all of it or nothing. An unplaced file is removed with the session's
 * folder.
 */
#ifndef WORKSPACE_STAGED_FILE_H
#define WORKSPACE_STAGED_FILE_H

#include <stdbool.h>

#include "base/err.h"

struct staged_file;
struct workspace;

/* Makes an empty file. Returns NULL and sets *err. */
struct staged_file *staged_file_new(const struct workspace *workspace, struct err *err) MUST_CHECK;
/* Removes the file unless it was placed. `part` may be NULL. */
void staged_file_free(struct staged_file *part);
/* Returns the descriptor, open for writing. Borrowed. */
int staged_file_fd(const struct staged_file *part);
/*
 * Checks if the file can be placed at `path` (relative to data), and makes missing folders. Returns
 * -1 and sets *err: ERR_INVALID for an invalid path, ERR_DENIED if a folder or a link is in the
 * way, ERR_BUSY if the name exists and `overwrite` is false.
 */
int staged_file_check(const struct staged_file *part, const char *path, bool overwrite,
		      struct err *err) MUST_CHECK;
/* Places the file in the session as `path`, once. Errors are those of staged_file_check(). */
int staged_file_place(struct staged_file *part, const char *path, bool overwrite,
		      struct err *err) MUST_CHECK;

#endif
