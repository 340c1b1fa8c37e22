/* SPDX-License-Identifier: MIT */
/*
 * journal.h - what was done in a session, for as long as it lives.
 *
 * One file in a folder that no session sees is the source of it all: `events` (events.h). A cell is
 * an event when it is asked for, when it begins, for each figure and when it is over. Notebook,
 * script and cells are drawn from these events when somebody reads them, in the order in which the
 * cells were asked for; a cell that runs is in them as running.
 *
 * The file stays below a limit. Its last eighth is for code: a cell whose outputs would reach into
 * it is taken without them; one that does not fit even so is left out and counted. Nothing that was
 * taken is ever given up for something newer.
 *
 * Reading takes ranges, so that nothing large is held in memory: sizes are those of what a reader
 * gets, whole.
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
/* Where the whole outputs of cells lie, seen from the journal's folder. */
#define JOURNAL_SPOOL "../spool"

/*
 * `dir_fd` is borrowed; nothing is written before the first cell. `output_max` bounds the bytes of
 * one cell's terminal output that readers get. `redact` (borrowed, or NULL) takes secrets out of
 * all that is added.
 */
struct journal *journal_new(int dir_fd, const char *session_id, uint64_t max_bytes,
			    uint64_t output_max, const struct redact *redact);
void journal_free(struct journal *journal);
/*
 * The journal that an ended server left in this folder, for reading and drawing. A cell that had no
 * end is over with the state "killed". NULL: there is none (ERR_SYSTEM), or none of this version
 * (ERR_INVALID).
 */
struct journal *journal_load(int dir_fd, struct err *err) MUST_CHECK;
/* For the cells to come. */
void journal_set_max(struct journal *journal, uint64_t max_bytes);

/*
 * Adds a cell that is asked for; its number is larger than that of any before. -1 when the disk
 * fails, and the cell is left out.
 */
int journal_ask(struct journal *journal, const struct journal_asked *asked,
		struct err *err) MUST_CHECK;
/* The cell's code goes to its interpreter now. -1 when the disk fails. */
int journal_begin(struct journal *journal, uint64_t number, struct err *err) MUST_CHECK;
/* Adds what an answer showed of a cell that goes on. -1 when the disk fails. */
int journal_show(struct journal *journal, uint64_t number, const char *text, size_t len,
		 struct err *err) MUST_CHECK;
/*
 * Adds how a cell ended that was asked for. The record is changed where a secret is in it. -1 when
 * the disk fails: the cell is then in it without its outputs.
 */
int journal_end(struct journal *journal, const struct journal_entry *entry,
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
	const char *state; /* "queued", "running", "killed", or how it ended */
	bool ran;
	size_t image_count;
};
/* By position, in the order of numbers; false past the end. */
bool journal_at(const struct journal *journal, size_t index, struct journal_line *ret_line);
/* The position of a cell's number; ERR_NOT_FOUND. */
int journal_find(const struct journal *journal, uint64_t number, size_t *ret_index,
		 struct err *err) MUST_CHECK;

/* The cell's record with `code` and `figures`; a new reference, NULL when it cannot be read. */
json_t *journal_read_cell(const struct journal *journal, size_t index, struct err *err) MUST_CHECK;
/*
 * Figure `image` of a cell in base64. ERR_NOT_FOUND when there is none, ERR_LIMIT when `out` has no
 * room for it. `ret_mime` is static.
 */
int journal_read_image(const struct journal *journal, size_t index, size_t image, struct buf *out,
		       const char **ret_mime, struct err *err) MUST_CHECK;

/* Whether a cell ran or runs: there is a notebook, and a script. */
bool journal_has_run(const struct journal *journal);
/*
 * Draws the notebook into JOURNAL_NOTEBOOK_FILE: of that its first `ret_stable` bytes, which no
 * later call changes, followed by what is appended to `tail`, are the whole of it. The tail begins
 * with the first cell that goes on; cells that would make it longer than JOURNAL_TAIL_MAX and one
 * piece are counted in it.
 */
enum { JOURNAL_TAIL_MAX = 4 << 20 };
int journal_draw_notebook(struct journal *journal, uint64_t *ret_stable, struct buf *tail,
			  struct err *err) MUST_CHECK;
/*
 * Does a part of that, which may take long: draws the next cell that no later call changes.
 * `ret_more` is false when there was none.
 */
int journal_draw_cell(struct journal *journal, bool *ret_more, struct err *err) MUST_CHECK;
/*
 * Adds that a copy of what was drawn last, `tail` behind it, is about to be made: whoever loads the
 * journal knows the copy by that. Nothing is added where there is no room. -1 when the disk fails.
 */
int journal_add_copy(struct journal *journal, const struct buf *tail, struct err *err) MUST_CHECK;
/* What a copy is known by. */
struct journal_copy {
	uint64_t size;
	uint32_t crc;
};
/* Of what was drawn last. */
struct journal_copy journal_drawn(const struct journal *journal, const struct buf *tail);
/* Whether a copy like this was added. */
bool journal_has_copy(const struct journal *journal, const struct journal_copy *copy);
/* 0 when no cell ran yet. */
int journal_notebook_size(struct journal *journal, uint64_t *ret, struct err *err) MUST_CHECK;
int journal_read_notebook(struct journal *journal, uint64_t offset, size_t len, struct buf *out,
			  struct err *err) MUST_CHECK;

/* The language of most cells that ran, the earlier one of equals; NULL when none did. Static. */
const char *journal_language(const struct journal *journal);
/* The script for `language`: cells of others are comments in it. */
uint64_t journal_script_size(const struct journal *journal, const char *language);
int journal_read_script(const struct journal *journal, const char *language, uint64_t offset,
			size_t len, struct buf *out, struct err *err) MUST_CHECK;

#endif
