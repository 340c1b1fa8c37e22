/* SPDX-License-Identifier: MIT */
/*
 * journal_report.c - reads what the pieces of a report need. Part 0 is the head, part N the cell of
 * index N - 1, and the part behind the cells is the end. The head reads the events between cells,
 * for the versions of languages, and the end of the last cells.
 */
#include "journal/journal_report.h"

#include "journal/journal_internal.h"
#include "journal/journal_read.h"
#include "journal/notebook_setup.h"
#include "journal/report.h"
#include "json/make.h"

enum { PICTURES_MAX = 8 /* one of them is there, unless the user removed them */ };

/* ---- head ---- */

/* Returns whether the cell has no end and is one of the server that has the session. */
static bool is_open(uint64_t number, const char *state, const struct journal_report *about)
{
	return about->live_from > 0 && number >= about->live_from && str_eq(state, JOURNAL_KILLED);
}

static void put_version(json_t *languages, const json_t *note)
{
	const char *language = json_string_value(json_object_get(note, "language"));
	json_t *facts = language != NULL ? json_object_get(languages, language) : NULL;

	if (facts != NULL &&
	    str_eq(json_string_value(json_object_get(note, "event")), NOTE_STARTED))
		json_put(facts, "version", json_incref(json_object_get(note, "version")));
}

static void count_language(json_t *languages, const char *language)
{
	json_t *facts = json_object_get(languages, language);

	if (facts == NULL) {
		facts = json_object();
		json_put(languages, language, facts);
	}
	json_put_int(facts, "cells", json_integer_value(json_object_get(facts, "cells")) + 1);
}

static int add_cell(const struct journal *journal, const struct kept_cell *cell, json_t *languages,
		    struct err *err)
{
	cleanup_json json_t *notes = NULL;
	size_t n;
	const json_t *note;

	count_language(languages, cell->script.language);
	if (cell->note_count == 0)
		return 0;
	notes = journal_read_notes(journal, cell, err);
	if (notes == NULL)
		return -1;
	json_array_foreach (notes, n, note)
		put_version(languages, note);
	return 0;
}

/* Returns the time of an event, as a new reference. Returns NULL without one. */
static json_t *time_of(const struct journal *journal, const struct event_place *place)
{
	cleanup_event struct event event = EVENT_INIT;
	struct err ignored;

	if (place->len == 0 || events_read(journal->events, place, &event, &ignored) < 0)
		return NULL;
	return json_incref(json_object_get(event.fields, "time"));
}

/* Returns where the last cell that had results saved them, as a new reference, or NULL. */
static json_t *find_kept(const struct journal *journal)
{
	for (size_t i = journal->count; i > 0; i--) {
		cleanup_event struct event end = EVENT_INIT;
		struct err ignored;
		json_t *saved = NULL;

		if (journal->cells[i - 1].saved &&
		    journal_read_end(journal, &journal->cells[i - 1], &end, &ignored) == 0)
			saved = json_object_get(json_object_get(end.fields, "record"), "saved");
		if (json_is_string(saved))
			return json_incref(saved);
	}
	return NULL;
}

static void put_own(json_t *object, const char *key, json_t *value_own)
{
	if (value_own != NULL)
		json_put(object, key, value_own);
}

/* Counts the cells that ran, and puts the time of the first and the end of the last. */
static int put_cells(const struct journal *journal, const struct journal_report *about,
		     json_t *facts, struct err *err)
{
	json_t *languages = json_object();
	const struct kept_cell *last = NULL;
	json_int_t cells = 0;
	json_int_t failed = 0;

	json_put(facts, "languages", languages);
	for (size_t i = 0; i < journal->count; i++) {
		const struct kept_cell *cell = &journal->cells[i];

		if (!cell->ran)
			continue;
		if (add_cell(journal, cell, languages, err) < 0)
			return -1;
		if (cells++ == 0)
			put_own(facts, "begun", time_of(journal, &cell->asked));
		if (report_failed(cell->script.state) &&
		    !is_open(cell->script.number, cell->script.state, about))
			failed++;
		if (cell->ended.len > 0)
			last = cell;
	}
	if (last != NULL)
		put_own(facts, "ended", time_of(journal, &last->ended));
	json_put_int(facts, "cells", cells);
	json_put_int(facts, "failed", failed);
	return 0;
}

/* Lists the paths of the last figures. */
static json_t *list_pictures(const struct journal *journal)
{
	json_t *paths = json_array();

	for (size_t i = journal->count; i > 0; i--) {
		const struct kept_cell *cell = &journal->cells[i - 1];

		for (size_t n = cell->image_count; n > 0; n--) {
			cleanup_event struct event figure = EVENT_INIT;
			struct err ignored;
			json_t *path = NULL;

			if (json_array_size(paths) == PICTURES_MAX)
				return paths;
			if (events_read(journal->events, &cell->images[n - 1], &figure, &ignored) ==
			    0)
				path = json_object_get(figure.fields, "path");
			if (json_is_string(path))
				json_append(paths, json_incref(path));
		}
	}
	return paths;
}

json_t *journal_report_facts(const struct journal *journal, const struct journal_report *about,
			     struct err *err)
{
	cleanup_json json_t *facts = json_object();
	json_t *kept = find_kept(journal);

	if (kept == NULL && about->kept != NULL)
		kept = json_make_str(about->kept);
	put_own(facts, "kept", kept);
	json_put_str(facts, "title", journal->title);
	json_put(facts, "pictures", list_pictures(journal));
	put_own(facts, "session_id", json_incref(json_object_get(journal->about, "session_id")));
	put_own(facts, "server", json_incref(json_object_get(journal->about, "server")));
	return put_cells(journal, about, facts, err) < 0 ? NULL : json_incref(facts);
}

static void draw_head(const json_t *facts, struct buf *out)
{
	const struct report_about head = {
		.session_id = json_string_value(json_object_get(facts, "session_id")),
		.title = json_string_value(json_object_get(facts, "title")),
		.server = json_string_value(json_object_get(facts, "server")),
		.kept = json_string_value(json_object_get(facts, "kept")),
		.begun = json_string_value(json_object_get(facts, "begun")),
		.ended = json_string_value(json_object_get(facts, "ended")),
		.languages = json_object_get(facts, "languages"),
		.cells = (size_t)json_integer_value(json_object_get(facts, "cells")),
		.failed = (size_t)json_integer_value(json_object_get(facts, "failed")),
	};

	report_head(out, &head);
}

/* ---- cells ---- */

struct target {
	struct buf *out;
	const struct journal_report *about;
};

static void put_cell(void *data, const struct journal_entry *entry, bool outputs)
{
	const struct target *target = data;
	struct journal_entry shown = *entry;

	if (is_open(entry->number, entry->state, target->about)) {
		shown.state = JOURNAL_RUNNING;
		shown.note = "No end of this cell is recorded: it runs, or ptycell was killed "
			     "while it ran.";
	}
	report_cell(target->out, &shown, outputs);
}

static int draw_cell(const struct journal *journal, const struct kept_cell *cell,
		     struct target *target, struct err *err)
{
	const struct journal_sink sink = { .put = put_cell, .data = target };
	cleanup_json json_t *notes = journal_read_notes(journal, cell, err);

	if (notes == NULL)
		return -1;
	report_notes(target->out, notes);
	return journal_draw_entry(journal, cell, &sink, err);
}

static void draw_end(const struct journal *journal, struct buf *out)
{
	for (size_t i = 0; i < journal->late_count; i++) {
		cleanup_event struct event late = EVENT_INIT;
		struct err ignored;

		if (events_read(journal->events, &journal->late[i], &late, &ignored) == 0)
			report_late(out,
				    json_string_value(json_object_get(late.fields, "language")),
				    late.data, late.data_len);
	}
	report_tail(out, journal->left_out);
}

int journal_read_report(const struct journal *journal, const struct journal_report *about,
			size_t *part, struct buf *out, struct err *err)
{
	struct target target = { .out = out, .about = about };

	if (!journal_has_run(journal))
		return 0;
	if (*part == 0) {
		cleanup_json json_t *facts = journal_report_facts(journal, about, err);

		++*part;
		if (facts != NULL)
			draw_head(facts, out);
		return facts == NULL ? -1 : 0;
	}
	while (*part <= journal->count && !journal->cells[*part - 1].ran)
		++*part;
	if (*part <= journal->count)
		return draw_cell(journal, &journal->cells[(*part)++ - 1], &target, err);
	if (*part == journal->count + 1)
		draw_end(journal, out);
	++*part;
	return 0;
}

/* ---- parts that are copied ---- */

/* Appends the cells whose pieces are not final. */
static int draw_open_cells(const struct journal *journal, struct target *target, struct err *err)
{
	size_t later = 0;

	for (size_t i = journal->drawn_cells; i < journal->count; i++) {
		if (!journal->cells[i].ran)
			continue;
		if (target->out->len > JOURNAL_TAIL_MAX)
			later++;
		else if (draw_cell(journal, &journal->cells[i], target, err) < 0)
			return -1;
	}
	if (later > 0)
		report_later(target->out, later,
			     journal->cells[journal->drawn_cells].script.number);
	return 0;
}

json_t *journal_draw_report(const struct journal *journal, const struct journal_report *about,
			    struct err *err)
{
	cleanup_buf struct buf head = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct target target = { .out = &tail, .about = about };
	json_t *parts = NULL;
	cleanup_json json_t *facts = journal_report_facts(journal, about, err);

	if (facts == NULL || draw_open_cells(journal, &target, err) < 0)
		return NULL;
	draw_head(facts, &head);
	draw_end(journal, &tail);
	parts = json_object();
	json_put(parts, "head", json_make_text(buf_str(&head), head.len));
	json_put_int(parts, "size", (json_int_t)(journal->report.size & INT64_MAX));
	json_put(parts, "tail", json_make_text(buf_str(&tail), tail.len));
	json_put(parts, "facts", json_incref(facts));
	return parts;
}
