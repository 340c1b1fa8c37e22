/* SPDX-License-Identifier: MIT */
/*
 * journal.h - what was done in a session, for as long as it lives.
 *
 * Three files in a folder that no session sees, only ever added to:
 *
 *   notebook.ipynb   a whole notebook (notebook.h) after every cell
 *   code             the cells' code, one behind the other
 *   records          a line of JSON a cell: record, text, value, traceback, figures
 *
 * Together they stay below a limit. Its last eighth is for code: a cell whose outputs would reach
 * into it is taken without them; one that does not fit even so is left out and counted. Nothing
 * that was taken is ever given up for something newer.
 *
 * Reading takes ranges, so that nothing large is held in memory: sizes are those of what a reader
 * gets, whole, and known without reading.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "journal/entry.h"

struct journal;
struct redact;

enum journal_taken { JOURNAL_WHOLE, JOURNAL_WITHOUT_OUTPUTS, JOURNAL_NOT };

#define JOURNAL_NOTEBOOK_FILE "notebook.ipynb"

/*
 * `dir_fd` is borrowed; nothing is written before the first cell. `redact` (borrowed, or NULL)
 * takes secrets out of all that is added.
 */
struct journal *journal_new(int dir_fd, const char *session_id, uint64_t max_bytes,
			    const struct redact *redact);
void journal_free(struct journal *journal);
/* For the cells to come. */
void journal_set_max(struct journal *journal, uint64_t max_bytes);

/*
 * The record is changed where a secret is in it. Numbers may come in any order, each once. -1 when
 * the disk fails: the cell is then not in it, and what was there before stands.
 */
int journal_add(struct journal *journal, const struct journal_entry *entry,
		enum journal_taken *ret_taken, struct err *err) MUST_CHECK;

/* Cells taken, and those of them without outputs; those left out; bytes on the disk. */
size_t journal_count(const struct journal *journal);
size_t journal_bare_count(const struct journal *journal);
uint64_t journal_left_out(const struct journal *journal);
uint64_t journal_bytes(const struct journal *journal);

/* What is told of a cell without reading it. */
struct journal_line {
	uint64_t number;
	const char *language;
	const char *state;
	bool ran;
	size_t image_count;
};
/* By position; false past the end. */
bool journal_at(const struct journal *journal, size_t index, struct journal_line *ret_line);
/* The position of a cell's number; ERR_NOT_FOUND. */
int journal_find(const struct journal *journal, uint64_t number, size_t *ret_index,
		 struct err *err) MUST_CHECK;

/* The cell's record with `code` and `figures`; a new reference, NULL when it cannot be read. */
json_t *journal_read_cell(const struct journal *journal, size_t index, struct err *err) MUST_CHECK;
/*
 * Figure `image` of a cell in base64. ERR_NOT_FOUND when there is none, or when it was left out of
 * the notebook. `ret_mime` is static.
 */
int journal_read_image(const struct journal *journal, size_t index, size_t image, struct buf *out,
		       const char **ret_mime, struct err *err) MUST_CHECK;

/*
 * What of the notebook never changes: its first bytes, as many as this, followed by what is
 * appended to `tail`, are a whole one at any time. 0 when no cell ran yet.
 */
uint64_t journal_notebook_stable(const struct journal *journal, struct buf *tail);
/* 0 when no cell ran yet. */
uint64_t journal_notebook_size(const struct journal *journal);
int journal_read_notebook(const struct journal *journal, uint64_t offset, size_t len,
			  struct buf *out, struct err *err) MUST_CHECK;

/* The language of most cells that ran, the earlier one of equals; NULL when none did. Static. */
const char *journal_language(const struct journal *journal);
/* The script for `language`: cells of others are comments in it. */
uint64_t journal_script_size(const struct journal *journal, const char *language);
int journal_read_script(const struct journal *journal, const char *language, uint64_t offset,
			size_t len, struct buf *out, struct err *err) MUST_CHECK;

#endif
