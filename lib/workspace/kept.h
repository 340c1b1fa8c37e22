/* SPDX-License-Identifier: MIT */
/* kept.h - the table of a session's files that are exported, or are due. */
#ifndef WORKSPACE_KEPT_H
#define WORKSPACE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "workspace/keeptree.h"

/* A file of the session and its copy. The helper recognises our copy by inode, time and size. */
struct kept {
	struct list node;
	char *from; /* relative to data; of an input: its name among the originals (original.h) */
	struct place *place;
	int64_t ino;
	int64_t mtime_ns;
	int64_t size;
	uint64_t stays; /* of the notebook: how many bytes of the copy no later copy changes */
	bool linked;    /* it was reached by a link, which may lead to another file later */
	bool synced;    /* it was synced to the disk */
	bool spare;     /* an input: it is copied only if results have room enough without it */
	bool whole;     /* a cell's whole output: `from` is relative to the spool folder */
	bool reported;  /* why it could not be copied */
	bool known;     /* a copy of it exists */
	bool owed;    /* its copy is due: it failed for a reason that may pass, or has not begun */
	bool settled; /* during an export: it is copied, or failed for good */
	bool along; /* during an export: it was added because its database, or its log, is in it */
	bool is_notebook;
	bool is_report;
	/*
	 * The file itself, when a killed server's session was resumed, or a helper failed: a copy
	 * with this size and time is ours, of a helper that did not report it. A size of -1: not
	 * known.
	 */
	int64_t seen_size;
	int64_t seen_mtime_ns;
};

struct kept_table {
	struct list all; /* every struct kept */
	struct map *by_key;
	struct keeptree *tree;
};

void kept_table_init(struct kept_table *table);
void kept_table_release(struct kept_table *table);
/* Returns the file of this path and adds it if it is new. The table owns all files. */
struct kept *kept_find(struct kept_table *table, const char *path);
/* Returns the input with this name among the originals (original.h), and adds it if it is new. */
struct kept *kept_input(struct kept_table *table, const char *name);
/*
 * Returns a cell's whole output, which is copied from this file of the spool folder, and adds it as
 * `name` if it is new.
 */
struct kept *kept_output(struct kept_table *table, const char *file, const char *name);
/* Returns the notebook, which is copied from this file of the journal. */
struct kept *kept_notebook(struct kept_table *table, const char *file);
/* Returns the report, which the helper draws from the journal. */
struct kept *kept_report(struct kept_table *table);
bool kept_knows(const struct kept_table *table, const char *path);
/*
 * Adds files behind the `count` files of an export, each once: those that are due, and those
 * reached by links, which are checked each time. Then adds the logs of each database, and the
 * database of each log, if they have copies. `files` must have room for all files of the table.
 * Returns the new count.
 */
size_t kept_add_others(const struct kept_table *table, struct kept **files, size_t count);
/* Adds the file behind the *count files of an export. */
void kept_add(struct kept **files, size_t *count, struct kept *kept);
/* Returns how many files are due. Sets *ret_path to the first of them if there is one. */
size_t kept_owed(const struct kept_table *table, const char **ret_path);
/* Forgets all copies: each file but notebook and report is due again. */
void kept_forget(struct kept_table *table);

#endif
