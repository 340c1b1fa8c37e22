/* SPDX-License-Identifier: MIT */
/*
 * tree.h - folders of packages: made under a hidden name, then put in place whole.
 *
 * A manifest has a line a file, "SIZE MTIME_NS MODE PATH", the mode in octal. No path has a control
 * character, a link in it, or leads out of the folder.
 */
#ifndef FILES_TREE_H
#define FILES_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* What is copied is read by everybody and written by nobody. */
enum { TREE_FOLDER_MODE = 0755, TREE_FILE_MODE = 0444, TREE_PROGRAM_MODE = 0555 };
enum { TREE_DEPTH_MAX = 60 };

struct tree_limits {
	uint64_t bytes;
	uint64_t files;
};

/*
 * Makes a folder with a hidden name: its descriptor, and the name, which the caller frees. While
 * the descriptor is open the folder is locked (flock): one that is not has no owner any more.
 */
int tree_make(int dir_fd, char **ret_name, struct err *err) MUST_CHECK;
/*
 * Copies the regular files below `from` to `to`, which is empty; links are left out. Appends their
 * lines to `manifest`, unless that is NULL. ERR_LIMIT past `limits`.
 */
int tree_copy(int from, int to, const struct tree_limits *limits, struct buf *manifest,
	      struct err *err) MUST_CHECK;
/* Is this the name of tree_make, or of tree_hide? */
bool tree_is_hidden(const char *name);
/* Gives `name` a hidden name, which nobody looks for: freed by the caller, NULL when it cannot. */
char *tree_hide(int dir_fd, const char *name);
/* Does the file still look as its line of a manifest says? */
bool tree_matches(const struct stat *st, const char *size, const char *mtime, const char *mode);
/* Removes `name` and all below it, as far as it can. */
void tree_remove(int dir_fd, const char *name);
/* `name` becomes `to`; a folder that has this name is removed. At no moment is there none. */
int tree_replace(int dir_fd, const char *name, const char *to, struct err *err) MUST_CHECK;

#endif
