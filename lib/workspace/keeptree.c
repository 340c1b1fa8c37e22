/* SPDX-License-Identifier: MIT */
/*
 * keeptree.c - a tree of places whose names are unique within each folder, by a map per folder.
 * When a true name meets an assigned one, the assigned one takes the next free number and its copy
 * becomes a move. On file systems that ignore case, the map's keys are folded names.
 */
#include "workspace/keeptree.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "text/cases.h"
#include "text/normal.h"
#include "workspace/keepname.h"

struct keeptree {
	struct list places; /* a folder before its entries */
	struct list moves;
	struct map *by_path;   /* by path in the session; folders with a slash at the end */
	struct place *top;     /* the top folder */
	struct place *beside;  /* the folder "files"; NULL before its first file */
	struct place *input;   /* the folder "input"; NULL before its first file */
	struct place *outputs; /* the folder "outputs"; NULL before its first file */
	struct place *notebook;
	struct place *report;
	int moves_made;
	bool folds;
};

static struct place *place_new(struct keeptree *tree, struct place *parent, const char *own)
{
	struct place *place = xcalloc(1, sizeof(*place));

	place->parent = parent;
	place->own = xstrdup(own);
	place->name = xstrdup(own);
	place->number = 1;
	list_init(&place->node);
	list_append(&tree->places, &place->node);
	return place;
}

static void place_free(struct place *place)
{
	free(place->own);
	free(place->name);
	map_free(place->names);
	free(place);
}

static void move_free(struct keepmove *move)
{
	list_remove(&move->node);
	free(move->at);
	free(move->to);
	free(move);
}

struct keeptree *keeptree_new(void)
{
	struct keeptree *tree = xcalloc(1, sizeof(*tree));

	list_init(&tree->places);
	list_init(&tree->moves);
	tree->by_path = map_new();
	tree->top = place_new(tree, NULL, "");
	tree->top->names = map_new();
	return tree;
}

void keeptree_free(struct keeptree *tree)
{
	if (tree == NULL)
		return;
	list_for_each (struct place, place, &tree->places, node)
		place_free(place);
	while (!list_empty(&tree->moves))
		move_free(list_entry(tree->moves.next, struct keepmove, node));
	map_free(tree->by_path);
	free(tree);
}

char *keeptree_path(const struct place *place)
{
	cleanup_free char *folder = NULL;

	if (place->parent->parent == NULL)
		return xstrdup(place->name);
	folder = keeptree_path(place->parent);
	return xasprintf("%s/%s", folder, place->name);
}

enum keepname_reason keeptree_reason(const struct place *place)
{
	enum keepname_reason reason = KEEPNAME_SAME;

	for (; place != NULL; place = place->parent)
		if (place->reason > reason)
			reason = place->reason;
	return reason;
}

/* ---- names within a folder ---- */

/* Returns the key of a name in a folder's map. The caller frees it. */
static char *key_of(const struct keeptree *tree, const char *name)
{
	cleanup_free char *composed = NULL;
	cleanup_free char *lower = NULL;
	size_t len;

	if (!tree->folds)
		return xstrdup(name);
	composed = normal_compose(name);
	lower = cases_lower(composed, strlen(composed), &len);
	return lower != NULL ? xmemdup(lower, len) : mem_steal(&composed);
}

static struct place *holder_of(const struct keeptree *tree, const struct place *parent,
			       const char *name)
{
	cleanup_free char *key = key_of(tree, name);

	return map_get(parent->names, key, strlen(key));
}

static char *name_of(const struct place *place, int number)
{
	if (place->second == NULL || number == 1)
		return keepname_numbered(place->own, number);
	return keepname_numbered(place->second, number - 1);
}

static void take_name(const struct keeptree *tree, struct place *place, const char *name,
		      int number)
{
	cleanup_free char *key = key_of(tree, name);
	char *taken = xstrdup(name);

	free(place->name);
	place->name = taken;
	place->number = number;
	(void)map_set(place->parent->names, key, strlen(key), place);
}

static void step_aside(struct keeptree *tree, struct place *place);

/*
 * Assigns the first name from `number` on that is free, or that another place has only as an
 * assigned name.
 */
static void find_name(struct keeptree *tree, struct place *place, int number)
{
	for (;; number++) {
		cleanup_free char *name = name_of(place, number);
		struct place *holder = holder_of(tree, place->parent, name);
		bool is_true = number == 1 && !place->given;

		if (holder != NULL && !(is_true && (holder->given || holder->number > 1)))
			continue;
		take_name(tree, place, name, number);
		if (holder != NULL)
			step_aside(tree, holder);
		return;
	}
}

static void add_move(struct keeptree *tree, struct place *place, char *at_own)
{
	struct keepmove *move = xcalloc(1, sizeof(*move));

	list_init(&move->node);
	move->place = place;
	move->id = ++tree->moves_made;
	move->at = at_own;
	move->to = xstrdup(place->name);
	list_append(&tree->moves, &move->node);
}

static void step_aside(struct keeptree *tree, struct place *place)
{
	cleanup_free char *at = keeptree_path(place);

	find_name(tree, place, place->number + 1);
	if (place->put)
		add_move(tree, place, mem_steal(&at));
}

/* ---- places ---- */

/*
 * Returns the safe form of a name; a folder's name is treated like that of a file in it. The caller
 * frees it.
 */
static char *tame(const char *part, size_t len, bool is_folder, enum keepname_reason *ret_reason)
{
	cleanup_free char *path = xasprintf("%.*s%s", (int)len, part, is_folder ? "/x" : "");
	char *name = keepname_tame(path, ret_reason);
	char *slash = strchr(name, '/');

	if (slash != NULL)
		*slash = '\0';
	return name;
}

static struct place *find_part(struct keeptree *tree, struct place *parent, const char *path,
			       size_t at)
{
	size_t len = strcspn(path + at, "/");
	bool is_folder = path[at + len] == '/';
	size_t key_len = at + len + (is_folder ? 1 : 0);
	struct place *place = map_get(tree->by_path, path, key_len);
	cleanup_free char *own = NULL;
	enum keepname_reason reason;

	if (place != NULL)
		return place;
	own = tame(path + at, len, is_folder, &reason);
	place = place_new(tree, parent, own);
	place->reason = reason;
	place->given = strlen(own) != len || strncmp(own, path + at, len) != 0;
	place->names = is_folder ? map_new() : NULL;
	(void)map_set(tree->by_path, path, key_len, place);
	find_name(tree, place, 1);
	return place;
}

/* Returns the folder at *folder in the top folder, made at its first use with an assigned name. */
static struct place *given_folder(struct keeptree *tree, struct place **folder, const char *name)
{
	if (*folder != NULL)
		return *folder;
	*folder = place_new(tree, tree->top, name);
	(*folder)->given = true;
	(*folder)->names = map_new();
	find_name(tree, *folder, 1);
	return *folder;
}

struct place *keeptree_file(struct keeptree *tree, const char *path)
{
	size_t at = (size_t)(keepname_result(path) - path);
	struct place *place = at > 0 ? tree->top : given_folder(tree, &tree->beside, "files");

	while (place->names != NULL) {
		place = find_part(tree, place, path, at);
		at += strcspn(path + at, "/") + 1;
	}
	return place;
}

/* Returns a new place in a folder with an assigned name. */
static struct place *place_in(struct keeptree *tree, struct place *folder, const char *name)
{
	enum keepname_reason reason;
	cleanup_free char *own = tame(name, strlen(name), false, &reason);
	struct place *place = place_new(tree, folder, own);

	place->reason = reason;
	place->given = true;
	find_name(tree, place, 1);
	return place;
}

struct place *keeptree_input(struct keeptree *tree, const char *name)
{
	return place_in(tree, given_folder(tree, &tree->input, "input"), name);
}

struct place *keeptree_output(struct keeptree *tree, const char *name)
{
	return place_in(tree, given_folder(tree, &tree->outputs, "outputs"), name);
}

/* Returns the file *file in the top folder, which has an assigned name. */
static struct place *given_file(struct keeptree *tree, struct place **file, const char *name,
				const char *second)
{
	if (*file != NULL)
		return *file;
	*file = place_new(tree, tree->top, name);
	(*file)->given = true;
	(*file)->second = second;
	find_name(tree, *file, 1);
	return *file;
}

struct place *keeptree_notebook(struct keeptree *tree)
{
	return given_file(tree, &tree->notebook, "notebook.ipynb", "ptycell.ipynb");
}

struct place *keeptree_report(struct keeptree *tree)
{
	return given_file(tree, &tree->report, "report.html", "ptycell.html");
}

void keeptree_fold(struct keeptree *tree)
{
	tree->folds = true;
	list_for_each (struct place, place, &tree->places, node) {
		map_free(place->names);
		place->names = place->names == NULL ? NULL : map_new();
	}
	list_for_each (struct place, place, &tree->places, node)
		if (place != tree->top)
			find_name(tree, place, 1);
}

bool keeptree_folds(const struct keeptree *tree)
{
	return tree->folds;
}

void keeptree_forget(struct keeptree *tree)
{
	while (!list_empty(&tree->moves))
		move_free(list_entry(tree->moves.next, struct keepmove, node));
	list_for_each (struct place, place, &tree->places, node)
		place->put = false;
}

/* ---- copies and moves ---- */

struct list *keeptree_moves(struct keeptree *tree)
{
	return &tree->moves;
}

/* Sets a name that only the helper knew to be free. */
static void set_name(const struct keeptree *tree, struct place *place, const char *name)
{
	cleanup_free char *key = key_of(tree, place->name);

	if (map_get(place->parent->names, key, strlen(key)) == place)
		(void)map_take(place->parent->names, key, strlen(key));
	take_name(tree, place, name, place->number + 1);
}

void keeptree_moved(struct keepmove *move, const char *name)
{
	struct place *place = move->place;

	if (name == NULL) {
		place->put = false;
	} else if (!str_eq(name, move->to) && str_eq(place->name, move->to)) {
		free(place->name);
		place->name = xstrdup(name);
	}
	move_free(move);
}

/* Notes that the helper made the part of `path` at `at` for this place. */
static void put_part(struct keeptree *tree, struct place *place, const char *path, size_t at,
		     size_t len)
{
	cleanup_free char *name = xmemdup(path + at, len);
	const struct place *holder;

	place->put = true;
	if (str_eq(name, place->name))
		return;
	holder = holder_of(tree, place->parent, name);
	if (holder == NULL || holder == place)
		set_name(tree, place, name);
	else /* it gave its name up meanwhile */
		add_move(tree, place, xmemdup(path, at + len));
}

/* Notes the parts of `path` down to this place. Returns where its name ends in the path. */
static size_t put_below(struct keeptree *tree, struct place *place, const char *path)
{
	size_t at = 0;
	size_t len;

	if (place->parent->parent != NULL)
		at = put_below(tree, place->parent, path);
	at += path[at] == '/' ? 1 : 0;
	len = strcspn(path + at, "/");
	put_part(tree, place, path, at, len);
	return at + len;
}

void keeptree_put(struct keeptree *tree, struct place *place, const char *path)
{
	(void)put_below(tree, place, path);
}
