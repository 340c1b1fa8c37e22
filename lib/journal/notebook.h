/* SPDX-License-Identifier: MIT */
/*
 * notebook.h - renders cells as an nbformat 4.5 notebook, piece by piece.
 *
 *   notebook = head [ cell *( separator cell ) ] tail
 *
 * The kernel is Python's. Its cells are unchanged; those of other languages begin with the magic
 * that makes the helper of notebook_setup.h run them. Queries are raw cells with their output
 * behind them. A cell with a title has a heading before it. Outputs are text, PNG and JPEG: opening
 * the notebook neither runs nor loads anything.
 */
#ifndef JOURNAL_NOTEBOOK_H
#define JOURNAL_NOTEBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "journal/entry.h"

enum {
	NOTEBOOK_VALUE_CHARS_MAX = 20000,
	NOTEBOOK_TRACEBACK_CHARS_MAX = 20000,
	NOTEBOOK_IMAGES_MAX =
		8 << 20, /* bytes of one cell's figures in base64; further ones are only named */
};

/*
 * Appends a value or traceback of the entry in the form that is shown, at most `max_chars`
 * characters.
 */
void notebook_text(struct buf *out, const struct journal_entry *entry, const char *text,
		   size_t max_chars);

/* `about` has the fields of the event `session`. */
void notebook_head(struct buf *out, const json_t *about);
void notebook_separator(struct buf *out);
/* Appends a cell. If `outputs` is false, a note replaces its outputs. */
void notebook_cell(struct buf *out, const struct journal_entry *entry, bool outputs);
/* Returns false for a cell in a state whose tag keeps nbconvert --execute from running it. */
bool notebook_runs(const char *state);
/* Appends a note that `count` more cells follow when cell `running` has ended. */
void notebook_later(struct buf *out, size_t count, uint64_t running);
/* Appends a note with the output that no cell has. */
void notebook_late(struct buf *out, size_t number, const char *language, const char *text,
		   size_t len);
/* Ends the notebook, with a note about the `left_out` cells that came after the last one. */
void notebook_tail(struct buf *out, uint64_t left_out);

#endif
