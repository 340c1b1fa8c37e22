/* SPDX-License-Identifier: MIT */
/* rerun.c - takes the fields of a cell's events apart. */
#include "journal/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/notebook_setup.h"
#include "redact/redact.h"

enum { DEADLINE_MAX_S = 1000000000 };

static const char *text_of(const json_t *fields, const char *key)
{
	return json_string_value(json_object_get(fields, key));
}

static char *copy_of(const json_t *fields, const char *key)
{
	const char *text = text_of(fields, key);

	return text != NULL ? xstrdup(text) : NULL;
}

static struct rerun_text take_data(const struct event *event)
{
	return (struct rerun_text){ .data = xmemdup(event->data, event->data_len),
				    .len = event->data_len };
}

/* ---- the request ---- */

static void take_asked(const struct event *asked, struct rerun_cell *cell)
{
	const char *marks = text_of(asked->fields, "marks");
	double deadline_s = json_number_value(json_object_get(asked->fields, "deadline_s"));

	cell->code = take_data(asked);
	if (deadline_s > 0 && deadline_s < DEADLINE_MAX_S)
		cell->timeout_ms = (uint64_t)(deadline_s * 1000 + 0.5);
	if (marks != NULL)
		cell->marks = str_eq(marks, RERUN_MARKS_PLAIN) ? RERUN_PLAIN : RERUN_OTHER;
}

static void add_typed(const struct event *typed, struct rerun_cell *cell)
{
	cell->hidden = cell->hidden || json_is_true(json_object_get(typed->fields, "hidden"));
	cell->secret = cell->secret || memmem(typed->data, typed->data_len, REDACT_MARK,
					      strlen(REDACT_MARK)) != NULL;
	cell->typed = xrealloc(cell->typed, (cell->typed_count + 1) * sizeof(*cell->typed));
	cell->typed[cell->typed_count++] = take_data(typed);
}

static int read_typed(const struct journal *journal, const struct kept_cell *kept,
		      struct rerun_cell *cell, struct err *err)
{
	for (size_t i = 0; i < kept->typed_count; i++) {
		cleanup_event struct event typed = EVENT_INIT;

		if (events_read(journal->events, &kept->typed[i], &typed, err) < 0)
			return -1;
		add_typed(&typed, cell);
	}
	return 0;
}

/* ---- what happened before it ---- */

/* Returns whether saved variables, which are Python's only, were all the state before the cell. */
static bool only_python_ran_before(const struct journal *journal, const struct kept_cell *kept)
{
	for (const struct kept_cell *cell = journal->cells; cell < kept; cell++)
		if (cell->ran && !str_eq(cell->script.language, "python") &&
		    !str_eq(cell->script.language, JOURNAL_SQL))
			return false;
	return str_eq(kept->script.language, "python");
}

/*
 * Notes whether the cell began without earlier state. A life begins without it, unless state is
 * brought back before the first cell.
 */
static void note_state(const struct journal *journal, const struct kept_cell *kept,
		       const json_t *fields, struct rerun_cell *cell)
{
	const char *language = kept->script.language;
	const char *event = text_of(fields, "event");
	const char *of = text_of(fields, "language");

	if (str_eq(event, NOTE_RESUMED) ||
	    (str_eq(event, NOTE_LOST) && of != NULL && str_eq(of, language)))
		cell->lost = true;
	else if (!json_is_true(json_object_get(fields, "failed")) &&
		 (str_eq(event, NOTE_RERUN) ||
		  (str_eq(event, NOTE_VALUES) && only_python_ran_before(journal, kept))))
		cell->lost = false;
}

static void add_note(const json_t *fields, struct rerun_cell *cell)
{
	const char *event = text_of(fields, "event");
	const char *path = text_of(fields, "path");
	json_int_t size = json_integer_value(json_object_get(fields, "size_bytes"));

	if (!str_eq(event, NOTE_INPUT) || path == NULL)
		return;
	cell->inputs = xrealloc(cell->inputs, (cell->input_count + 1) * sizeof(*cell->inputs));
	cell->inputs[cell->input_count++] =
		(struct rerun_input){ .path = xstrdup(path),
				      .sha256 = copy_of(fields, "sha256"),
				      .size = size > 0 ? (uint64_t)size : 0 };
}

static int read_notes(const struct journal *journal, const struct kept_cell *kept,
		      struct rerun_cell *cell, struct err *err)
{
	for (size_t i = 0; i < kept->note_count; i++) {
		cleanup_event struct event note = EVENT_INIT;

		if (events_read(journal->events, &kept->notes[i], &note, err) < 0)
			return -1;
		note_state(journal, kept, note.fields, cell);
		add_note(note.fields, cell);
	}
	return 0;
}

/* ---- what it left ---- */

static char *join_names(const json_t *names)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t n;
	json_t *name;

	json_array_foreach (names, n, name) {
		const char *text = text_of(name, "name");

		if (text != NULL && json_object_get(name, "gone") == NULL)
			buf_putf(&out, "%s%s", out.len > 0 ? ", " : "", text);
	}
	return out.len > 0 ? buf_steal(&out) : NULL;
}

static int read_end(const struct journal *journal, const struct kept_cell *kept,
		    struct rerun_cell *cell, struct err *err)
{
	cleanup_event struct event end = EVENT_INIT;
	const json_t *record;

	if (kept->ended.len == 0)
		return 0;
	if (events_read(journal->events, &kept->ended, &end, err) < 0)
		return -1;
	record = json_object_get(end.fields, "record");
	cell->names = join_names(json_object_get(record, "names"));
	cell->error = copy_of(end.fields, "error_name");
	if (str_eq(kept->script.language, JOURNAL_SQL))
		cell->file = copy_of(record, "output_path");
	return 0;
}

int rerun_read(const struct journal *journal, size_t index, struct rerun_cell *ret, struct err *err)
{
	const struct kept_cell *kept = &journal->cells[index];
	cleanup_event struct event asked = EVENT_INIT;

	*ret = (struct rerun_cell){ .timeout_ms = 0 };
	if (events_read(journal->events, &kept->asked, &asked, err) < 0)
		return -1;
	take_asked(&asked, ret);
	if (read_typed(journal, kept, ret, err) == 0 && read_notes(journal, kept, ret, err) == 0 &&
	    read_end(journal, kept, ret, err) == 0)
		return 0;
	rerun_release(ret);
	return -1;
}

void rerun_release(struct rerun_cell *cell)
{
	for (size_t i = 0; i < cell->typed_count; i++)
		free(cell->typed[i].data);
	for (size_t i = 0; i < cell->input_count; i++) {
		free(cell->inputs[i].path);
		free(cell->inputs[i].sha256);
	}
	free(cell->typed);
	free(cell->inputs);
	free(cell->code.data);
	free(cell->names);
	free(cell->error);
	free(cell->file);
	*cell = (struct rerun_cell){ .timeout_ms = 0 };
}
