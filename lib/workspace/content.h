/* SPDX-License-Identifier: MIT */
/* content.h - a hash of a file's content, for telling changes where its times can lie. */
#ifndef WORKSPACE_CONTENT_H
#define WORKSPACE_CONTENT_H

#include <stdint.h>

/* CONTENT_HASH_MAX bytes decide: rewriting more takes longer than the clocks' steps. */
enum { CONTENT_HASH_MAX = 256 << 10 };

/* Of a regular file below `dir_fd`; 0 for one that cannot be read. */
uint64_t content_hash(int dir_fd, const char *path);

#endif
