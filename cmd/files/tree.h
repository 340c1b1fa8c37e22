/* SPDX-License-Identifier: MIT */
/*
 * tree.h - makes folders of packages under a hidden name, then renames them into place.
 *
 * A manifest has a line for each file, "SIZE MTIME_NS MODE PATH", the mode in octal. No path has a
 * control character, contains a link, or leads out of the folder. The last line is
 * TREE_MANIFEST_END: without it a part of the manifest is lost.
 */
#ifndef FILES_TREE_H
#define FILES_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* Copies may be read by all users and written by none. */
enum { TREE_FOLDER_MODE = 0755, TREE_FILE_MODE = 0444, TREE_PROGRAM_MODE = 0555 };
enum { TREE_DEPTH_MAX = 60 };

#define TREE_MANIFEST_END "end\n"

struct tree_limits {
	uint64_t bytes;
	uint64_t files;
};

/*
 * Makes a folder with a hidden name. Returns its descriptor; the caller frees *ret_name. The folder
 * is locked (flock) while the descriptor is open: a folder without a lock has no owner any more.
 * Returns -1 and sets *err.
 */
int tree_make(int dir_fd, char **ret_name, struct err *err) MUST_CHECK;
/*
 * Copies the regular files below `from` to the empty folder `to`, without links. Appends their
 * lines to `manifest`, which may be NULL. Returns -1 and sets *err: ERR_LIMIT beyond `limits`.
 */
int tree_copy(int from, int to, const struct tree_limits *limits, struct buf *manifest,
	      struct err *err) MUST_CHECK;
/* Returns true when `name` is one that tree_make or tree_hide gives. */
bool tree_is_hidden(const char *name);
/*
 * Renames `name` to a hidden name, which no session looks up. Returns it; the caller frees it.
 * Returns NULL on failure.
 */
char *tree_hide(int dir_fd, const char *name);
/* Returns true when the file still is as its line of a manifest describes. */
bool tree_matches(const struct stat *st, const char *size, const char *mtime, const char *mode);
/* Removes `name` and everything below it, as far as possible. */
void tree_remove(int dir_fd, const char *name);
/*
 * Renames `name` to `to` and removes the folder that had this name. The change is atomic: `to`
 * exists at every moment. Returns -1 and sets *err.
 */
int tree_replace(int dir_fd, const char *name, const char *to, struct err *err) MUST_CHECK;

#endif
