/* SPDX-License-Identifier: MIT */
/* journal_read.h - parts of reading a cell that drawing the notebook needs, too. */
#ifndef JOURNAL_JOURNAL_READ_H
#define JOURNAL_JOURNAL_READ_H

#include "journal/journal_internal.h"

/* Reads the event of a cell's end; one without fields where there is none. */
int journal_read_end(const struct journal *journal, const struct kept_cell *cell, struct event *ret,
		     struct err *err) MUST_CHECK;
/* Appends what answers showed of a cell without an end. */
int journal_read_shown(const struct journal *journal, const struct kept_cell *cell, struct buf *out,
		       struct err *err) MUST_CHECK;
/* Returns the record that the event has, or what is known without it. A new reference. */
json_t *journal_record_of(const struct kept_cell *cell, const struct event *end);
/*
 * Appends the terminal's text of a cell that is over: what was answered, or all of a long output as
 * far as the session's spool has it.
 */
void journal_read_text(const struct journal *journal, const struct event *end, struct buf *out);
/* Static. */
const char *journal_image_mime(const struct event *figure);

#endif
