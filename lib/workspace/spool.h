/* SPDX-License-Identifier: MIT */
/*
 * spool.h - the whole output of one cell in a file that the session may read and not write.
 *
 * The file is made when the first byte comes. Past the maximum bytes are counted and dropped.
 */
#ifndef WORKSPACE_SPOOL_H
#define WORKSPACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workspace/workspace.h"

struct spool;

struct spool *spool_new(const struct workspace *workspace, uint64_t cell, const char *language,
			size_t max_bytes);
void spool_free(struct spool *spool);
/* Trouble with the disk stops the spool and is told by spool_error(). */
void spool_write(struct spool *spool, const void *data, size_t len);
/* Removes the file again: a short output needs none. */
void spool_discard(struct spool *spool);
/* Absolute path as the session sees it. */
const char *spool_path(const struct spool *spool);
/* Bytes that were written. */
size_t spool_size(const struct spool *spool);
uint64_t spool_dropped(const struct spool *spool);
/* NULL while all is well. */
const char *spool_error(const struct spool *spool);

#endif
