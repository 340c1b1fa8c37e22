/* SPDX-License-Identifier: MIT */
/* content_hash.h - hashes a file's content, to detect changes where its times are not reliable. */
#ifndef WORKSPACE_CONTENT_HASH_H
#define WORKSPACE_CONTENT_HASH_H

#include <stdint.h>

#include "base/util.h"

/*
 * Only the first CONTENT_HASH_MAX bytes count: to rewrite more takes longer than a step of the
 * clock.
 */
enum { CONTENT_HASH_MAX = 256 << 10 };

/*
 * Sets *ret_hash to the hash of a regular file below `dir_fd`, or to 0 if it is gone, forbidden or
 * of another kind. Returns 0, or the errno with which reading failed.
 */
int content_hash(int dir_fd, const char *path, uint64_t *ret_hash) MUST_CHECK;

#endif
