/* SPDX-License-Identifier: MIT */
/*
 * journal.c - adds cells: their events, and the index of these. A requested cell reserves room for
 * its end without outputs, so that a recorded cell always gets its end.
 */
#include "journal/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/fd.h"
#include "base/mem.h"
#include "journal/event_text.h"
#include "journal/journal_internal.h"
#include "journal/notebook.h"
#include "journal/redacted.h"
#include "journal/rerun.h"
#include "json/make.h"
#include "json/write.h"
#include "redact/redact.h"
#include "redact/redact_json.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum {
	CODE_SHARE = 8,      /* the reserved part for code: one in so many */
	SHOWN_MAX = 1 << 20, /* bytes of `shown` events of one cell */
	END_MAX = 1024,      /* maximum of a cell's `began` event and of its `ended` event without
				outputs */
	LEFT_OUT_MAX = 512,  /* no cell takes it: some lives can still record what they left out */
};

static json_t *about_session(const char *session_id, const struct redact *redact)
{
	cleanup_free char *shown = xstrdup(session_id);
	json_t *about = json_object();

	redact_string(redact, &shown);
	json_put_str(about, "session_id", shown);
	return about;
}

struct journal *journal_new(int dir_fd, const char *session_id, uint64_t max_bytes,
			    uint64_t output_max, const struct redact *redact)
{
	struct journal *journal = xcalloc(1, sizeof(*journal));

	journal->events = events_new(dir_fd);
	journal->dir_fd = dir_fd;
	journal->about = about_session(session_id, redact);
	journal->max = max_bytes;
	journal->output_max = output_max;
	journal->redact = redact;
	journal->notebook.fd = -1;
	journal->report.fd = -1;
	journal->spool.fd = -1;
	buf_init(&journal->notebook.piece, BUF_UNBOUNDED);
	buf_init(&journal->report.piece, BUF_UNBOUNDED);
	return journal;
}

void journal_free(struct journal *journal)
{
	if (journal == NULL)
		return;
	for (size_t i = 0; i < journal->count; i++) {
		free(journal->cells[i].images);
		free(journal->cells[i].shown);
		free(journal->cells[i].typed);
		redact_stream_free(journal->cells[i].typing);
		free(journal->cells[i].notes);
		json_decref(journal->cells[i].left);
	}
	free(journal->pending);
	events_free(journal->events);
	journal_spool_close(&journal->spool);
	buf_release(&journal->notebook.piece);
	buf_release(&journal->report.piece);
	fd_close(&journal->notebook.fd);
	fd_close(&journal->report.fd);
	for (size_t i = 0; i < journal->word_count; i++)
		free(journal->words[i]);
	free(journal->words);
	free(journal->copies);
	free(journal->late);
	free(journal->cells);
	free(journal->title);
	json_decref(journal->about);
	free(journal);
}

void journal_turn_off(struct journal *journal)
{
	journal->off = true;
}

bool journal_is_off(const struct journal *journal)
{
	return journal->off;
}

void journal_set_about(struct journal *journal, json_t *about_own)
{
	json_object_update(journal->about, about_own);
	json_decref(about_own);
}

void journal_set_max(struct journal *journal, uint64_t max_bytes)
{
	journal->max = max_bytes;
}

/* ---- events ---- */

json_t *journal_new_fields(const char *event)
{
	json_t *fields = json_object();
	char now[CLOCK_UTC_LEN];

	clock_utc(now);
	json_put_str(fields, "event", event);
	json_put_str(fields, "time", now);
	return fields;
}

json_t *journal_new_cell_fields(const char *event, uint64_t number)
{
	json_t *fields = journal_new_fields(event);

	json_put_int(fields, "cell", (json_int_t)number);
	return fields;
}

static bool has_room(const struct journal *journal, uint64_t bytes, uint64_t max)
{
	return events_size(journal->events) + journal->unfinished * END_MAX + bytes <= max;
}

/* Returns how much of the file outputs may fill: up to the part for code. */
static uint64_t outputs_max(const struct journal *journal)
{
	return journal->max - journal->max / CODE_SHARE;
}

static int add_event(struct journal *journal, const json_t *fields, const void *data, size_t len,
		     struct event_place *ret_place, struct err *err)
{
	cleanup_free char *text = json_write_text(fields);

	return events_add(journal->events, text, data, len, ret_place, err);
}

/* Adds the `session` event, which is the first in the file. */
static int add_session(struct journal *journal, struct err *err)
{
	json_t *fields;
	struct event_place place;

	if (events_any(journal->events))
		return 0;
	fields = journal_new_fields("session");
	json_object_update(fields, journal->about);
	json_decref(journal->about);
	journal->about = fields;
	return add_event(journal, fields, NULL, 0, &place, err);
}

/* ---- what happens between cells ---- */

/* Adds nothing if less than `behind` bytes would be left up to `max`. */
static int add_within(struct journal *journal, json_t *fields, uint64_t behind, uint64_t max,
		      struct event_place *ret_place, struct err *err)
{
	cleanup_free char *text = NULL;

	*ret_place = (struct event_place){ .len = 0 };
	if (journal->off)
		return 0;
	redact_json(fields, journal->redact);
	text = json_write_text(fields);
	if (!has_room(journal, events_cost(strlen(text), 0) + behind, max))
		return 0;
	return add_session(journal, err) < 0
		       ? -1
		       : events_add(journal->events, text, NULL, 0, ret_place, err);
}

int journal_add_fields(struct journal *journal, json_t *fields, struct event_place *ret_place,
		       struct err *err)
{
	return add_within(journal, fields, END_MAX, outputs_max(journal), ret_place, err);
}

int journal_note(struct journal *journal, const char *event, uint64_t number, json_t *fields_own,
		 struct err *err)
{
	cleanup_json json_t *fields =
		number > 0 ? journal_new_cell_fields(event, number) : journal_new_fields(event);
	struct event_place place;

	json_object_update(fields, fields_own);
	json_decref(fields_own);
	if (journal_add_fields(journal, fields, &place, err) < 0)
		return -1;
	if (place.len > 0)
		journal_index_note(journal, fields, &place);
	return 0;
}

int journal_add_event(struct journal *journal, const char *event, json_t *fields_own,
		      struct err *err)
{
	cleanup_json json_t *fields = journal_new_fields(event);
	struct event_place place;

	json_object_update(fields, fields_own);
	json_decref(fields_own);
	return journal_add_fields(journal, fields, &place, err);
}

int journal_add_end(struct journal *journal, const char *event, json_t *fields_own, struct err *err)
{
	cleanup_json json_t *fields = journal_new_fields(event);
	struct event_place place;

	json_object_update(fields, fields_own);
	json_decref(fields_own);
	if (journal->left_out == journal->left_out_added)
		return journal_add_fields(journal, fields, &place, err);
	json_put_int(fields, "cells_left_out", (json_int_t)journal->left_out);
	if (add_within(journal, fields, 0, journal->max, &place, err) < 0)
		return -1;
	if (place.len > 0)
		journal->left_out_added = journal->left_out;
	return 0;
}

bool journal_any(const struct journal *journal)
{
	return events_any(journal->events);
}

/* ---- the beginning of a cell ---- */

/* Returns whether the marks stand for the values as they are: then they can be filled in again. */
static const char *marks_of(const struct journal *journal, const struct journal_asked *asked,
			    const struct journal_asked *safe)
{
	cleanup_buf struct buf filled = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *missing =
		redact_fill(journal->redact, safe->code, safe->code_len, &filled);
	bool plain = missing == NULL && filled.len == asked->code_len &&
		     memcmp(buf_str(&filled), asked->code, filled.len) == 0;

	if (filled.data != NULL)
		explicit_bzero(filled.data, filled.len);
	return plain ? RERUN_MARKS_PLAIN : RERUN_MARKS_OTHER;
}

int journal_ask(struct journal *journal, const struct journal_asked *asked, struct err *err)
{
	cleanup_buf struct buf fields = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *redacted = NULL;
	const char *marks = NULL;
	struct journal_asked safe = *asked;
	struct event_place place;
	int (*add)(struct events *, const char *, const void *, size_t, struct event_place *,
		   struct err *);

	if (journal->off)
		return 0;
	redacted = redacted_bytes(journal->redact, &safe.code, &safe.code_len);
	if (redacted != NULL)
		marks = marks_of(journal, asked, &safe);
	event_text_begin(&fields, "asked", asked->number);
	event_text_word(&fields, "language", asked->language);
	if (asked->timeout_ms > 0)
		event_text_seconds(&fields, "deadline_s", asked->timeout_ms);
	event_text_string(&fields, "title", asked->title);
	if (marks != NULL)
		event_text_word(&fields, "marks", marks);
	buf_puts(&fields, "}");
	if (!has_room(journal, events_cost(fields.len, safe.code_len) + END_MAX + LEFT_OUT_MAX,
		      journal->max)) {
		journal->left_out++;
		return 0;
	}
	add = asked->begins ? events_hold : events_add;
	if (add_session(journal, err) < 0 ||
	    add(journal->events, buf_str(&fields), safe.code, safe.code_len, &place, err) < 0) {
		journal->left_out++;
		return -1;
	}
	journal_index_asked(journal, &safe, &place);
	return 0;
}

int journal_begin(struct journal *journal, uint64_t number, struct err *err)
{
	cleanup_buf struct buf fields = BUF_INIT(BUF_UNBOUNDED);
	struct kept_cell *cell = journal_cell(journal, number);
	struct event_place place;

	if (cell == NULL || cell->ran)
		return 0;
	journal_index_began(journal, cell);
	event_text_begin(&fields, "began", number);
	buf_puts(&fields, "}");
	return events_add_or_hold(journal->events, buf_str(&fields), NULL, 0, &place, err);
}

int journal_add_text(struct journal *journal, const json_t *fields, const char *text, size_t len,
		     struct event_place *ret_place, struct err *err)
{
	cleanup_free char *redacted = NULL;

	*ret_place = (struct event_place){ .len = 0 };
	if (len == 0 || !has_room(journal, events_cost(END_MAX, len), outputs_max(journal)))
		return 0;
	redacted = redacted_bytes(journal->redact, &text, &len);
	return add_event(journal, fields, text, len, ret_place, err);
}

int journal_show(struct journal *journal, uint64_t number, const char *text, size_t len,
		 struct err *err)
{
	cleanup_json json_t *fields = journal_new_cell_fields("shown", number);
	struct kept_cell *cell = journal_cell(journal, number);
	struct event_place place;

	if (cell == NULL || cell->over || cell->shown_bytes + events_cost(END_MAX, len) > SHOWN_MAX)
		return 0;
	if (journal_add_text(journal, fields, text, len, &place, err) < 0)
		return -1;
	if (place.len > 0)
		journal_index_shown(cell, &place, len);
	return 0;
}

/* ---- the end of a cell ---- */

/* Adds a text as the notebook shows it. */
static void put_shown(struct buf *out, const char *key, const struct journal_entry *entry,
		      const char *text, size_t max_chars)
{
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);

	if (text == NULL)
		return;
	notebook_text(&shown, entry, text, max_chars);
	event_text_value(out, key, json_make_text(buf_str(&shown), shown.len));
}

/* Adds the place of the whole of a long output. */
static void put_spool(struct buf *out, const struct journal_entry *entry, uint64_t output_max)
{
	const char *slash = entry->spool_path != NULL ? strrchr(entry->spool_path, '/') : NULL;
	json_t *output;

	if (slash == NULL || entry->spooled == 0)
		return;
	output = json_object();
	json_put_str(output, "file", slash + 1);
	json_put_int(output, "bytes", (json_int_t)entry->spooled);
	json_put_int(output, "shown",
		     (json_int_t)(entry->spooled < output_max ? entry->spooled : output_max));
	json_put_int(output, "lead", (json_int_t)entry->lead);
	event_text_value(out, "output", output);
}

static void put_outputs(struct buf *out, const struct journal_entry *entry, uint64_t output_max)
{
	event_text_value(out, "text",
			 json_make_text(entry->text != NULL ? entry->text : "", entry->text_len));
	put_spool(out, entry, output_max);
	put_shown(out, "value", entry, entry->value, NOTEBOOK_VALUE_CHARS_MAX);
	put_shown(out, "traceback", entry, entry->traceback, NOTEBOOK_TRACEBACK_CHARS_MAX);
	event_text_string(out, "error_name", entry->error_name);
	event_text_string(out, "error_text", entry->error_text);
	event_text_string(out, "note", entry->note);
	event_text_string(out, "left_out", entry->left_out);
	event_text_number(out, "figures", entry->image_count);
	if (entry->figures_left_out > 0)
		event_text_number(out, "figures_left_out", entry->figures_left_out);
	if (entry->table != NULL)
		event_text_value(out, "table", json_incref(entry->table));
	if (entry->record != NULL)
		event_text_value(out, "record", json_incref(entry->record));
}

/*
 * Writes the JSON text of the cell's end. Without outputs it has less than END_MAX bytes, with the
 * first fields.
 */
static void write_end(const struct journal *journal, const struct journal_entry *entry,
		      bool outputs, struct buf *out)
{
	event_text_begin(out, "ended", entry->number);
	event_text_word(out, "state", entry->state);
	event_text_bool(out, "ran", entry->ran);
	if (outputs)
		put_outputs(out, entry, journal->output_max);
	else
		event_text_bool(out, "outputs_left_out", true);
	event_text_string(out, "whole_output", entry->whole);
	buf_puts(out, "}");
}

static json_t *describe_figure(const struct journal_entry *entry, size_t index)
{
	const struct journal_image *image = &entry->images[index];
	json_t *fields = journal_new_cell_fields("figure", entry->number);

	json_put_int(fields, "figure", (json_int_t)index + 1);
	json_put_str(fields, "mimeType", image->mime);
	if (image->file != NULL) {
		cleanup_free char *path = xasprintf("output/%s", image->file);
		cleanup_free char *shown = sanitize_path_string(path);

		json_put_str(fields, "path", shown);
	}
	return fields;
}

static int add_figures(struct journal *journal, const struct journal_entry *entry,
		       struct event_place *places, struct err *err)
{
	for (size_t i = 0; i < entry->image_count; i++) {
		cleanup_json json_t *fields = describe_figure(entry, i);

		if (add_event(journal, fields, entry->images[i].data, entry->images[i].len,
			      &places[i], err) < 0)
			return -1;
	}
	return 0;
}

static uint64_t outputs_cost(const struct journal_entry *entry, const struct buf *end)
{
	uint64_t bytes = events_cost(end->len, 0);

	for (size_t i = 0; i < entry->image_count; i++)
		bytes += events_cost(END_MAX, entry->images[i].len);
	return bytes;
}

static int add_whole(struct journal *journal, struct kept_cell *cell,
		     const struct journal_entry *entry, const char *text, struct err *err)
{
	struct event_place *images = xcalloc(entry->image_count, sizeof(*images));
	struct event_place place;

	if (add_figures(journal, entry, images, err) < 0 ||
	    events_add(journal->events, text, NULL, 0, &place, err) < 0) {
		free(images);
		return -1;
	}
	journal_index_end_at(cell, &place);
	cell->images = images;
	cell->image_count = entry->image_count;
	return 0;
}

static int add_bare(struct journal *journal, struct kept_cell *cell,
		    const struct journal_entry *entry, struct err *err)
{
	cleanup_buf struct buf end = BUF_INIT(BUF_UNBOUNDED);
	struct event_place place;
	int status;

	journal->bare++;
	write_end(journal, entry, false, &end);
	status = events_add_or_hold(journal->events, buf_str(&end), NULL, 0, &place, err);
	if (place.len > 0)
		journal_index_end_at(cell, &place);
	return status;
}

/* Returns whether there is room for the cell's end, and writes its text. */
static bool fits(const struct journal *journal, const struct journal_entry *entry, struct buf *end)
{
	buf_clear(end);
	write_end(journal, entry, true, end);
	return has_room(journal, outputs_cost(entry, end), outputs_max(journal));
}

static int add_end(struct journal *journal, struct kept_cell *cell,
		   const struct journal_entry *entry, enum journal_taken *ret_taken,
		   struct err *err)
{
	cleanup_buf struct buf end = BUF_INIT(BUF_UNBOUNDED);
	struct journal_entry plain = *entry;
	struct err ignored;

	plain.table = NULL; /* its rows are in the text or the value as well */
	*ret_taken = JOURNAL_WITHOUT_OUTPUTS;
	if (!fits(journal, entry, &end) && !fits(journal, &plain, &end))
		return add_bare(journal, cell, entry, err);
	if (add_whole(journal, cell, entry, buf_str(&end), err) == 0) {
		*ret_taken = JOURNAL_WHOLE;
		return 0;
	}
	/* A full disk may have room for the short form. */
	(void)!add_bare(journal, cell, entry, &ignored);
	return -1;
}

int journal_end(struct journal *journal, const struct journal_entry *entry,
		enum journal_taken *ret_taken, struct err *err)
{
	struct kept_cell *cell = journal_cell(journal, entry->number);
	cleanup_redacted struct redacted_entry redacted;

	*ret_taken = JOURNAL_NOT;
	redacted_entry_init(&redacted, entry, journal->redact);
	if (cell == NULL || cell->over)
		return 0;
	(void)!journal_end_typed(journal, cell, err); /* the end is of more use */
	if (entry->ran)
		journal_index_began(journal, cell);
	journal_index_ended(journal, cell, entry->state, entry->error_name, entry->text);
	cell->spooled = entry->spool_path != NULL;
	cell->whole = entry->whole != NULL;
	journal_index_record(cell, entry->record);
	return add_end(journal, cell, &redacted.entry, ret_taken, err);
}

static bool is_longer(const char *text, size_t max_chars)
{
	return text != NULL && utf8_count(text, strlen(text)) > max_chars;
}

bool journal_cuts(const struct journal *journal, const struct journal_entry *entry)
{
	return entry->spool_path != NULL &&
	       (entry->spooled > journal->output_max ||
		is_longer(entry->value, NOTEBOOK_VALUE_CHARS_MAX) ||
		is_longer(entry->traceback, NOTEBOOK_TRACEBACK_CHARS_MAX));
}

int journal_audited(struct journal *journal, uint64_t number, struct err *err)
{
	cleanup_buf struct buf fields = BUF_INIT(BUF_UNBOUNDED);
	struct event_place place;

	if (journal_cell(journal, number) == NULL || !has_room(journal, END_MAX, journal->max))
		return 0;
	event_text_begin(&fields, "audited", number);
	buf_puts(&fields, "}");
	return events_add(journal->events, buf_str(&fields), NULL, 0, &place, err);
}

/* ---- copies of the notebook ---- */

struct journal_copy journal_drawn(const struct journal *journal, const struct buf *tail)
{
	return (struct journal_copy){ .size = journal->notebook.size + tail->len,
				      .crc = crc_32c(journal->notebook.crc, tail->data, tail->len),
				      .stable = journal->notebook.size };
}

int journal_add_copy(struct journal *journal, const struct buf *tail, struct err *err)
{
	const struct journal_copy copy = journal_drawn(journal, tail);
	cleanup_json json_t *fields = journal_new_fields("copy");
	struct event_place place;

	if (!has_room(journal, END_MAX, journal->max))
		return 0;
	json_put_int(fields, "size", (json_int_t)copy.size);
	json_put_int(fields, "crc", (json_int_t)copy.crc);
	json_put_int(fields, "stable", (json_int_t)copy.stable);
	if (journal->left_out > 0)
		json_put_int(fields, "cells_left_out", (json_int_t)journal->left_out);
	return add_event(journal, fields, NULL, 0, &place, err);
}

uint64_t journal_copy_stayed(const struct journal *journal)
{
	return journal->copy_count > 1 ? journal->copies[journal->copy_count - 2].stable : 0;
}

bool journal_has_copy(const struct journal *journal, const struct journal_copy *copy)
{
	for (size_t i = 0; i < journal->copy_count; i++)
		if (journal->copies[i].size == copy->size && journal->copies[i].crc == copy->crc)
			return true;
	return false;
}

bool journal_copy_at(const struct journal *journal, size_t index, struct journal_copy *ret)
{
	if (index >= journal->copy_count)
		return false;
	*ret = journal->copies[journal->copy_count - 1 - index];
	return true;
}
