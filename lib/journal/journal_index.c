/* SPDX-License-Identifier: MIT */
/*
 * journal_index.c - the index of the events of cells. Adding and loading a journal keep it in the
 * same way.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "journal/journal_internal.h"
#include "journal/notebook_setup.h"

enum { SECONDS_MAX = 1000000000 };

static struct kept_cell *new_cell(struct journal *journal)
{
	if (journal->count == journal->cap) {
		journal->cap = journal->cap == 0 ? 16 : journal->cap * 2;
		journal->cells = xrealloc(journal->cells, journal->cap * sizeof(*journal->cells));
	}
	return &journal->cells[journal->count++];
}

/* Finds a cell by binary search: numbers rise. */
struct kept_cell *journal_cell(const struct journal *journal, uint64_t number)
{
	size_t low = 0;
	size_t high = journal->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (journal->cells[middle].script.number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == journal->count || journal->cells[low].script.number != number)
		return NULL;
	return &journal->cells[low];
}

static void count_language(struct journal *journal, const char *language)
{
	size_t i = 0;

	while (i < JOURNAL_LANGUAGES_MAX - 1 && journal->tallies[i].language != NULL &&
	       !str_eq(journal->tallies[i].language, language))
		i++;
	journal->tallies[i].language = language;
	journal->tallies[i].cells++;
}

void journal_index_asked(struct journal *journal, const struct journal_asked *asked,
			 const struct event_place *place)
{
	struct kept_cell *cell = new_cell(journal);

	*cell = (struct kept_cell){ .asked = *place,
				    .note_count = journal->pending_count,
				    .notes = journal->pending };
	journal->pending = NULL;
	journal->pending_count = 0;
	cell->script = (struct script_cell){ .number = asked->number,
					     .language = asked->language,
					     .state = JOURNAL_QUEUED,
					     .code_len = asked->code_len };
	script_measure(&cell->script, asked->code);
	if (journal->title == NULL && asked->title != NULL)
		journal->title = xstrdup(asked->title);
	journal->unfinished++;
}

void journal_index_began(struct journal *journal, struct kept_cell *cell)
{
	if (!cell->ran && !str_eq(cell->script.language, JOURNAL_SQL))
		count_language(journal, cell->script.language);
	cell->ran = true;
	cell->script.state = JOURNAL_RUNNING;
}

void journal_index_shown(struct kept_cell *cell, const struct event_place *place, size_t len)
{
	cell->shown_len += len;
	cell->shown = xrealloc(cell->shown, (cell->shown_count + 1) * sizeof(*cell->shown));
	cell->shown[cell->shown_count++] = *place;
	cell->shown_bytes += place->len;
}

void journal_index_end_at(struct kept_cell *cell, const struct event_place *place)
{
	cell->ended = *place;
	mem_cleanup(&cell->shown);
	cell->shown_count = 0;
}

/*
 * Returns the first cell that has not ended, of this language unless it is NULL, or NULL if there
 * is none.
 */
static struct kept_cell *first_open(const struct journal *journal, const char *language)
{
	struct kept_cell *first = NULL;
	size_t left = journal->unfinished;

	for (size_t i = journal->count; i-- > 0 && left > 0;) {
		struct kept_cell *cell = &journal->cells[i];

		left -= cell->over ? 0 : 1;
		if (!cell->over && (language == NULL || str_eq(cell->script.language, language)))
			first = cell;
	}
	return first;
}

/* Notes an event before this cell, or before the next one if it is NULL. */
static void add_note(struct journal *journal, struct kept_cell *cell,
		     const struct event_place *place)
{
	struct event_place **notes = cell != NULL ? &cell->notes : &journal->pending;
	size_t *count = cell != NULL ? &cell->note_count : &journal->pending_count;

	*notes = xrealloc(*notes, (*count + 1) * sizeof(**notes));
	(*notes)[(*count)++] = *place;
}

void journal_index_note(struct journal *journal, const json_t *fields,
			const struct event_place *place)
{
	const char *event = json_string_value(json_object_get(fields, "event"));
	const char *language = json_string_value(json_object_get(fields, "language"));
	uint64_t number = (uint64_t)json_integer_value(json_object_get(fields, "cell"));
	struct kept_cell *cell =
		number > 0 ? journal_cell(journal, number)
			   : first_open(journal, str_eq(event, NOTE_LOST) ? language : NULL);

	if (number == 0 || (cell != NULL && !cell->over))
		add_note(journal, cell, place);
}

/* Moves the events before a cell that never ran: the notebook does not have it. */
static void pass_notes_on(struct journal *journal, struct kept_cell *cell)
{
	for (size_t i = 0; i < cell->note_count; i++)
		add_note(journal, first_open(journal, NULL), &cell->notes[i]);
	mem_cleanup(&cell->notes);
	cell->note_count = 0;
}

void journal_index_ended(struct journal *journal, struct kept_cell *cell, const char *state,
			 const char *error_name, const char *text)
{
	journal->unfinished--;
	cell->over = true;
	cell->script.state = state;
	cell->script.broken = script_is_broken(&cell->script, error_name, text);
	if (!cell->ran)
		pass_notes_on(journal, cell);
}

void journal_index_record(struct kept_cell *cell, const json_t *record)
{
	double seconds = json_number_value(json_object_get(record, "seconds"));

	cell->saved = json_is_string(json_object_get(record, "saved"));
	cell->elapsed_ms = seconds > 0 && seconds < SECONDS_MAX ? (uint64_t)(seconds * 1000) : 0;
}

/* ---- queries ---- */

size_t journal_count(const struct journal *journal)
{
	return journal->count;
}

size_t journal_bare_count(const struct journal *journal)
{
	return journal->bare;
}

uint64_t journal_last_number(const struct journal *journal)
{
	return journal->count > 0 ? journal->cells[journal->count - 1].script.number : 0;
}

uint64_t journal_left_out(const struct journal *journal)
{
	return journal->left_out;
}

uint64_t journal_bytes(const struct journal *journal)
{
	return events_size(journal->events);
}

bool journal_at(const struct journal *journal, size_t index, struct journal_line *ret_line)
{
	const struct kept_cell *cell;

	if (index >= journal->count)
		return false;
	cell = &journal->cells[index];
	ret_line->number = cell->script.number;
	ret_line->language = cell->script.language;
	ret_line->state = cell->script.state;
	ret_line->ran = cell->ran;
	ret_line->image_count = cell->image_count;
	ret_line->whole = cell->whole;
	ret_line->elapsed_ms = cell->elapsed_ms;
	ret_line->unaudited = cell->ended.len > 0 && cell->ended.offset > journal->audited;
	ret_line->earlier = cell->script.number <= journal->earlier;
	return true;
}

int journal_find(const struct journal *journal, uint64_t number, size_t *ret_index, struct err *err)
{
	const struct kept_cell *cell = journal_cell(journal, number);

	if (cell == NULL)
		return err_set(err, ERR_NOT_FOUND, "cell %" PRIu64 " is not in the journal",
			       number);
	*ret_index = (size_t)(cell - journal->cells);
	return 0;
}
