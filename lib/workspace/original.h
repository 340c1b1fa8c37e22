/* SPDX-License-Identifier: MIT */
/*
 * original.h - a second copy of each import, which session code cannot reach.
 *
 * Code may change an imported file as soon as it is placed. Exports of inputs, and cells that run
 * again, therefore get the bytes from here: the folder ORIGINAL_FOLDER beside the journal has a
 * copy of each import, which nothing changes. It lasts as long as the session's folder.
 */
#ifndef WORKSPACE_ORIGINAL_H
#define WORKSPACE_ORIGINAL_H

#include <stdint.h>

#include "base/err.h"

struct original;
struct workspace;

/* In the journal's folder. */
#define ORIGINAL_FOLDER "inputs"

/* Makes an empty file. Returns NULL and sets *err. */
struct original *original_new(const struct workspace *workspace, struct err *err) MUST_CHECK;
/* Removes the file unless it was placed. `original` may be NULL. */
void original_free(struct original *original);
/* Returns the descriptor, open for writing. Borrowed. */
int original_fd(const struct original *original);
/*
 * Names the file, once it is complete: the original of the import `path`. Returns -1 and sets *err.
 */
int original_place(struct original *original, const char *path, struct err *err) MUST_CHECK;
/* Returns the import's name, within the name of its original; any other name as it is. */
const char *original_import_name(const char *name);

/* A complete original. */
struct original_file {
	char *name;
	uint64_t size;
};

struct original_list {
	struct original_file *files; /* in the order in which they came */
	size_t count;
	uint64_t bytes;
};

/* Lists the originals in a journal's folder. */
void original_list(int journal_fd, struct original_list *ret);
void original_list_release(struct original_list *list);
#define cleanup_original_list __attribute__((cleanup(original_list_release)))

#endif
