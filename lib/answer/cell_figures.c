/* SPDX-License-Identifier: MIT */
/*
 * cell_figures.c - finds the figures that a driver saved, by the names that it gives them.
 *
 * The files belong to session code by then, and may be replaced by anything. A file is taken only
 * if it has the size that the scan saw and is an image by its own bytes.
 */
#include "answer/cell_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "session/session.h"
#include "text/mime.h"
#include "workspace/workspace.h"

/* A figure that a driver saved. */
struct saved {
	unsigned long number;
	const char *path;
	size_t size;
};

void cell_figures_release(struct cell_figures *figures)
{
	for (size_t i = figures->held; i < figures->count; i++)
		free((void *)(uintptr_t)figures->images[i].data);
	free(figures->images);
}

static void add_held(struct cell_figures *figures, const struct cell *cell)
{
	list_for_each (const struct cell_image, image, &cell->images, node) {
		figures->images[figures->count++] = (struct journal_image){ .mime = image->mime,
									    .file = image->file,
									    .data = image->data,
									    .len = image->len };
	}
	figures->held = figures->count;
}

static bool is_held(const struct cell_figures *figures, const char *name)
{
	for (size_t i = 0; i < figures->held; i++)
		if (figures->images[i].file != NULL && str_eq(figures->images[i].file, name))
			return true;
	return false;
}

/* Returns the number in "output/cell-3-figure-21.png", or 0 if it is no figure of this cell. */
static unsigned long figure_number(const struct cell *cell, const char *path)
{
	char start[64];
	int len = snprintf(start, sizeof(start), "output/cell-%" PRIu64 "-figure-", cell->number);
	const char *ending;
	unsigned long number;
	char *end;

	if (strncmp(path, start, (size_t)len) != 0)
		return 0;
	number = strtoul(path + len, &end, 10);
	ending = strrchr(path, '.');
	return ending == end && (str_eq(end, ".png") || str_eq(end, ".jpg")) ? number : 0;
}

static int by_number(const void *left, const void *right)
{
	const struct saved *a = left;
	const struct saved *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Returns the saved figures that the cell does not hold, in their order. The caller frees them. */
static struct saved *list_saved(const struct cell_figures *figures, const struct cell *cell,
				size_t *ret_count)
{
	struct saved *saved = xcalloc(cell->change_count, sizeof(*saved));
	size_t count = 0;

	for (size_t i = 0; i < cell->change_count; i++) {
		const struct change *change = &cell->changes[i];
		const char *path = change->file.path;
		unsigned long number = figure_number(cell, path);

		if (number == 0 || change->kind == CHANGE_DELETED || change->file.is_link ||
		    is_held(figures, path + strlen("output/")))
			continue;
		saved[count++] = (struct saved){ .number = number,
						 .path = path,
						 .size = (size_t)change->file.size };
	}
	qsort(saved, count, sizeof(*saved), by_number);
	*ret_count = count;
	return saved;
}

/* Returns false if the file is not an image of that size. */
static bool read_saved(const struct workspace *workspace, const struct saved *saved,
		       struct journal_image *ret)
{
	char *data = xcalloc(1, saved->size + 1);
	cleanup_fd int fd = -1;
	uint32_t width;
	uint32_t height;
	struct err err;
	off_t size = 0;

	fd = workspace_open_read(workspace, saved->path, &size, &err);
	if (fd >= 0 && (size_t)size == saved->size &&
	    read(fd, data, saved->size) == (ssize_t)saved->size &&
	    mime_image(data, saved->size, &ret->mime, &width, &height)) {
		ret->file = saved->path + strlen("output/");
		ret->data = data;
		ret->len = saved->size;
		return true;
	}
	free(data);
	return false;
}

static void add_saved(struct cell_figures *figures, const struct exec_result *result,
		      const struct saved *saved, size_t count)
{
	size_t room = CELL_FIGURES_READ_BYTES;

	for (size_t i = 0; i < count; i++) {
		if (figures->count == CELL_FIGURES_MAX || saved[i].size > room ||
		    !read_saved(session_workspace(result->session), &saved[i],
				&figures->images[figures->count])) {
			figures->left_out++;
			continue;
		}
		room -= saved[i].size;
		figures->count++;
	}
}

void cell_figures_collect(const struct exec_result *result, struct cell_figures *ret)
{
	const struct cell *cell = result->cell;
	size_t held = list_len(&cell->images);
	bool more = held == CELL_IMAGES_MAX || cell->images_dropped > 0;
	cleanup_free struct saved *saved = NULL;
	size_t count = 0;

	*ret = (struct cell_figures){ .count = 0 };
	if (held > 0 || more)
		ret->images = xcalloc(more ? CELL_FIGURES_MAX : held, sizeof(*ret->images));
	add_held(ret, cell);
	if (!more)
		return;
	saved = list_saved(ret, cell, &count);
	add_saved(ret, result, saved, count);
}
