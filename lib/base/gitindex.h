/* SPDX-License-Identifier: MIT */
/*
 * gitindex.h - finds paths in an index of git that git itself never puts there. git checks a path
 * when it adds it to an index, but not when it reads the index: "git checkout ." writes to it.
 */
#ifndef BASE_GITINDEX_H
#define BASE_GITINDEX_H

#include <stdbool.h>
#include <stddef.h>

enum {
	GITINDEX_HASH_SHORT = 20, /* bytes of a hash in a repository of SHA-1 */
	GITINDEX_HASH_MAX = 32,   /* bytes of a hash in a repository of SHA-256 */
};

/*
 * Returns true if git reads only paths within the work tree, and none in .git, from this index.
 * Returns false if the index can be read in two ways. A split index builds on another file, which
 * this function does not read.
 */
bool gitindex_is_sound(const char *data, size_t len, size_t hash_len);
/*
 * Returns true if git could have written this list of conflicts (MERGE_RR), and all its paths are
 * within the work tree and none is in .git. Each entry is a hash, a number, and a path that ends
 * with a NUL. `data` must have a NUL behind its `len` bytes.
 */
bool gitindex_are_conflicts_sound(const char *data, size_t len);

#endif
