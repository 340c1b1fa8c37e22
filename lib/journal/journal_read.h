/* SPDX-License-Identifier: MIT */
/* journal_read.h - the parts of reading a cell that rendering needs, too. */
#ifndef JOURNAL_JOURNAL_READ_H
#define JOURNAL_JOURNAL_READ_H

#include "journal/journal_internal.h"

/*
 * Reads the event of a cell's end, or returns one without fields if there is none. Returns -1 and
 * sets *err.
 */
int journal_read_end(const struct journal *journal, const struct kept_cell *cell, struct event *ret,
		     struct err *err) MUST_CHECK;
/*
 * Appends the output of a cell without an end: what answers showed, or all that it left. Returns -1
 * and sets *err.
 */
int journal_read_shown(const struct journal *journal, const struct kept_cell *cell, struct buf *out,
		       struct err *err) MUST_CHECK;
/* Returns the record in the event, or the parts known without it. A new reference. */
json_t *journal_record_of(const struct journal *journal, const struct kept_cell *cell,
			  const struct event *end);
/*
 * Appends the terminal output of an ended cell: the answered text, or the whole of a long output as
 * far as the session's spool still has it.
 */
void journal_read_text(const struct journal *journal, const struct event *end, struct buf *out);
/*
 * Does the same with a long output that was read already; `spool` without a screen stands for none.
 */
void journal_put_text(const struct event *end, const struct journal_spool *spool, struct buf *out);
/* Reads the events that belong before a cell. Returns a new reference, or NULL and sets *err. */
json_t *journal_read_notes(const struct journal *journal, const struct kept_cell *cell,
			   struct err *err) MUST_CHECK;
/* Takes a cell that was read; the entry is borrowed for the call. */
struct journal_sink {
	/* If `outputs` is false, the cell's outputs are not recorded. */
	void (*put)(void *data, const struct journal_entry *entry, bool outputs);
	void *data;
	const struct journal_spool *spool; /* the cell's long output that was read; or NULL */
};
/*
 * Reads a cell that ran or runs, with its figures, and gives it to the sink. In journal_draw.c.
 * Returns -1 and sets *err.
 */
int journal_draw_entry(const struct journal *journal, const struct kept_cell *cell,
		       const struct journal_sink *sink, struct err *err) MUST_CHECK;
/* Returns the MIME type of a figure. Static. */
const char *journal_image_mime(const struct event *figure);

#endif
