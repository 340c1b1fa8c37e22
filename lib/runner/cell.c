/* SPDX-License-Identifier: MIT */
/*
 * cell.c - fills and frees cells. Images and long texts are counted against the session's holder as
 * they arrive. Images are checked by their own header, not by the driver's word, since code can
 * speak as its driver.
 */
#include "runner/cell.h"

#include <stdlib.h>

#include "base/mem.h"
#include "runner/holdings.h"
#include "text/mime.h"
#include "text/utf8.h"

struct cell *cell_new(uint64_t number, const char *language)
{
	struct cell *cell = xcalloc(1, sizeof(*cell));

	cell->number = number;
	cell->language = language;
	cell->file_max = UINT64_MAX;
	buf_init(&cell->text, BUF_UNBOUNDED);
	buf_init(&cell->result, BUF_UNBOUNDED);
	buf_init(&cell->reported, BUF_UNBOUNDED);
	list_init(&cell->images);
	list_init(&cell->sounds);
	return cell;
}

static void hold(struct cell *cell, size_t bytes)
{
	holdings_take(cell->holder, bytes);
	cell->held += bytes;
}

static void let_go(struct cell *cell, size_t bytes)
{
	holdings_give_back(cell->holder, bytes);
	cell->held -= bytes;
}

static void image_free(struct cell_image *image)
{
	free(image->file);
	free(image);
}

static void free_images(const struct list *images)
{
	list_for_each (struct cell_image, image, images, node)
		image_free(image);
}

void cell_free(struct cell *cell)
{
	if (cell == NULL)
		return;
	let_go(cell, cell->held);
	free_images(&cell->images);
	free_images(&cell->sounds);
	for (size_t i = 0; i < cell->change_count; i++)
		free(cell->changes[i].file.path);
	free(cell->changes);
	buf_release(&cell->text);
	buf_release(&cell->result);
	buf_release(&cell->reported);
	free(cell->code);
	free(cell->spool_path);
	free(cell->value);
	free(cell->table);
	free(cell->traceback);
	free(cell->error_name);
	free(cell->error_text);
	free(cell->missing_module);
	free(cell->names);
	free(cell->restored);
	free(cell->cwd);
	free(cell->problem);
	free(cell);
}

const char *cell_state_name(enum cell_state state)
{
	static const char *const names[] = {
		[CELL_DONE] = "done",
		[CELL_RAISED] = "raised",
		[CELL_INTERRUPTED] = "interrupted",
		[CELL_TIMED_OUT] = "timed_out",
		[CELL_DIED] = "died",
		[CELL_NOT_STARTED] = "not_started",
		[CELL_RUNNING] = "running",
		[CELL_WAITING] = "waiting_for_input",
	};
	_Static_assert(ARRAY_SIZE(names) == CELL_WAITING + 1, "every state has a name");

	return names[state];
}

static void keep_reported(struct cell *cell)
{
	if (cell->reported_cut || cell->text.len == 0)
		return;
	cell->reported_cut = cell->reported.len + cell->text.len > CELL_REPORTED_BYTES_MAX;
	if (cell->reported_cut)
		buf_puts(&cell->reported, "[... output left out ...]\n");
	else
		buf_put(&cell->reported, cell->text.data, cell->text.len);
}

bool cell_goes_on(const struct cell *cell)
{
	return cell->state == CELL_RUNNING || cell->state == CELL_WAITING ||
	       cell->grace_left_ms > 0;
}

static void observe_images(const struct list *images)
{
	list_for_each (struct cell_image, image, images, node)
		image->observed = true;
}

void cell_observe(struct cell *cell)
{
	observe_images(&cell->images);
	observe_images(&cell->sounds);
}

static void forget_images(const struct list *images)
{
	list_for_each (struct cell_image, image, images, node)
		image->shown = image->observed;
}

void cell_forget_shown(struct cell *cell)
{
	keep_reported(cell);
	buf_clear(&cell->text);
	cell->background = 0;
	forget_images(&cell->images);
	forget_images(&cell->sounds);
}

static void drop_images(struct cell *cell, const struct list *images)
{
	list_for_each (struct cell_image, image, images, node) {
		if (image->observed)
			continue;
		list_remove(&image->node);
		let_go(cell, image->len);
		image_free(image);
	}
}

void cell_drop_images(struct cell *cell)
{
	drop_images(cell, &cell->images);
	drop_images(cell, &cell->sounds);
}

static int by_path(const void *left, const void *right)
{
	const struct change *a = left;
	const struct change *b = right;

	/* figure-2 stands before figure-10. */
	return strverscmp(a->file.path, b->file.path);
}

void cell_set_changes(struct cell *cell, const struct change *changes, size_t count)
{
	cell->changes = xcalloc(count, sizeof(*changes));
	cell->change_count = count;
	for (size_t i = 0; i < count; i++) {
		cell->changes[i] = changes[i];
		cell->changes[i].file.path = xstrdup(changes[i].file.path);
	}
	if (count > 1)
		qsort(cell->changes, count, sizeof(*cell->changes), by_path);
}

static char *cut_text(const char *text, size_t len)
{
	return xasprintf(
		"%.*s\n[the rest is left out: sessions hold too much of the server's memory]",
		(int)utf8_border(text, len, CELL_WORDS_BYTES_MAX), text);
}

void cell_set_text(struct cell *cell, char **slot, char *text_own)
{
	size_t len = strlen(text_own);

	if (*slot != NULL)
		let_go(cell, strlen(*slot));
	free(*slot);
	*slot = text_own;
	if (len > CELL_WORDS_BYTES_MAX && !holdings_has_room(cell->holder, len)) {
		*slot = cut_text(text_own, len);
		free(text_own);
	}
	hold(cell, strlen(*slot));
}

/* Returns whether there is room for one more image of `len` bytes. */
static bool image_fits(struct cell *cell, size_t len)
{
	size_t count = 0;
	size_t bytes = 0;

	list_for_each (struct cell_image, image, &cell->images, node) {
		count++;
		bytes += image->len;
	}
	return count < CELL_IMAGES_MAX && len <= CELL_IMAGE_BYTES_MAX &&
	       len <= CELL_IMAGES_BYTES_MAX - bytes && holdings_has_room(cell->holder, len);
}

/* Appends a copy. The caller fills in the rest. */
static struct cell_image *append_image(struct cell *cell, struct list *images, const void *data,
				       size_t len)
{
	struct cell_image *image = xcalloc(1, sizeof(*image) + len);

	list_init(&image->node);
	image->len = len;
	memcpy(image->data, data, len);
	list_append(images, &image->node);
	hold(cell, len);
	return image;
}

void cell_add_image(struct cell *cell, const void *data, size_t len, char *file_own)
{
	struct cell_image *image;
	const char *mime;
	uint32_t width;
	uint32_t height;

	if (!image_fits(cell, len) || !mime_image(data, len, &mime, &width, &height) ||
	    width > CELL_IMAGE_SIDE_MAX || height > CELL_IMAGE_SIDE_MAX) {
		cell->images_dropped++;
		cell->images_dropped_saved += file_own != NULL ? 1 : 0;
		free(file_own);
		return;
	}
	image = append_image(cell, &cell->images, data, len);
	image->file = file_own;
	image->mime = mime;
	image->width = width;
	image->height = height;
}

void cell_add_sound(struct cell *cell, const void *data, size_t len)
{
	const char *mime = mime_sound(data, len);

	if (mime != NULL && len <= CELL_SOUND_BYTES_MAX &&
	    list_len(&cell->sounds) < CELL_SOUNDS_MAX && holdings_has_room(cell->holder, len))
		append_image(cell, &cell->sounds, data, len)->mime = mime;
}
