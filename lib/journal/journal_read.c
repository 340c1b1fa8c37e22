/* SPDX-License-Identifier: MIT */
/*
 * journal_read.c - reads cells, figures and the script from the events. The index knows the lengths
 * of the script's pieces, so that a range reads only the code of its own cells.
 */
#include "journal/journal_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "journal/journal_internal.h"
#include "json/make.h"
#include "text/base64.h"
#include "text/screen.h"

enum { SPOOL_STEP = 64 << 10 };

/* ---- cells ---- */

static int read_figure(const struct journal *journal, const struct kept_cell *cell, size_t image,
		       struct event *ret, struct err *err)
{
	return events_read(journal->events, &cell->images[image], ret, err);
}

static json_t *describe_figure(const struct event *figure)
{
	json_t *object = json_object();

	json_put(object, "mimeType", json_incref(json_object_get(figure->fields, "mimeType")));
	json_put_int(object, "size_bytes", (json_int_t)figure->data_len);
	json_put(object, "path", json_incref(json_object_get(figure->fields, "path")));
	return object;
}

static int put_figures(const struct journal *journal, const struct kept_cell *cell, json_t *object,
		       struct err *err)
{
	cleanup_json json_t *figures = json_array();

	for (size_t i = 0; i < cell->image_count; i++) {
		cleanup_event struct event figure = EVENT_INIT;

		if (read_figure(journal, cell, i, &figure, err) < 0)
			return -1;
		json_append(figures, describe_figure(&figure));
	}
	if (cell->image_count > 0)
		json_put(object, "figures", json_incref(figures));
	return 0;
}

/*
 * Returns the record of a cell that has not ended, or whose end could not be written. A new
 * reference.
 */
static json_t *short_record(const struct kept_cell *cell)
{
	json_t *record = json_object();

	json_put_int(record, "cell", (json_int_t)cell->script.number);
	json_put_str(record, "state", cell->script.state);
	return record;
}

int journal_read_end(const struct journal *journal, const struct kept_cell *cell, struct event *ret,
		     struct err *err)
{
	if (cell->ended.len == 0) {
		ret->fields = json_object();
		return 0;
	}
	return events_read(journal->events, &cell->ended, ret, err);
}

int journal_read_shown(const struct journal *journal, const struct kept_cell *cell, struct buf *out,
		       struct err *err)
{
	if (cell->left != NULL) {
		const struct event left = { .fields = cell->left };

		journal_read_text(journal, &left, out);
		return 0;
	}
	for (size_t i = 0; i < cell->shown_count; i++) {
		cleanup_event struct event shown = EVENT_INIT;

		if (events_read(journal->events, &cell->shown[i], &shown, err) < 0)
			return -1;
		buf_put(out, shown.data, shown.data_len);
	}
	return 0;
}

/* ---- long outputs ---- */

bool journal_spool_open(const struct journal *journal, const struct event *end,
			struct journal_spool *ret)
{
	const json_t *output = json_object_get(end->fields, "output");
	const char *name = json_string_value(json_object_get(output, "file"));
	json_int_t shown = json_integer_value(json_object_get(output, "shown"));
	cleanup_free char *path = NULL;

	if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL || shown < 0 ||
	    shown > EVENTS_LEN_MAX)
		return false;
	path = xasprintf(JOURNAL_SPOOL "/%s", name);
	ret->fd = openat(journal->dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (ret->fd < 0)
		return false;
	ret->screen = screen_new();
	ret->left = (size_t)shown;
	return true;
}

bool journal_spool_step(struct journal_spool *spool)
{
	char data[SPOOL_STEP];
	ssize_t len = read(spool->fd, data, size_min(sizeof(data), spool->left));

	if (len <= 0)
		return false;
	screen_feed(spool->screen, data, (size_t)len);
	spool->left -= (size_t)len;
	return true;
}

void journal_spool_close(struct journal_spool *spool)
{
	if (spool->screen == NULL)
		return;
	screen_free(spool->screen);
	spool->screen = NULL;
	fd_close(&spool->fd);
}

static void put_cut(const struct event *end, struct buf *out)
{
	const json_t *output = json_object_get(end->fields, "output");
	json_int_t bytes = json_integer_value(json_object_get(output, "bytes"));
	json_int_t shown = json_integer_value(json_object_get(output, "shown"));

	if (bytes > shown)
		buf_putf(out,
			 "\n[%" JSON_INTEGER_FORMAT
			 " bytes of output; the first %" JSON_INTEGER_FORMAT
			 " are shown (PTYCELL_RECORD_OUTPUT)]\n",
			 bytes, shown);
}

void journal_put_text(const struct event *end, const struct journal_spool *spool, struct buf *out)
{
	const json_t *text = json_object_get(end->fields, "text");
	const json_t *output = json_object_get(end->fields, "output");
	size_t lead = (size_t)json_integer_value(json_object_get(output, "lead"));
	size_t len = json_string_length(text);

	if (json_string_value(text) == NULL)
		return;
	buf_put(out, json_string_value(text), spool->screen == NULL ? len : size_min(lead, len));
	if (spool->screen == NULL)
		return;
	screen_text(spool->screen, out);
	put_cut(end, out);
}

void journal_read_text(const struct journal *journal, const struct event *end, struct buf *out)
{
	struct journal_spool spool = { .fd = -1 };

	if (journal_spool_open(journal, end, &spool))
		while (journal_spool_step(&spool))
			;
	journal_put_text(end, &spool, out);
	journal_spool_close(&spool);
}

json_t *journal_record_of(const struct journal *journal, const struct kept_cell *cell,
			  const struct event *end)
{
	json_t *kept = json_object_get(end->fields, "record");
	json_t *record = json_is_object(kept) ? json_copy(kept) : short_record(cell);

	if (json_is_object(kept))
		json_put(record, "ended", json_incref(json_object_get(end->fields, "time")));
	journal_put_input(journal, cell, record);
	return record;
}

/* Adds the members that are the same in the event of the end. */
static void put_end(json_t *object, const struct kept_cell *cell, const struct buf *text,
		    const struct event *end)
{
	static const char *const keys[] = { "left_out",    "figures_left_out",
					    "note",        "outputs_left_out",
					    "value",       "traceback",
					    "whole_output" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_put(object, keys[i], json_incref(json_object_get(end->fields, keys[i])));
	if (cell->left != NULL)
		json_put(object, "whole_output",
			 json_incref(json_object_get(cell->left, "whole_output")));
	if (cell->ended.len == 0 || json_object_get(end->fields, "text") != NULL)
		json_put(object, "text", json_make_text(buf_str(text), text->len));
}

json_t *journal_read_cell(const struct journal *journal, size_t index, struct err *err)
{
	const struct kept_cell *cell = &journal->cells[index];
	cleanup_event struct event asked = EVENT_INIT;
	cleanup_event struct event end = EVENT_INIT;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *object;

	if (events_read(journal->events, &cell->asked, &asked, err) < 0 ||
	    journal_read_end(journal, cell, &end, err) < 0 ||
	    journal_read_shown(journal, cell, &text, err) < 0)
		return NULL;
	journal_read_text(journal, &end, &text);
	object = journal_record_of(journal, cell, &end);
	json_put_str(object, "language", cell->script.language);
	put_end(object, cell, &text, &end);
	if (put_figures(journal, cell, object, err) < 0) {
		json_decref(object);
		return NULL;
	}
	json_put_str(object, "title", json_string_value(json_object_get(asked.fields, "title")));
	json_put(object, "code", json_make_text(asked.data, asked.data_len));
	return object;
}

const char *journal_image_mime(const struct event *figure)
{
	const char *mime = json_string_value(json_object_get(figure->fields, "mimeType"));

	return mime != NULL && str_eq(mime, "image/jpeg") ? "image/jpeg" : "image/png";
}

int journal_read_image(const struct journal *journal, size_t index, size_t image, struct buf *out,
		       const char **ret_mime, struct err *err)
{
	const struct kept_cell *cell = &journal->cells[index];
	cleanup_event struct event figure = EVENT_INIT;
	size_t len;

	if (image >= cell->image_count)
		return err_set(err, ERR_NOT_FOUND, "the journal has no such figure");
	if (read_figure(journal, cell, image, &figure, err) < 0)
		return -1;
	len = base64_encoded_len(figure.data_len);
	if (len > out->max - out->len)
		return err_set(err, ERR_LIMIT, "the figure has %zu bytes", figure.data_len);
	base64_encode(out, figure.data, figure.data_len);
	*ret_mime = journal_image_mime(&figure);
	return 0;
}

/* ---- the script ---- */

bool journal_has_run(const struct journal *journal)
{
	for (size_t i = 0; i < journal->count; i++)
		if (journal->cells[i].ran)
			return true;
	return false;
}

bool journal_has_language(const struct journal *journal, const char *language)
{
	for (size_t i = 0; i < JOURNAL_LANGUAGES_MAX; i++)
		if (journal->tallies[i].language != NULL &&
		    str_eq(journal->tallies[i].language, language))
			return true;
	return false;
}

const char *journal_language(const struct journal *journal)
{
	const char *most = NULL;
	size_t cells = 0;

	for (size_t i = 0; i < JOURNAL_LANGUAGES_MAX; i++) {
		if (journal->tallies[i].cells <= cells)
			continue;
		most = journal->tallies[i].language;
		cells = journal->tallies[i].cells;
	}
	return most;
}

static uint64_t cells_size(const struct journal *journal, const char *language)
{
	uint64_t size = 0;

	for (size_t i = 0; i < journal->count; i++)
		if (journal->cells[i].ran)
			size += script_size(&journal->cells[i].script, language);
	return size;
}

uint64_t journal_script_size(const struct journal *journal, const char *language)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);

	script_tail(&tail, language, journal->left_out);
	return cells_size(journal, language) + tail.len;
}

static int write_script(const struct journal *journal, const struct kept_cell *cell,
			const char *language, struct buf *out, struct err *err)
{
	cleanup_event struct event asked = EVENT_INIT;

	if (events_read(journal->events, &cell->asked, &asked, err) < 0)
		return -1;
	script_write(out, &cell->script, language, asked.data);
	return 0;
}

/* Appends the part of the piece at `at` that is in the range. */
static int add_part(struct buf *out, const struct buf *piece, uint64_t at, uint64_t offset,
		    size_t len, struct err *err)
{
	uint64_t from = at > offset ? at : offset;
	uint64_t to = at + piece->len < offset + len ? at + piece->len : offset + len;

	return from < to ? buf_add(out, piece->data + (from - at), (size_t)(to - from), err) : 0;
}

int journal_read_script(const struct journal *journal, const char *language, uint64_t offset,
			size_t len, struct buf *out, struct err *err)
{
	cleanup_buf struct buf piece = BUF_INIT(BUF_UNBOUNDED);
	uint64_t at = 0;

	for (size_t i = 0; i < journal->count && at < offset + len; i++) {
		const struct kept_cell *cell = &journal->cells[i];
		size_t size = cell->ran ? script_size(&cell->script, language) : 0;

		buf_clear(&piece);
		if (at + size > offset && size > 0 &&
		    (write_script(journal, cell, language, &piece, err) < 0 ||
		     add_part(out, &piece, at, offset, len, err) < 0))
			return -1;
		at += size;
	}
	buf_clear(&piece);
	script_tail(&piece, language, journal->left_out);
	return add_part(out, &piece, at, offset, len, err);
}
