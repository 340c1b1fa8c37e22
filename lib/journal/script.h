/* SPDX-License-Identifier: MIT */
/*
 * script.h - renders cells as one script, in the cell format of editors.
 *
 *   # %% cell 3
 *   the code, with calls in place of magics
 *
 *   # %% cell 4, bash, raised
 *   # code of another language, as comments
 *
 *   # %% cell 5, raised, left out: it does not run
 *   # code that does not parse, or that ended the interpreter
 *
 * The length of every piece is known before it is written, so that a range of the script can be
 * read without the rest.
 */
#ifndef JOURNAL_SCRIPT_H
#define JOURNAL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct script_cell {
	uint64_t number;
	const char *language;
	const char *state;
	size_t code_len;
	size_t runs_len; /* of the code as it runs: with calls in place of magics (magics.h) */
	size_t lines;
	bool nul;    /* it has a NUL, which Python does not parse */
	bool open;   /* its last line has no line end */
	bool broken; /* its code does not parse, or ended the interpreter: it becomes a comment */
};

/*
 * Sets the lengths of a cell whose language and code_len are set. Each line end of any of the
 * languages counts, also a carriage return and U+2028: a comment must not end before its line does.
 */
void script_measure(struct script_cell *cell, const char *code);
/*
 * Returns true if a cell that ended so would keep the script from running to the next cell. Its
 * number, language and state are set. `error_name` and `text`, what it printed, may be NULL.
 */
bool script_is_broken(const struct script_cell *cell, const char *error_name, const char *text);
/* Returns how many bytes script_write() appends. */
size_t script_size(const struct script_cell *cell, const char *language);
/* Appends the cell. `code` has cell->code_len bytes. */
void script_write(struct buf *out, const struct script_cell *cell, const char *language,
		  const char *code);
/* Appends a note about the cells that are left out, if there are any. */
void script_tail(struct buf *out, const char *language, uint64_t left_out);

#endif
