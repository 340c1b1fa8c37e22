/* SPDX-License-Identifier: MIT */
/*
 * grid.c - lines of cells, four bytes each. A combining mark is a node of a linked list that a cell
 * points to, because nearly no cell has one. Piles of marks are bounded: text may stack thousands
 * on one letter to fill memory ("Zalgo").
 */
#include "text/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <uniwidth.h>

#include "base/mem.h"
#include "text/invisible.h"
#include "text/utf8.h"

enum { FIRST_CAP = 16, FIRST_LINES = 64, FIRST_MARKS = 64 };

/*
 * A cell is a code point, CELL_TAIL for the right half of a wide character, or CELL_MARKED plus the
 * index of the last mark on it.
 */
#define CELL_TAIL 0x110000U
#define CELL_MARKED 0x80000000U

struct grid_line {
	uint32_t *cells;
	uint32_t len;
	uint32_t cap;
};

struct grid_mark {
	uint32_t cp;
	uint32_t below; /* the cell's value before this mark was added */
	uint32_t depth; /* marks below this one */
};

static void row_release(struct grid *grid, size_t row)
{
	grid->cost -= grid_row_cost(grid, row);
	free(grid->lines[row].cells);
}

void grid_release(struct grid *grid)
{
	grid_drop_bottom(grid, 0);
	free(grid->lines);
	free(grid->marks);
	*grid = (struct grid){ 0 };
}

void grid_reach(struct grid *grid, size_t row)
{
	if (row < grid->count)
		return;
	if (row >= grid->cap) {
		size_t cap = grid->cap > 0 ? grid->cap : FIRST_LINES;

		while (cap <= row)
			cap *= 2;
		grid->lines = xrealloc(grid->lines, cap * sizeof(*grid->lines));
		grid->cap = cap;
	}
	memset(grid->lines + grid->count, 0, (row + 1 - grid->count) * sizeof(*grid->lines));
	grid->cost += (row + 1 - grid->count) * GRID_LINE_COST;
	grid->count = row + 1;
}

size_t grid_width(const struct grid *grid, size_t row)
{
	return row < grid->count ? grid->lines[row].len : 0;
}

size_t grid_row_cost(const struct grid *grid, size_t row)
{
	return grid->lines[row].cap + (size_t)GRID_LINE_COST;
}

/* Returns the line with memory for `width` columns and without a gap before column `col`. */
static struct grid_line *line_open(struct grid *grid, size_t row, size_t col, size_t width)
{
	struct grid_line *line;

	grid_reach(grid, row);
	line = &grid->lines[row];
	if (width > line->cap) {
		size_t cap = line->cap > 0 ? line->cap : FIRST_CAP;

		while (cap < width)
			cap *= 2;
		assert(cap <= UINT32_MAX);
		line->cells = xrealloc(line->cells, cap * sizeof(*line->cells));
		grid->cost += cap - line->cap;
		line->cap = (uint32_t)cap;
	}
	while (line->len < col)
		line->cells[line->len++] = ' ';
	return line;
}

/* Prepares a border left of `col`: a wide character across it becomes blanks. */
static void split_at(struct grid_line *line, size_t col)
{
	if (col >= line->len || line->cells[col] != CELL_TAIL)
		return;
	line->cells[col] = ' ';
	if (col > 0)
		line->cells[col - 1] = ' ';
}

void grid_put_ascii(struct grid *grid, size_t row, size_t col, const char *s, size_t len)
{
	struct grid_line *line = line_open(grid, row, col, col + len);
	uint32_t *cells = line->cells + col;

	split_at(line, col);
	split_at(line, col + len);
	for (size_t i = 0; i < len; i++)
		cells[i] = (unsigned char)s[i];
	if (col + len > line->len)
		line->len = (uint32_t)(col + len);
}

/* Returns false if there is no room for the mark. */
static bool mark_add(struct grid *grid, uint32_t cp, uint32_t *cell)
{
	uint32_t depth = 0;

	if ((*cell & CELL_MARKED) != 0)
		depth = grid->marks[*cell & ~CELL_MARKED].depth + 1;
	if (depth >= GRID_MARKS_PER_CELL || grid->mark_count >= GRID_MARKS_MAX)
		return false;
	if (grid->mark_count == grid->mark_cap) {
		grid->mark_cap = grid->mark_cap > 0 ? grid->mark_cap * 2 : FIRST_MARKS;
		grid->marks = xrealloc(grid->marks, grid->mark_cap * sizeof(*grid->marks));
	}
	grid->marks[grid->mark_count] = (struct grid_mark){ cp, *cell, depth };
	*cell = CELL_MARKED | grid->mark_count++;
	return true;
}

/*
 * Returns false if there is no character that the mark could join. One mark too many is dropped,
 * because such piles show nothing more. An invisible character is no mark, and none of it may be
 * lost.
 */
static bool join_mark(struct grid *grid, size_t row, size_t col, uint32_t cp)
{
	struct grid_line *line;

	if (col == 0 || col > grid_width(grid, row))
		return false;
	line = &grid->lines[row];
	col--;
	if (line->cells[col] == CELL_TAIL && col > 0)
		col--;
	return mark_add(grid, cp, &line->cells[col]) || !invisible_hides(cp);
}

static size_t char_width(uint32_t cp)
{
	int width;

	/* The most common characters need no lookup in the library's tables. */
	if (cp < 0x300 || (cp >= 0x2500 && cp < 0x25a0) || cp == UTF8_REPLACEMENT)
		return 1;
	if (cp >= 0x4e00 && cp <= 0x9fff)
		return 2;
	width = uc_width(cp, "UTF-8");
	return width >= 0 ? (size_t)width : 1;
}

size_t grid_put(struct grid *grid, size_t row, size_t col, uint32_t cp)
{
	size_t width = char_width(cp);
	struct grid_line *line;

	if (width == 0) {
		if (join_mark(grid, row, col, cp))
			return 0;
		width = 1;
	}
	line = line_open(grid, row, col, col + width);
	split_at(line, col);
	split_at(line, col + width);
	line->cells[col] = cp;
	if (width == 2)
		line->cells[col + 1] = CELL_TAIL;
	if (col + width > line->len)
		line->len = (uint32_t)(col + width);
	return width;
}

void grid_erase(struct grid *grid, size_t row, size_t from, size_t to)
{
	struct grid_line *line;

	if (from >= grid_width(grid, row))
		return;
	line = &grid->lines[row];
	split_at(line, from);
	if (to >= line->len) {
		line->len = (uint32_t)from;
		return;
	}
	split_at(line, to);
	for (size_t col = from; col < to; col++)
		line->cells[col] = ' ';
}

void grid_delete(struct grid *grid, size_t row, size_t col, size_t count)
{
	struct grid_line *line;

	if (col >= grid_width(grid, row))
		return;
	line = &grid->lines[row];
	count = size_min(count, line->len - col);
	split_at(line, col);
	split_at(line, col + count);
	memmove(line->cells + col, line->cells + col + count,
		(line->len - col - count) * sizeof(*line->cells));
	line->len -= (uint32_t)count;
}

void grid_insert(struct grid *grid, size_t row, size_t col, size_t count)
{
	struct grid_line *line;
	size_t width = grid_width(grid, row);

	if (col >= width)
		return;
	line = line_open(grid, row, col, width + count);
	split_at(line, col);
	memmove(line->cells + col + count, line->cells + col, (width - col) * sizeof(*line->cells));
	for (size_t i = col; i < col + count; i++)
		line->cells[i] = ' ';
	line->len = (uint32_t)(width + count);
}

void grid_drop_top(struct grid *grid, size_t count)
{
	assert(count <= grid->count);
	for (size_t row = 0; row < count; row++)
		row_release(grid, row);
	if (count > 0)
		memmove(grid->lines, grid->lines + count,
			(grid->count - count) * sizeof(*grid->lines));
	grid->count -= count;
}

void grid_drop_bottom(struct grid *grid, size_t count)
{
	while (grid->count > count)
		row_release(grid, --grid->count);
}

/* Collects output, because appending single characters would cost a call each. */
struct writer {
	struct buf *out;
	struct invisible filter;
	size_t used;
	char chunk[512];
};

static void flush_writer(struct writer *w)
{
	buf_put(w->out, w->chunk, w->used);
	w->used = 0;
}

static void write_char(struct writer *w, uint32_t cp)
{
	uint32_t shown[INVISIBLE_OUT_MAX];
	size_t count = invisible_next(&w->filter, cp, shown);

	if (w->used + sizeof(shown) > sizeof(w->chunk))
		flush_writer(w);
	for (size_t i = 0; i < count; i++)
		w->used += utf8_encode(shown[i], w->chunk + w->used);
}

static void write_marked(const struct grid *grid, uint32_t cell, struct writer *w)
{
	uint32_t marks[GRID_MARKS_PER_CELL];
	size_t count = 0;

	while ((cell & CELL_MARKED) != 0) {
		const struct grid_mark *mark = &grid->marks[cell & ~CELL_MARKED];

		marks[count++] = mark->cp;
		cell = mark->below;
	}
	write_char(w, cell);
	while (count > 0)
		write_char(w, marks[--count]);
}

/* Copies the ASCII characters that `cells` begins with, as many as fit. */
static size_t write_ascii(struct writer *w, const uint32_t *cells, size_t len)
{
	size_t run = 0;

	if (w->used == sizeof(w->chunk))
		flush_writer(w);
	len = size_min(len, sizeof(w->chunk) - w->used);
	while (run < len && cells[run] < 0x80) {
		w->chunk[w->used + run] = (char)cells[run];
		run++;
	}
	if (run > 0)
		w->filter = (struct invisible){ .previous = cells[run - 1] };
	w->used += run;
	return run;
}

void grid_text(const struct grid *grid, size_t row, struct buf *out)
{
	struct writer w;
	const uint32_t *cells;
	size_t len = grid_width(grid, row);

	if (len == 0)
		return;
	w.out = out;
	w.filter = (struct invisible){ 0 };
	w.used = 0;
	cells = grid->lines[row].cells;
	while (len > 0 && cells[len - 1] == ' ')
		len--;
	for (size_t col = 0; col < len;) {
		size_t run = write_ascii(&w, cells + col, len - col);

		col += run;
		if (run > 0)
			continue;
		if ((cells[col] & CELL_MARKED) != 0)
			write_marked(grid, cells[col], &w);
		else if (cells[col] != CELL_TAIL)
			write_char(&w, cells[col]);
		col++;
	}
	flush_writer(&w);
}
