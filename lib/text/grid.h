/* SPDX-License-Identifier: MIT */
/*
 * grid.h - the lines of a screen: what stands in which column.
 *
 * A character is one or two columns wide (uniwidth.h); combining marks join the character
 * before them. Rows and columns count from 0. Writing makes the line and the blanks before the
 * place when they are missing. Rows that are not there read as empty.
 */
#ifndef TEXT_GRID_H
#define TEXT_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct grid_line;
struct grid_mark;

enum {
	GRID_MARKS_PER_CELL = 15, /* further ones are dropped, invisible ones take a column */
	GRID_MARKS_MAX = 1 << 18, /* of a grid; likewise */
	GRID_LINE_COST = 4,       /* a line takes as much memory as this many cells */
};

/* Zero-initialised. */
struct grid {
	struct grid_line *lines;
	size_t count;
	size_t cap;
	size_t cost; /* memory in cells */
	struct grid_mark *marks;
	uint32_t mark_count;
	uint32_t mark_cap;
};

/* The grid is empty and reusable afterwards. */
void grid_release(struct grid *grid);
/* Makes row `row` and all before it. */
void grid_reach(struct grid *grid, size_t row);
size_t grid_width(const struct grid *grid, size_t row);
/* What dropping the row, which is there, takes off `cost`. */
size_t grid_row_cost(const struct grid *grid, size_t row);
/* Printable ASCII only. */
void grid_put_ascii(struct grid *grid, size_t row, size_t col, const char *s, size_t len);
/* Returns the columns taken: 0 for a mark that joined the character before. */
size_t grid_put(struct grid *grid, size_t row, size_t col, uint32_t cp);
/* Blanks in columns [from, to); nothing stays after them when the line ends there. */
void grid_erase(struct grid *grid, size_t row, size_t from, size_t to);
/* What stands right of it moves left over `count` deleted columns, or right of as many blanks. */
void grid_delete(struct grid *grid, size_t row, size_t col, size_t count);
void grid_insert(struct grid *grid, size_t row, size_t col, size_t count);
/* Rows [0, count) or [count, end) go away. */
void grid_drop_top(struct grid *grid, size_t count);
void grid_drop_bottom(struct grid *grid, size_t count);
/* Appends the row as clean text without trailing blanks or a line break. */
void grid_text(const struct grid *grid, size_t row, struct buf *out);

#endif
