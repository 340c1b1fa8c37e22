/* SPDX-License-Identifier: MIT */
/*
 * journal_load.c - builds the index of a journal that an ended server left, from its events. Events
 * of unknown kinds are skipped: a newer server may have written them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/notebook_setup.h"
#include "json/get.h"
#include "json/make.h"

/* No server counts as far: such a number was not written by one. */
#define NUMBER_MAX ((uint64_t)1 << 53)

enum { LEFT_MAX = 1 << 20 }; /* bytes of a killed cell's output, where no limit was set */

/* Returns a copy of the word that lives as long as the journal. There are few different ones. */
static const char *keep_word(struct journal *journal, const char *word)
{
	for (size_t i = 0; i < journal->word_count; i++)
		if (str_eq(journal->words[i], word))
			return journal->words[i];
	journal->words =
		xrealloc(journal->words, (journal->word_count + 1) * sizeof(*journal->words));
	journal->words[journal->word_count] = xstrdup(word);
	return journal->words[journal->word_count++];
}

static uint64_t number_of(const struct event *event)
{
	return (uint64_t)json_integer_value(json_object_get(event->fields, "cell"));
}

static void load_session(struct journal *journal, const struct event *event)
{
	json_decref(journal->about);
	journal->about = json_incref(event->fields);
}

static void load_asked(struct journal *journal, const struct event *event,
		       const struct event_place *place)
{
	const struct journal_asked asked = {
		.number = number_of(event),
		.language = keep_word(journal, json_text_at(event->fields, "language")),
		.code = event->data,
		.code_len = event->data_len,
		.title = json_string_value(json_object_get(event->fields, "title"))
	};

	if (asked.number > journal_last_number(journal) && asked.number < NUMBER_MAX)
		journal_index_asked(journal, &asked, place);
}

static void load_figure(struct kept_cell *cell, const struct event_place *place)
{
	cell->images = xrealloc(cell->images, (cell->image_count + 1) * sizeof(*cell->images));
	cell->images[cell->image_count++] = *place;
}

static void load_ended(struct journal *journal, struct kept_cell *cell, const struct event *event,
		       const struct event_place *place)
{
	if (json_is_true(json_object_get(event->fields, "ran")))
		journal_index_began(journal, cell);
	if (json_is_true(json_object_get(event->fields, "outputs_left_out")))
		journal->bare++;
	journal_index_ended(journal, cell, keep_word(journal, json_text_at(event->fields, "state")),
			    json_text_at(event->fields, "error_name"),
			    json_text_at(event->fields, "text"));
	cell->spooled = json_object_get(event->fields, "output") != NULL;
	cell->whole = json_object_get(event->fields, "whole_output") != NULL;
	journal_index_record(cell, json_object_get(event->fields, "record"));
	journal_index_end_at(cell, place);
}

static void load_copy(struct journal *journal, const struct event *event)
{
	struct journal_copy *copy;

	journal->copies =
		xrealloc(journal->copies, (journal->copy_count + 1) * sizeof(*journal->copies));
	copy = &journal->copies[journal->copy_count++];
	copy->size = (uint64_t)json_integer_value(json_object_get(event->fields, "size"));
	copy->crc = (uint32_t)json_integer_value(json_object_get(event->fields, "crc"));
	copy->stable = (uint64_t)json_integer_value(json_object_get(event->fields, "stable"));
}

/* A copy and the end of a life have the number of all lives. */
static void load_left_out(struct journal *journal, const struct event *event)
{
	json_int_t count = json_integer_value(json_object_get(event->fields, "cells_left_out"));

	if (count > 0)
		journal->left_out = journal->left_out_added = (uint64_t)count;
}

/* An installation that changed nothing and a restore that restored nothing are no notes. */
static bool is_note(const char *kind, const json_t *fields)
{
	static const char *const kinds[] = { NOTE_INPUT,   NOTE_INSTALLED, NOTE_LOST, NOTE_STARTED,
					     NOTE_RESUMED, NOTE_VALUES,    NOTE_RERUN };

	if (str_eq(kind, NOTE_INSTALLED) && !notebook_setup_changes_packages(fields))
		return false;
	if (notebook_setup_restored_nothing(fields))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(kinds[i], kind))
			return true;
	return false;
}

/*
 * The audit gets its lines in order, so that those of earlier ends are in it, too. A session that
 * was ended has no end for the next server to add.
 */
static bool is_audited(const char *kind)
{
	return str_eq(kind, "audited") || str_eq(kind, "session_ended") ||
	       str_eq(kind, "session_destroyed");
}

/* Ends the cells that were running when a server was killed. */
static void end_killed(struct journal *journal)
{
	for (size_t i = 0; i < journal->count && journal->unfinished > 0; i++)
		if (!journal->cells[i].over)
			journal_index_ended(journal, &journal->cells[i], JOURNAL_KILLED, NULL,
					    NULL);
}

/*
 * Adds a note to the index. The note that begins a later life first ends the open cells of the
 * earlier one.
 */
static void load_note(struct journal *journal, const char *kind, const struct event *event,
		      const struct event_place *place)
{
	if (str_eq(kind, NOTE_RESUMED)) {
		end_killed(journal);
		journal->earlier = journal_last_number(journal);
	}
	journal_index_note(journal, event->fields, place);
}

static void load_event(struct journal *journal, const struct event *event,
		       const struct event_place *place)
{
	const char *kind = json_text_at(event->fields, "event");
	struct kept_cell *cell = journal_cell(journal, number_of(event));

	load_left_out(journal, event);
	if (str_eq(kind, "session"))
		load_session(journal, event);
	else if (is_audited(kind))
		journal->audited = place->offset;
	else if (str_eq(kind, "copy"))
		load_copy(journal, event);
	else if (str_eq(kind, "late"))
		journal_index_late(journal, place);
	else if (str_eq(kind, "asked"))
		load_asked(journal, event, place);
	else if (is_note(kind, event->fields))
		load_note(journal, kind, event, place);
	else if (cell == NULL || cell->over)
		return;
	else if (str_eq(kind, "began"))
		journal_index_began(journal, cell);
	else if (str_eq(kind, "shown"))
		journal_index_shown(cell, place, event->data_len);
	else if (str_eq(kind, "typed"))
		journal_index_typed(cell, place);
	else if (str_eq(kind, "figure"))
		load_figure(cell, place);
	else if (str_eq(kind, "ended"))
		load_ended(journal, cell, event, place);
}

/* Builds the index. Sets *ret_last to the last event that is whole. */
static struct journal *load(struct journal *journal, struct events *events_own,
			    struct event_place *ret_last)
{
	cleanup_event struct event event = EVENT_INIT;

	events_free(journal->events);
	journal->events = events_own;
	*ret_last = (struct event_place){ .len = 0 };
	while (events_next(events_own, ret_last, &event))
		load_event(journal, &event, ret_last);
	end_killed(journal);
	return journal;
}

struct journal *journal_load(int dir_fd, struct err *err)
{
	struct events *events = events_open(dir_fd, err);
	struct event_place last;

	if (events == NULL)
		return NULL;
	return load(journal_new(dir_fd, "", 0, 0, NULL), events, &last);
}

/* Returns how many bytes of a cell's terminal output readers get. */
static uint64_t output_max(const struct journal *journal)
{
	return journal->output_max > 0 ? journal->output_max : LEFT_MAX;
}

void journal_set_left(struct journal *journal, size_t index, const struct journal_left *left)
{
	struct kept_cell *cell = &journal->cells[index];
	uint64_t max = output_max(journal);
	json_t *output;

	if (left->bytes <= cell->shown_len)
		return;
	output = json_object();
	json_put_str(output, "file", left->file);
	json_put_int(output, "bytes", (json_int_t)left->bytes);
	json_put_int(output, "shown", (json_int_t)(left->bytes < max ? left->bytes : max));
	json_decref(cell->left);
	cell->left = json_object();
	json_put_str(cell->left, "text", "");
	json_put(cell->left, "output", output);
	json_put_str(cell->left, "whole_output", left->whole);
	cell->whole = left->whole != NULL;
}

static void export_output(struct journal *journal, size_t index, const struct journal_line *line,
			  const struct journal_outputs *outputs)
{
	cleanup_free char *file = outputs->name(line->number, line->language);
	cleanup_free char *path = xasprintf(JOURNAL_SPOOL "/%s", file);
	cleanup_free char *to = NULL;
	struct stat st;

	if (fstatat(journal->dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (line->whole || (uint64_t)st.st_size > output_max(journal))
		to = outputs->export(outputs->data, line, file, (uint64_t)st.st_size);
	if (!line->whole)
		journal_set_left(journal, index,
				 &(struct journal_left){ .file = file,
							 .bytes = (uint64_t)st.st_size,
							 .whole = to });
}

void journal_export_outputs(struct journal *journal, const struct journal_outputs *outputs)
{
	struct journal_line line;

	for (size_t i = 0; journal_at(journal, i, &line); i++)
		if (line.whole || str_eq(line.state, JOURNAL_KILLED))
			export_output(journal, i, &line, outputs);
}

struct journal *journal_resume(int dir_fd, const struct journal_spec *spec, struct err *err)
{
	struct events *events = events_open_to_add(dir_fd, err);
	struct journal *journal = journal_new(dir_fd, spec->session_id, spec->max_bytes,
					      spec->output_max, spec->redact);
	struct event_place last;

	if (events == NULL && err->sys == ENOENT)
		return journal;
	if (events != NULL && events_cut(load(journal, events, &last)->events, &last, err) == 0)
		return journal;
	journal_free(journal);
	return NULL;
}
