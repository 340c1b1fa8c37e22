/* SPDX-License-Identifier: MIT */
/*
 * journal_input.c - what was typed to cells, and output that belongs to no cell, because none
 * followed it. Of each cell at most TYPED_MAX bytes are recorded, of such output LATE_MAX.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/notebook.h"
#include "json/make.h"
#include "redact/redact.h"

enum { TYPED_MAX = 1 << 20, LATE_MAX = 1 << 20 };

static const char hidden_input[] = "[hidden input]\n";

static void add_place(struct event_place **places, size_t *count, const struct event_place *place)
{
	*places = xrealloc(*places, (*count + 1) * sizeof(**places));
	(*places)[(*count)++] = *place;
}

void journal_index_typed(struct kept_cell *cell, const struct event_place *place)
{
	add_place(&cell->typed, &cell->typed_count, place);
	cell->typed_bytes += place->len;
}

void journal_index_late(struct journal *journal, const struct event_place *place)
{
	add_place(&journal->late, &journal->late_count, place);
	journal->late_bytes += place->len;
}

static int add_typed(struct journal *journal, struct kept_cell *cell, const struct buf *text,
		     bool hidden, struct err *err)
{
	cleanup_json json_t *fields = journal_new_cell_fields("typed", cell->script.number);
	struct event_place place;

	if (hidden)
		json_put_bool(fields, "hidden", true);
	if (journal_add_text(journal, fields, text->data, text->len, &place, err) < 0)
		return -1;
	if (place.len > 0)
		journal_index_typed(cell, &place);
	return 0;
}

int journal_end_typed(struct journal *journal, struct kept_cell *cell, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (cell->typing == NULL)
		return 0;
	redact_end(cell->typing, &text);
	redact_stream_free(cell->typing);
	cell->typing = NULL;
	return add_typed(journal, cell, &text, false, err);
}

/* A secret may be typed in pieces: what may be its beginning is held until more is typed. */
static void take_typed(const struct journal *journal, struct kept_cell *cell, const char *text,
		       size_t len, struct buf *out)
{
	if (journal->redact == NULL) {
		buf_put(out, text, len);
		return;
	}
	if (cell->typing == NULL)
		cell->typing = redact_stream_new(journal->redact);
	redact_feed(cell->typing, text, len, out);
}

int journal_wait(struct journal *journal, uint64_t number, const struct journal_wait *wait,
		 struct err *err)
{
	struct kept_cell *cell = journal_cell(journal, number);
	cleanup_json json_t *fields = NULL;
	struct event_place place;

	if (cell == NULL || cell->over || wait->number <= cell->last_wait ||
	    cell->typed_bytes + strlen(wait->prompt) > TYPED_MAX)
		return 0;
	fields = journal_new_cell_fields("waits", number);
	json_put_int(fields, "wait", (json_int_t)wait->number);
	if (wait->secret)
		json_put_bool(fields, "secret", true);
	if (wait->guessed)
		json_put_bool(fields, "guessed", true);
	json_put_str(fields, "prompt", wait->prompt);
	if (journal_add_fields(journal, fields, &place, err) < 0)
		return -1;
	cell->last_wait = wait->number;
	cell->typed_bytes += place.len;
	return 0;
}

int journal_type(struct journal *journal, uint64_t number, const char *text, size_t len,
		 bool hidden, struct err *err)
{
	struct kept_cell *cell = journal_cell(journal, number);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (cell == NULL || cell->over || cell->typed_bytes + len > TYPED_MAX)
		return 0;
	if (hidden && journal_end_typed(journal, cell, err) < 0)
		return -1;
	if (hidden)
		buf_puts(&out, hidden_input);
	else
		take_typed(journal, cell, text, len, &out);
	return add_typed(journal, cell, &out, hidden, err);
}

int journal_add_late(struct journal *journal, const char *language, const char *text, size_t len,
		     struct err *err)
{
	cleanup_json json_t *fields = journal_new_fields("late");
	struct event_place place;

	if (!journal_has_run(journal) || journal->late_bytes + len > LATE_MAX)
		return 0;
	json_put_str(fields, "language", language);
	if (journal_add_text(journal, fields, text, len, &place, err) < 0)
		return -1;
	if (place.len > 0)
		journal_index_late(journal, &place);
	return 0;
}

json_t *journal_read_input(const struct journal *journal, const struct kept_cell *cell)
{
	json_t *input = json_array();

	for (size_t i = 0; i < cell->typed_count; i++) {
		cleanup_event struct event typed = EVENT_INIT;
		struct err ignored;

		if (events_read(journal->events, &cell->typed[i], &typed, &ignored) == 0)
			json_append(input, json_make_text(typed.data, typed.data_len));
	}
	return input;
}

json_t *journal_read_typed(const struct journal *journal, size_t index, size_t max)
{
	cleanup_json json_t *inputs = journal_read_input(journal, &journal->cells[index]);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t bytes = 0;
	size_t n;
	const json_t *input;
	json_t *typed;

	if (json_array_size(inputs) == 0)
		return NULL;
	json_array_foreach (inputs, n, input) {
		size_t len = json_string_length(input);

		bytes += len;
		if (text.len + len <= max)
			buf_put(&text, json_string_value(input), len);
	}
	typed = json_object();
	json_put_int(typed, "count", (json_int_t)json_array_size(inputs));
	json_put_int(typed, "bytes", (json_int_t)bytes);
	json_put(typed, "input", json_make_text(buf_str(&text), text.len));
	return typed;
}

void journal_put_input(const struct journal *journal, const struct kept_cell *cell, json_t *record)
{
	if (cell->typed_count > 0)
		json_put(record, "input", journal_read_input(journal, cell));
}

void journal_draw_late(const struct journal *journal, struct buf *out)
{
	for (size_t i = 0; i < journal->late_count; i++) {
		cleanup_event struct event late = EVENT_INIT;
		struct err ignored;

		if (events_read(journal->events, &journal->late[i], &late, &ignored) == 0)
			notebook_late(out, i + 1,
				      json_string_value(json_object_get(late.fields, "language")),
				      late.data, late.data_len);
	}
}
