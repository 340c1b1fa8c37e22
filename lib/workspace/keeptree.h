/* SPDX-License-Identifier: MIT */
/*
 * keeptree.h - assigns the names that a session's files and folders have where they are exported.
 *
 * Results have the names that they have in output/; other files go into a folder "files" beside
 * them. A true name of a file takes precedence over a name that ptycell assigns. Assigned names are
 * those of notebook and report, of "files", of "input" and "outputs" and what is in them, of files
 * whose name is changed (keepname_tame), and numbered names. If a file or folder comes whose true
 * name was assigned to another entry, that entry gets the next free number, and its copy must be
 * moved. Two folders of a session never become one.
 */
#ifndef WORKSPACE_KEEPTREE_H
#define WORKSPACE_KEEPTREE_H

#include <stdbool.h>

#include "base/list.h"
#include "workspace/keepname.h"

struct keeptree;
struct map;

struct place {
	struct list node;
	struct place *parent;        /* NULL: the top folder */
	char *own;                   /* the preferred name */
	char *name;                  /* the current name in `parent` */
	int number;                  /* of the current name; 1: the preferred name */
	bool given;                  /* the preferred name is assigned, not the true name */
	enum keepname_reason reason; /* why it is not the true name */
	bool put;                    /* a copy exists there */
	struct map *names;           /* the names in a folder; NULL for a file */
	const char *second;          /* the name to use instead of "name-2"; may be NULL */
	void *data;                  /* the caller's */
};

/* A copy that still has an earlier name and must be moved. */
struct keepmove {
	struct list node;
	struct place *place;
	int id;
	char *at; /* path below the top folder */
	char *to; /* a name in the same folder */
};

struct keeptree *keeptree_new(void);
/* Frees it. May be NULL. */
void keeptree_free(struct keeptree *tree);
/* Returns the place of a file, whose path is relative to data. The tree owns all places. */
struct place *keeptree_file(struct keeptree *tree, const char *path);
/*
 * Returns a new place for an input of this name, in a folder "input". An input that has the name of
 * an earlier one gets a numbered name.
 */
struct place *keeptree_input(struct keeptree *tree, const char *name);
/* Returns such a place for a cell's whole output, in a folder "outputs". */
struct place *keeptree_output(struct keeptree *tree, const char *name);
struct place *keeptree_notebook(struct keeptree *tree);
struct place *keeptree_report(struct keeptree *tree);
/* Makes names equal, from here on, that differ only in case or in Unicode composition. */
void keeptree_fold(struct keeptree *tree);
bool keeptree_folds(const struct keeptree *tree);
/* Forgets all copies: none exists any more. */
void keeptree_forget(struct keeptree *tree);
/* Returns the tree's list of struct keepmove, in the order in which they must be done. */
struct list *keeptree_moves(struct keeptree *tree);
/* Reports the result of a move: the new name, or NULL if the copy cannot be moved. */
void keeptree_moved(struct keepmove *move, const char *name);

/* Returns the path below the top folder. The caller frees it. */
char *keeptree_path(const struct place *place);
/* Returns why a name in the place's path is not the true name: the strongest reason. */
enum keepname_reason keeptree_reason(const struct place *place);
/*
 * Notes that a copy was made at `path`. It differs from the requested path where another file, not
 * of this session, has that name.
 */
void keeptree_put(struct keeptree *tree, struct place *place, const char *path);

#endif
