/* SPDX-License-Identifier: MIT */
/*
 * gitindex.h - reads an index of git for paths that git itself puts into none. git checks paths
 * when it adds them, and trusts those that it reads: "git checkout ." writes where they lead.
 */
#ifndef BASE_GITINDEX_H
#define BASE_GITINDEX_H

#include <stdbool.h>
#include <stddef.h>

enum {
	GITINDEX_HASH_SHORT = 20, /* bytes of a hash in a repository of SHA-1 */
	GITINDEX_HASH_MAX = 32,   /* of SHA-256 */
};

/*
 * Returns true if git reads only paths within the work tree, and none in .git, from this index. One
 * that can be read in two ways is not sound. The index that a split one builds on is a file of its
 * own, which is not read.
 */
bool gitindex_is_sound(const char *data, size_t len, size_t hash_len);
/*
 * Returns true if git can have written this list of conflicts (MERGE_RR), with only such paths in
 * it. Each entry is a hash, a number, and a path that ends with a NUL. `data` ends with one, too.
 */
bool gitindex_are_conflicts_sound(const char *data, size_t len);

#endif
