/* SPDX-License-Identifier: MIT */
/*
 * script.h - cells as one script, in the cell form that editors know.
 *
 *   # %% cell 3
 *   the code
 *
 *   # %% cell 4, bash, raised
 *   # code of another language, as comments
 *
 * Every piece's length is known before it is written, so that a part of a script can be read
 * without the rest.
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
	size_t lines; /* script_lines() of the code */
	bool open;    /* its last line has no end */
};

/*
 * How many lines the code has; whatever ends a line in one of the languages counts, a carriage
 * return or U+2028 too: no comment may end before its line does. `ret_open` as above.
 */
size_t script_lines(const char *code, size_t len, bool *ret_open);
/* What script_write() appends, in bytes. */
size_t script_size(const struct script_cell *cell, const char *language);
/* `code` has cell->code_len bytes. */
void script_write(struct buf *out, const struct script_cell *cell, const char *language,
		  const char *code);
/* Appends how many cells are not in it, when there are any. */
void script_tail(struct buf *out, const char *language, uint64_t left_out);

#endif
