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
 * that can be read in two ways is not sound. Sets `ret_shared`, of 2 * GITINDEX_HASH_MAX + 1 bytes,
 * to the hash in the name of the index that it builds on (a split index), or to "".
 */
bool gitindex_is_sound(const char *data, size_t len, size_t hash_len, char *ret_shared);

#endif
