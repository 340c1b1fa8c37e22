/* SPDX-License-Identifier: MIT */
/*
 * beside.c - chooses the files of the working folder to export. The new files of one top folder are
 * counted as one tree, because an unpacked archive or a build is no result. The changes are sorted
 * by path, so a tree is one run of them, and the reason for a folder is computed once for all its
 * files.
 */
#include "workspace/beside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/quotation.h"
#include "workspace/keeptext.h"
#include "workspace/mark.h"

#define INPUT "input/"
#define OUTPUT "output/"

struct choice {
	int data_fd;
	char *folder; /* the last folder inspected, and the result */
	const char *why;
	size_t looked_at;
	const char *tree; /* a path in it */
	size_t tree_size;
	size_t top_size;
	size_t left;
	const char *first; /* of the files left out */
	const char *first_why;
};

static bool begins(const char *path, const char *start)
{
	return strncmp(path, start, strlen(start)) == 0;
}

bool beside_is_result(const struct change *change)
{
	return change->kind != CHANGE_DELETED && !change->file.is_link &&
	       begins(change->file.path, OUTPUT);
}

/* Returns true for a link in output/, which may lead to a file. */
static bool is_link_in_output(const struct change *change)
{
	return change->kind != CHANGE_DELETED && change->file.is_link &&
	       begins(change->file.path, OUTPUT);
}

static bool lies_beside(const struct change *change)
{
	return change->kind != CHANGE_DELETED && !change->file.is_link &&
	       !begins(change->file.path, OUTPUT) && !begins(change->file.path, INPUT);
}

/* Returns true for files that programs write for themselves: in hidden folders and in these. */
static bool is_aside(const char *path)
{
	static const char *const folders[] = { "__pycache__/", "node_modules/" };

	for (const char *part = path; part != NULL; part = strchr(part, '/')) {
		part += *part == '/';
		if (*part == '.' && strchr(part, '/') != NULL)
			return true;
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
			if (begins(part, folders[i]))
				return true;
	}
	return false;
}

static bool is_hidden(const char *path)
{
	return path_base(path)[0] == '.';
}

/* ---- folders ---- */

/* Returns why files in this folder, or in one above it, are no results, or NULL. */
static const char *why_not_in(int data_fd, const char *folder)
{
	cleanup_free char *path = xstrdup(folder);

	for (;;) {
		const char *why = mark_of(data_fd, path);
		char *slash = strrchr(path, '/');

		if (why != NULL || path[0] == '\0')
			return why;
		if (slash == NULL)
			slash = path;
		*slash = '\0';
	}
}

static const char *why_not(struct choice *choice, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - path);

	if (choice->folder != NULL && strlen(choice->folder) == len &&
	    strncmp(choice->folder, path, len) == 0)
		return choice->why;
	free(choice->folder);
	choice->folder = xmemdup(path, len);
	choice->why = why_not_in(choice->data_fd, choice->folder);
	return choice->why;
}

/* ---- choosing ---- */

static bool is_new_beside(const struct change *change)
{
	return change->kind == CHANGE_NEW && lies_beside(change);
}

/*
 * Returns how many new files the tree that begins with changes[0] has. A tree is one folder of the
 * working folder, whose files are adjacent, or the working folder itself. Hidden files and those
 * that programs write for themselves are not counted.
 */
static size_t tree_size(const struct change *changes, size_t count)
{
	const char *first = changes[0].file.path;
	size_t len = strcspn(first, "/");
	bool at_top = first[len] == '\0';
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		const char *path = changes[i].file.path;

		if (!at_top && strncmp(path, first, len + 1) != 0)
			break;
		size += is_new_beside(&changes[i]) && !is_aside(path) && !is_hidden(path) &&
			(!at_top || strchr(path, '/') == NULL);
	}
	return size;
}

static void leave_out(struct choice *choice, const char *path, const char *why)
{
	if (choice->left++ > 0)
		return;
	choice->first = path;
	choice->first_why = why;
}

static char *sentence(const struct choice *choice)
{
	cleanup_free char *name = choice->left > 0 ? quotation_of_path(choice->first) : NULL;
	cleanup_free char *more =
		choice->left > 1 ? xasprintf(" and %zu more", choice->left - 1) : xstrdup("");

	if (name == NULL)
		return NULL;
	return xasprintf("%s (%s)%s. Write to output/ what they should have.", name,
			 choice->first_why, more);
}

static bool is_kept(struct choice *choice, const char *path, size_t tree)
{
	const char *why;

	if (is_aside(path))
		return false;
	if (is_hidden(path)) {
		leave_out(choice, path, "hidden");
		return false;
	}
	if (tree > BESIDE_TREE_MAX || choice->looked_at >= BESIDE_FILES_MAX)
		why = "too many new files in one cell";
	else
		why = why_not(choice, path);
	choice->looked_at++;
	if (why != NULL)
		leave_out(choice, path, why);
	return why == NULL;
}

/* Returns the size of the tree of changes[i]; each tree is counted once. */
static size_t size_at(struct choice *choice, const struct change *changes, size_t count, size_t i)
{
	const char *path = changes[i].file.path;
	size_t len = strcspn(path, "/");

	if (path[len] == '\0') {
		if (choice->top_size == 0)
			choice->top_size = tree_size(changes + i, count - i);
		return choice->top_size;
	}
	if (choice->tree == NULL || strncmp(choice->tree, path, len + 1) != 0) {
		choice->tree = path;
		choice->tree_size = tree_size(changes + i, count - i);
	}
	return choice->tree_size;
}

/* Returns true where session code put a symbolic link in place of the folder of results. */
static bool replaces_output(const struct change *change)
{
	return change->kind != CHANGE_DELETED && change->file.is_link &&
	       str_eq(change->file.path, "output");
}

bool *beside_choose(const struct keeper *keeper, const struct change *changes, size_t count,
		    char **ret_left)
{
	struct choice choice = { .data_fd = keeper_data_fd(keeper) };
	bool *kept = xcalloc(count + 1, sizeof(*kept));
	bool replaced = false;

	for (size_t i = 0; i < count; i++) {
		const char *path = changes[i].file.path;

		kept[i] = beside_is_result(&changes[i]) || is_link_in_output(&changes[i]) ||
			  (lies_beside(&changes[i]) && keeper_knows(keeper, path));
		replaced |= replaces_output(&changes[i]);
		if (!kept[i] && is_new_beside(&changes[i]))
			kept[i] = is_kept(&choice, path, size_at(&choice, changes, count, i));
	}
	free(choice.folder);
	*ret_left = sentence(&choice);
	if (replaced)
		keeptext_add(ret_left, "what is written to output/, which is a symbolic link now, "
				       "if the link leads out of the working folder. Make output/ "
				       "a folder again.");
	return kept;
}
