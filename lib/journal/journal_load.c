/* SPDX-License-Identifier: MIT */
/*
 * journal_load.c - builds the index of a journal that an ended server left, from its events. Events
 * of unknown kinds are skipped: a newer server may have written them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/replay.h"

/* No server counts as far: such a number was not written by one. */
#define NUMBER_MAX ((uint64_t)1 << 53)

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

static const char *text_of(const struct event *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event->fields, key));

	return text != NULL ? text : "";
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
	const struct journal_asked asked = { .number = number_of(event),
					     .language =
						     keep_word(journal, text_of(event, "language")),
					     .code = event->data,
					     .code_len = event->data_len };

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
	journal_index_ended(journal, cell, keep_word(journal, text_of(event, "state")),
			    text_of(event, "error_name"));
	cell->spooled = json_object_get(event->fields, "output") != NULL;
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
	journal->left_out =
		(uint64_t)json_integer_value(json_object_get(event->fields, "cells_left_out"));
}

static bool is_note(const char *kind)
{
	static const char *const kinds[] = { REPLAY_INPUT, REPLAY_INSTALLED, REPLAY_LOST,
					     REPLAY_STARTED };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(kinds[i], kind))
			return true;
	return false;
}

static void load_event(struct journal *journal, const struct event *event,
		       const struct event_place *place)
{
	const char *kind = text_of(event, "event");
	struct kept_cell *cell = journal_cell(journal, number_of(event));

	if (str_eq(kind, "session"))
		load_session(journal, event);
	else if (str_eq(kind, "copy"))
		load_copy(journal, event);
	else if (str_eq(kind, "late"))
		journal_index_late(journal, place);
	else if (str_eq(kind, "asked"))
		load_asked(journal, event, place);
	else if (is_note(kind))
		journal_index_note(journal, event->fields, place);
	else if (cell == NULL || cell->over)
		return;
	else if (str_eq(kind, "began"))
		journal_index_began(journal, cell);
	else if (str_eq(kind, "shown"))
		journal_index_shown(cell, place);
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
	while (events_next(events_own, ret_last, &event)) {
		load_event(journal, &event, ret_last);
		journal->last = ret_last->offset;
	}
	for (size_t i = 0; i < journal->count; i++)
		if (!journal->cells[i].over)
			journal_index_ended(journal, &journal->cells[i], JOURNAL_KILLED, NULL);
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
