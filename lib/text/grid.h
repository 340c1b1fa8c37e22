/* SPDX-License-Identifier: MIT */
/*
 * grid.h - the lines of a screen: which column shows which character.
 *
 * A character is one or two columns wide (uniwidth.h); combining marks join the character before
 * them. Rows and columns count from 0. Writing creates missing lines, and fills missing columns
 * with blanks. Missing rows read as empty.
 */
#ifndef TEXT_GRID_H
#define TEXT_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct grid_line;
struct grid_mark;

enum {
	GRID_MARKS_PER_CELL = 15, /* further ones are dropped; invisible ones take a column */
	GRID_MARKS_MAX = 1 << 18, /* of a grid; further ones are dropped too */
	GRID_LINE_COST = 4,       /* a line takes as much memory as this many cells */
};

/* A zeroed struct is an empty grid. */
struct grid {
	struct grid_line *lines;
	size_t count;
	size_t cap;
	size_t cost; /* memory in cells */
	struct grid_mark *marks;
	uint32_t mark_count;
	uint32_t mark_cap;
};

/* Frees the lines. The grid is empty and may be used again. */
void grid_release(struct grid *grid);
/* Creates row `row` and all rows before it. */
void grid_reach(struct grid *grid, size_t row);
size_t grid_width(const struct grid *grid, size_t row);
/* Returns by how much dropping an existing row lowers `cost`. */
size_t grid_row_cost(const struct grid *grid, size_t row);
/* Writes ASCII text, which must be printable. */
void grid_put_ascii(struct grid *grid, size_t row, size_t col, const char *s, size_t len);
/* Writes a character. Returns the columns used: 0 for a mark that joined the character before. */
size_t grid_put(struct grid *grid, size_t row, size_t col, uint32_t cp);
/* Writes blanks into columns [from, to); blanks at the line's end are dropped. */
void grid_erase(struct grid *grid, size_t row, size_t from, size_t to);
/* Delete `count` columns, or insert as many blanks; the text to the right moves. */
void grid_delete(struct grid *grid, size_t row, size_t col, size_t count);
void grid_insert(struct grid *grid, size_t row, size_t col, size_t count);
/* Remove rows [0, count), or [count, end). */
void grid_drop_top(struct grid *grid, size_t count);
void grid_drop_bottom(struct grid *grid, size_t count);
/* Appends the row as clean text without trailing blanks and without a line break. */
void grid_text(const struct grid *grid, size_t row, struct buf *out);

#endif
