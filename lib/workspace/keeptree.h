/* SPDX-License-Identifier: MIT */
/*
 * keeptree.h - what the files of a session, and their folders, are called where they are kept.
 *
 * Results have the names that they have in output/, the others in a folder "files" beside them.
 * The names that files truly have go before those that ptycell gives: to its notebook, to "files",
 * and to what must not be called as it is (keepname_tame), or cannot, as another has the name. Who
 * has a name so steps aside when a file or a folder comes that truly has it: it gets the next free
 * one, and what lies there already is to be moved. No two folders of a session become one.
 */
#ifndef WORKSPACE_KEEPTREE_H
#define WORKSPACE_KEEPTREE_H

#include <stdbool.h>

#include "base/list.h"

struct keeptree;
struct map;

struct place {
	struct list node;
	struct place *parent; /* NULL: the folder for all */
	char *own;            /* the name that it should have */
	char *name;           /* the one that it has in `parent` */
	int number;           /* of the name; 1: the one that it should have */
	bool given;           /* its own is not its true name */
	bool altered;         /* as programs would run what the true one says */
	bool put;             /* something lies there */
	struct map *names;    /* of a folder; else NULL */
	const char *second;   /* what it is called instead of "name-2"; or NULL */
	void *data;           /* the caller's */
};

/* What lies there under an earlier name. */
struct keepmove {
	struct list node;
	struct place *place;
	int id;
	char *at; /* below the folder for all */
	char *to; /* a name in the same folder */
};

struct keeptree *keeptree_new(void);
/* NULL is allowed. */
void keeptree_free(struct keeptree *tree);
/* The place of a file, whose path is relative to data. It lasts as long as the tree. */
struct place *keeptree_file(struct keeptree *tree, const char *path);
struct place *keeptree_notebook(struct keeptree *tree);
/* From here on two names are the same that differ in case, or in how characters are composed. */
void keeptree_fold(struct keeptree *tree);
bool keeptree_folds(const struct keeptree *tree);
/* Nothing lies anywhere. */
void keeptree_forget(struct keeptree *tree);
/* Every struct keepmove, in their order. */
struct list *keeptree_moves(struct keeptree *tree);
/* It was moved, to this name, or cannot be, when that is NULL. */
void keeptree_moved(struct keepmove *move, const char *name);

/* Below the folder for all. The caller frees it. */
char *keeptree_path(const struct place *place);
/* One of its names is altered. */
bool keeptree_is_altered(const struct place *place);
/* It was put at `path`, which is another one where somebody else's file has its name. */
void keeptree_put(struct keeptree *tree, struct place *place, const char *path);

#endif
