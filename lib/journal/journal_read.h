/* SPDX-License-Identifier: MIT */
/* journal_read.h - the parts of reading a cell that rendering the notebook needs, too. */
#ifndef JOURNAL_JOURNAL_READ_H
#define JOURNAL_JOURNAL_READ_H

#include "journal/journal_internal.h"

/* Reads the event of a cell's end, or returns one without fields if there is none. */
int journal_read_end(const struct journal *journal, const struct kept_cell *cell, struct event *ret,
		     struct err *err) MUST_CHECK;
/* Appends the texts that answers showed of a cell without an end. */
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
/* Returns the MIME type of a figure. Static. */
const char *journal_image_mime(const struct event *figure);

#endif
