/* SPDX-License-Identifier: MIT */
/*
 * panel.c - a terminal with margins: wrapping, a scrolling region, insertion and deletion. It is
 * separate from screen.c, which shows a log without margins; both share escape.c and grid.c. Each
 * row is a grid of its own, so scrolling moves pointers and copies no text.
 */
#include "text/panel.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/escape.h"
#include "text/grid.h"
#include "text/screen.h"
#include "text/utf8.h"

enum {
	ROWS = SCREEN_ROWS,
	COLUMNS = SCREEN_COLUMNS,
	TAB_WIDTH = 8,
	MARKS_MAX = 1 << 12, /* of a row: only an attack uses more, and these are dropped */
};

struct panel {
	struct grid rows[ROWS]; /* each has one line, so that rows move without being copied */
	struct escape escape;
	struct utf8_decoder utf8;
	size_t row;
	size_t col;    /* COLUMNS: the next character begins a line */
	size_t top;    /* first row of the scrolling region */
	size_t bottom; /* its last row */
	size_t saved_row;
	size_t saved_col;
	uint32_t last; /* the last character, for repeating it */
	bool on;
};

struct panel *panel_new(void)
{
	struct panel *panel = xcalloc(1, sizeof(*panel));

	panel->bottom = ROWS - 1;
	return panel;
}

static void clear_rows(struct panel *p, size_t from, size_t to)
{
	for (size_t row = from; row < to; row++)
		grid_release(&p->rows[row]);
}

void panel_free(struct panel *panel)
{
	if (panel == NULL)
		return;
	clear_rows(panel, 0, ROWS);
	free(panel);
}

static void move_to(struct panel *p, size_t row, size_t col)
{
	p->row = size_min(row, ROWS - 1);
	p->col = size_min(col, COLUMNS - 1);
}

static size_t down_by(size_t value, size_t by)
{
	return value - size_min(value, by);
}

/* Moves rows from `first` to the end of the region up by `count`; empty rows follow. */
static void scroll_up(struct panel *p, size_t first, size_t count)
{
	size_t all = p->bottom + 1 - first;
	size_t gone = size_min(count, all);

	clear_rows(p, first, first + gone);
	memmove(&p->rows[first], &p->rows[first + gone], (all - gone) * sizeof(p->rows[0]));
	memset(&p->rows[first + all - gone], 0, gone * sizeof(p->rows[0]));
}

static void scroll_down(struct panel *p, size_t first, size_t count)
{
	size_t all = p->bottom + 1 - first;
	size_t gone = size_min(count, all);

	clear_rows(p, first + all - gone, first + all);
	memmove(&p->rows[first + gone], &p->rows[first], (all - gone) * sizeof(p->rows[0]));
	memset(&p->rows[first], 0, gone * sizeof(p->rows[0]));
}

static void next_row(struct panel *p)
{
	if (p->row == p->bottom)
		scroll_up(p, p->top, 1);
	else
		p->row = size_min(p->row + 1, ROWS - 1);
}

static void previous_row(struct panel *p)
{
	if (p->row == p->top)
		scroll_down(p, p->top, 1);
	else
		p->row = down_by(p->row, 1);
}

static void put_character(struct panel *p, uint32_t cp)
{
	struct grid *row;

	if (p->escape.drawing)
		cp = escape_drawn(cp);
	if (p->col >= COLUMNS) {
		p->col = 0;
		next_row(p);
	}
	row = &p->rows[p->row];
	if (row->mark_count > MARKS_MAX)
		grid_release(row);
	p->col += grid_put(row, 0, p->col, cp);
	p->last = cp;
}

static void repeat(struct panel *p, size_t count)
{
	for (size_t i = size_min(count, (size_t)ROWS * COLUMNS); i > 0 && p->last != 0; i--)
		put_character(p, p->last);
}

static void erase_display(struct panel *p, uint32_t mode)
{
	if (mode == 0) {
		grid_erase(&p->rows[p->row], 0, p->col, SIZE_MAX);
		clear_rows(p, p->row + 1, ROWS);
	} else if (mode == 1) {
		clear_rows(p, 0, p->row);
		grid_erase(&p->rows[p->row], 0, 0, p->col + 1);
	} else if (mode == 2) {
		clear_rows(p, 0, ROWS);
	}
}

static void erase_line(struct panel *p, uint32_t mode)
{
	grid_erase(&p->rows[p->row], 0, mode == 0 ? p->col : 0, mode == 1 ? p->col + 1 : SIZE_MAX);
}

static void enter_panel(struct panel *p, bool on)
{
	if (on && !p->on) {
		clear_rows(p, 0, ROWS);
		p->top = 0;
		p->bottom = ROWS - 1;
		move_to(p, 0, 0);
	}
	p->on = on;
}

static void set_modes(struct panel *p)
{
	const struct escape *e = &p->escape;

	if (e->final != 'h' && e->final != 'l')
		return;
	for (size_t i = 0; i < ESCAPE_PARAMS && i < e->param_count; i++) {
		if (e->params[i] == 47 || e->params[i] == 1047 || e->params[i] == 1049)
			enter_panel(p, e->final == 'h');
	}
}

static void set_region(struct panel *p)
{
	size_t top = escape_param(&p->escape, 0, 1) - 1U;
	size_t bottom = size_min(escape_param(&p->escape, 1, ROWS), ROWS) - 1;

	if (top >= bottom)
		return;
	p->top = top;
	p->bottom = bottom;
	move_to(p, 0, 0);
}

static void move_cursor(struct panel *p, size_t n)
{
	size_t col = size_min(p->col, COLUMNS - 1);

	switch (p->escape.final) {
	case 'A':
		move_to(p, down_by(p->row, n), col);
		break;
	case 'B':
	case 'e':
		move_to(p, p->row + n, col);
		break;
	case 'C':
	case 'a':
		move_to(p, p->row, col + n);
		break;
	case 'D':
		move_to(p, p->row, down_by(col, n));
		break;
	case 'E':
		move_to(p, p->row + n, 0);
		break;
	case 'F':
		move_to(p, down_by(p->row, n), 0);
		break;
	case 'G':
	case '`':
		move_to(p, p->row, n - 1);
		break;
	case 'H':
	case 'f':
		move_to(p, n - 1, escape_param(&p->escape, 1, 1) - 1U);
		break;
	case 'd':
		move_to(p, n - 1, col);
		break;
	default:
		break;
	}
}

/* Inserts or deletes rows at the cursor, within the region. */
static void edit_rows(struct panel *p, size_t n)
{
	bool inside = p->row >= p->top && p->row <= p->bottom;

	if (p->escape.final == 'S')
		scroll_up(p, p->top, n);
	else if (p->escape.final == 'T')
		scroll_down(p, p->top, n);
	else if (p->escape.final == 'L' && inside)
		scroll_down(p, p->row, n);
	else if (p->escape.final == 'M' && inside)
		scroll_up(p, p->row, n);
}

static void edit_line(struct panel *p, size_t n)
{
	struct grid *row = &p->rows[p->row];

	if (p->escape.final == 'P')
		grid_delete(row, 0, p->col, n);
	else if (p->escape.final == 'X')
		grid_erase(row, 0, p->col, p->col + n);
	else
		grid_insert(row, 0, p->col, size_min(n, COLUMNS));
	grid_erase(row, 0, COLUMNS, SIZE_MAX);
}

static void save_cursor(struct panel *p)
{
	p->saved_row = p->row;
	p->saved_col = p->col;
}

static void take_edit(struct panel *p)
{
	size_t n = escape_param(&p->escape, 0, 1);

	switch (p->escape.final) {
	case 'J':
		erase_display(p, escape_param(&p->escape, 0, 0));
		break;
	case 'K':
		erase_line(p, escape_param(&p->escape, 0, 0));
		break;
	case 'L':
	case 'M':
	case 'S':
	case 'T':
		edit_rows(p, n);
		break;
	case 'P':
	case 'X':
	case '@':
		edit_line(p, n);
		break;
	case 'b':
		repeat(p, n);
		break;
	case 'r':
		set_region(p);
		break;
	case 's':
		save_cursor(p);
		break;
	case 'u':
		move_to(p, p->saved_row, p->saved_col);
		break;
	default:
		move_cursor(p, n);
		break;
	}
}

static void take_command(struct panel *p)
{
	switch (p->escape.final) {
	case '7':
		save_cursor(p);
		break;
	case '8':
		move_to(p, p->saved_row, p->saved_col);
		break;
	case 'D':
		next_row(p);
		break;
	case 'E':
		p->col = 0;
		next_row(p);
		break;
	case 'M':
		previous_row(p);
		break;
	case 'c':
		enter_panel(p, false);
		break;
	default:
		break;
	}
}

static void take_control(struct panel *p, uint32_t cp)
{
	switch (cp) {
	case '\n':
	case '\v':
	case '\f':
		p->col = 0; /* as on the main screen */
		next_row(p);
		break;
	case '\r':
		p->col = 0;
		break;
	case '\b':
		move_to(p, p->row, down_by(p->col, 1));
		break;
	case '\t':
		move_to(p, p->row, (p->col / TAB_WIDTH + 1) * TAB_WIDTH);
		break;
	default:
		break;
	}
}

static void take_character(struct panel *p, int32_t decoded)
{
	uint32_t cp = (uint32_t)decoded;

	if (decoded == UTF8_MORE || !p->on)
		return;
	if (cp < ' ')
		take_control(p, cp);
	else if (cp < 0x7f || cp >= 0xa0)
		put_character(p, cp);
}

static void feed_byte(struct panel *p, unsigned char byte)
{
	int32_t first;
	int32_t second;

	switch (escape_feed(&p->escape, byte)) {
	case ESCAPE_TEXT:
		utf8_decode(&p->utf8, byte, &first, &second);
		take_character(p, first);
		take_character(p, second);
		break;
	case ESCAPE_CSI:
		if (p->escape.prefix == '?')
			set_modes(p);
		else if (p->on && p->escape.prefix == 0 && !p->escape.intermediate)
			take_edit(p);
		break;
	case ESCAPE_COMMAND:
		if (p->on)
			take_command(p);
		break;
	default:
		break;
	}
}

void panel_feed(struct panel *panel, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		feed_byte(panel, (unsigned char)data[i]);
}

void panel_text(const struct panel *panel, struct buf *out)
{
	size_t blank = 0;

	for (size_t row = 0; row < ROWS; row++) {
		cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

		grid_text(&panel->rows[row], 0, &line);
		if (line.len == 0) {
			blank++;
			continue;
		}
		for (; blank > 0; blank--)
			buf_puts(out, "\n");
		buf_put(out, line.data, line.len);
		buf_puts(out, "\n");
	}
}

size_t panel_line(const struct panel *panel)
{
	return panel->row + 1;
}

size_t panel_column(const struct panel *panel)
{
	return size_min(panel->col, COLUMNS - 1) + 1;
}
