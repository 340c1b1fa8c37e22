/* SPDX-License-Identifier: MIT */
/*
 * spool.h - stores the whole output of one cell in a file that the session can only read.
 *
 * The file is made when the first byte comes. Bytes beyond the maximum are counted and dropped.
 */
#ifndef WORKSPACE_SPOOL_H
#define WORKSPACE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "workspace/workspace.h"

struct spool;

/* Returns the file's name in the spool folder. The caller frees it. */
char *spool_name(uint64_t cell, const char *language);
/* Borrows the workspace and the language's name until spool_free. */
struct spool *spool_new(const struct workspace *workspace, uint64_t cell, const char *language,
			size_t max_bytes);
void spool_free(struct spool *spool);
/* Appends to the file. A failure of the disk stops the spool and is reported by spool_error(). */
void spool_write(struct spool *spool, const void *data, size_t len);
/* Removes the file, as a short output needs none. Bytes that come later are dropped. */
void spool_discard(struct spool *spool);
/*
 * Removes the files of an ended session's cells from its spool folder, because outputs are part of
 * a record: those of cells after `last`, or of all if its journal folder has no events.
 */
void spool_remove_unrecorded(int journal_fd, int spool_fd, uint64_t last);
/* Returns the absolute path as the session sees it, or NULL before spool_write. */
const char *spool_path(const struct spool *spool);
/* Returns how many bytes were written. */
size_t spool_size(const struct spool *spool);
uint64_t spool_dropped(const struct spool *spool);
/* Returns the error that stopped the spool, or NULL. */
const char *spool_error(const struct spool *spool);

#endif
