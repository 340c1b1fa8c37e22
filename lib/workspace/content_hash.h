/* SPDX-License-Identifier: MIT */
/* content.h - a hash of a file's content, for telling changes where its times can lie. */
#ifndef WORKSPACE_CONTENT_HASH_H
#define WORKSPACE_CONTENT_HASH_H

#include <stdint.h>

#include "base/util.h"

/* CONTENT_HASH_MAX bytes decide: rewriting more takes longer than the clocks' steps. */
enum { CONTENT_HASH_MAX = 256 << 10 };

/*
 * Of a regular file below `dir_fd`; 0 for one that is gone, forbidden or of another kind. Returns
 * 0, or the errno of what kept it from being read.
 */
int content_hash(int dir_fd, const char *path, uint64_t *ret_hash) MUST_CHECK;

#endif
