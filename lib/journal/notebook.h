/* SPDX-License-Identifier: MIT */
/*
 * notebook.h - cells as an nbformat 4.5 notebook, piece by piece.
 *
 *   notebook = head [ cell *( separator cell ) ] tail
 *
 * The kernel is Python's: its cells stand as they are, those of other languages begin with the
 * magic that makes Jupyter run them (%%bash, %%script node, %%R). Outputs are text, PNG and JPEG:
 * nothing in it runs or loads anything when it is opened.
 */
#ifndef JOURNAL_NOTEBOOK_H
#define JOURNAL_NOTEBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "journal/entry.h"

enum {
	NOTEBOOK_VALUE_CHARS_MAX = 20000,
	NOTEBOOK_TRACEBACK_CHARS_MAX = 20000,
	NOTEBOOK_IMAGES_MAX =
		8 << 20, /* bytes of one cell's figures in base64; the rest is named */
};

/* Appends a value or traceback of the entry as it is shown, so many characters of it. */
void notebook_text(struct buf *out, const struct journal_entry *entry, const char *text,
		   size_t max_chars);

void notebook_head(struct buf *out, const char *session_id);
void notebook_separator(struct buf *out);
/* Without `outputs` a note stands in their place. */
void notebook_cell(struct buf *out, const struct journal_entry *entry, bool outputs);
/* A note that `count` more cells come when cell `running` has ended. */
void notebook_later(struct buf *out, size_t count, uint64_t running);
/* `left_out` cells that came after the last one are told in a closing note. */
void notebook_tail(struct buf *out, uint64_t left_out);

#endif
