/* SPDX-License-Identifier: MIT */
/*
 * part.h - a file on its way into a session, out of the session's reach until it is whole.
 *
 * It lies beside the session's `data`, on the same file system, and takes its place by one rename:
 * code sees all of it or nothing. It goes with the session's folder when nobody places it.
 */
#ifndef WORKSPACE_PART_H
#define WORKSPACE_PART_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

struct part;
struct workspace;

/* An empty file. */
struct part *part_new(const struct workspace *workspace, struct err *err) MUST_CHECK;
/* Removes the file unless it was placed. NULL is allowed. */
void part_free(struct part *part);
/* Open for writing; borrowed. */
int part_fd(const struct part *part);
/*
 * Could it be placed at `path` (relative to data)? ERR_INVALID for a path that is not valid,
 * ERR_DENIED where a folder or a link is in the way, ERR_BUSY when something has that name and
 * `overwrite` is false. Makes missing folders.
 */
int part_check(const struct part *part, const char *path, bool overwrite,
	       struct err *err) MUST_CHECK;
/* Gives it to the session as `path`; errors as part_check. Once. */
int part_place(struct part *part, const char *path, bool overwrite, struct err *err) MUST_CHECK;

#endif
