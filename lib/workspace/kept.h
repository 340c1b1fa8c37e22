/* SPDX-License-Identifier: MIT */
/* kept.h - the files of a session that were copied to where the person finds them, or are to be. */
#ifndef WORKSPACE_KEPT_H
#define WORKSPACE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "workspace/keeptree.h"

/* A file of the session and what was put for it; the helper tells our file from others by it. */
struct kept {
	struct list node;
	char *from; /* relative to data */
	struct place *place;
	int64_t ino;
	int64_t mtime_ns;
	int64_t size;
	bool linked; /* a link leads to it, and may lead to another tomorrow */
	bool synced; /* it is on the disk */
	bool known;  /* it was put there */
	bool owed;   /* its copy is due: it failed for a reason that may pass, or is yet to begin */
	bool settled; /* then: it is copied, or never will be */
};

struct kept_table {
	struct list all; /* every struct kept */
	struct map *by_key;
	struct keeptree *tree;
};

void kept_table_init(struct kept_table *table);
void kept_table_release(struct kept_table *table);
/* The file of this path, made when it is new. */
struct kept *kept_find(struct kept_table *table, const char *path);
/* The notebook, copied from this file of the journal. */
struct kept *kept_notebook(struct kept_table *table, const char *file);
bool kept_knows(const struct kept_table *table, const char *path);
/* How many are owed, and when there is one the path of the first. */
size_t kept_owed(const struct kept_table *table, const char **ret_path);
/* Nothing was put there any more: each but the notebook is owed once again. */
void kept_forget(struct kept_table *table);

#endif
