/* SPDX-License-Identifier: MIT */
/*
 * screen.c - replays the bytes of a terminal into lines. Progress bars overwrite their line
 * thousands of times, so the last state of each line is the text that a reader wants. A page begins
 * where the screen was cleared; rows above it cannot be reached any more.
 */
#include "text/screen.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "text/escape.h"
#include "text/grid.h"
#include "text/utf8.h"

enum { TAB_WIDTH = 8, ANSWERS_MAX = 256 };

static const char alternate_note[] = "[a full-screen program ran; its screen is left out]";

struct screen {
	struct grid grid;
	struct escape escape;
	struct utf8_decoder utf8;
	size_t row;
	size_t col;
	size_t home;      /* the page's first row */
	size_t page;      /* where the last clear began a page */
	size_t saved_row; /* below home */
	size_t saved_col;
	size_t lost; /* lines dropped from the top */
	size_t note; /* the row after the last alternate-screen note */
	bool alternate;
	bool drawn;         /* since it became so, something was written there */
	bool cleared;       /* `page` is valid */
	bool written;       /* a character was written */
	size_t blank_feeds; /* line feeds before that */
	struct buf answers;
};

struct screen *screen_new(void)
{
	struct screen *screen = xcalloc(1, sizeof(*screen));

	buf_init(&screen->answers, ANSWERS_MAX);
	return screen;
}

void screen_free(struct screen *screen)
{
	if (screen == NULL)
		return;
	grid_release(&screen->grid);
	buf_release(&screen->answers);
	free(screen);
}

bool screen_is_alternate(const struct screen *screen)
{
	return screen->alternate;
}

void screen_set_alternate(struct screen *screen, bool alternate)
{
	screen->alternate = alternate;
	screen->drawn = alternate;
}

static size_t down_by(size_t value, size_t by)
{
	return value - size_min(value, by);
}

/* Frees a quarter of the memory: the oldest lines, else those below the cursor. */
static void drop_lines(struct screen *s)
{
	size_t goal = (size_t)SCREEN_CELLS_MAX / 4 * 3;
	size_t above = size_min(s->row, s->grid.count);
	size_t drop = 0;

	for (size_t cost = s->grid.cost; drop < above && cost > goal; drop++)
		cost -= grid_row_cost(&s->grid, drop);
	grid_drop_top(&s->grid, drop);
	s->lost += drop;
	s->row -= drop;
	s->home = down_by(s->home, drop);
	s->page = down_by(s->page, drop);
	s->note = down_by(s->note, drop);
	if (s->grid.cost > SCREEN_CELLS_MAX)
		grid_drop_bottom(&s->grid, s->row + 1);
}

static inline void drop_if_full(struct screen *s)
{
	if (s->grid.cost > SCREEN_CELLS_MAX)
		drop_lines(s);
}

static void line_feed(struct screen *s)
{
	s->blank_feeds += s->written ? 0 : 1;
	s->row++;
	s->col = 0;
	grid_reach(&s->grid, s->row);
	if (s->row - s->home >= SCREEN_ROWS)
		s->home = s->row - SCREEN_ROWS + 1;
	drop_if_full(s);
}

static void put_character(struct screen *s, uint32_t cp)
{
	s->written = true;
	if (s->col >= SCREEN_COLUMNS_MAX)
		line_feed(s);
	s->col += grid_put(&s->grid, s->row, s->col, cp);
	drop_if_full(s);
}

static void put_ascii(struct screen *s, const char *text, size_t len)
{
	s->written = true;
	if (s->escape.drawing) {
		for (size_t i = 0; i < len; i++)
			put_character(s, escape_drawn((unsigned char)text[i]));
		return;
	}
	while (len > 0) {
		size_t run;

		if (s->col >= SCREEN_COLUMNS_MAX)
			line_feed(s);
		run = size_min(len, SCREEN_COLUMNS_MAX - s->col);
		grid_put_ascii(&s->grid, s->row, s->col, text, run);
		s->col += run;
		text += run;
		len -= run;
		drop_if_full(s);
	}
}

static void move_to_column(struct screen *s, size_t col)
{
	size_t width = grid_width(&s->grid, s->row);

	s->col = size_min(col, width > SCREEN_CURSOR_COLUMNS ? width : SCREEN_CURSOR_COLUMNS);
}

/* Moves to `row`, counted from the page's first one. Rows below the page do not exist. */
static void move_to_row(struct screen *s, size_t row)
{
	s->row = s->home + size_min(row, SCREEN_ROWS - 1);
}

static void move_up(struct screen *s, size_t rows)
{
	move_to_row(s, down_by(s->row - s->home, rows));
}

static void new_page(struct screen *s)
{
	if (s->cleared && s->home == s->page)
		grid_drop_bottom(&s->grid, s->page);
	s->home = s->grid.count;
	if (s->home > 0 && grid_width(&s->grid, s->home - 1) == 0)
		s->home--;
	s->page = s->home;
	s->cleared = true;
	s->row = s->home;
	s->col = 0;
	grid_reach(&s->grid, s->row);
}

static void erase_display(struct screen *s, uint32_t mode)
{
	switch (mode) {
	case 0:
		grid_erase(&s->grid, s->row, s->col, SIZE_MAX);
		grid_drop_bottom(&s->grid, s->row + 1);
		break;
	case 1:
		for (size_t row = s->home; row < s->row; row++)
			grid_erase(&s->grid, row, 0, SIZE_MAX);
		grid_erase(&s->grid, s->row, 0, s->col + 1);
		break;
	case 2:
		new_page(s);
		break;
	default:
		break; /* 3 empties the scrollback, which is the text that readers want */
	}
}

static void erase_line(struct screen *s, uint32_t mode)
{
	size_t from = mode == 0 ? s->col : 0;
	size_t to = mode == 1 ? s->col + 1 : SIZE_MAX;

	grid_erase(&s->grid, s->row, from, to);
}

static void enter_alternate(struct screen *s, bool on)
{
	if (on && !s->alternate)
		s->drawn = false;
	s->alternate = on;
}

/* Notes the first text on the alternate screen: dialog enters that, and draws on the main one. */
static void note_alternate(struct screen *s)
{
	if (s->drawn)
		return;
	s->drawn = true;
	if (grid_width(&s->grid, s->row) > 0)
		line_feed(s);
	if (s->note == 0 || s->note != s->row) {
		put_ascii(s, alternate_note, sizeof(alternate_note) - 1);
		line_feed(s);
		s->note = s->row;
	}
}

static void set_modes(struct screen *s, const struct escape *e)
{
	if (e->final != 'h' && e->final != 'l')
		return;
	for (size_t i = 0; i < ESCAPE_PARAMS && i < e->param_count; i++) {
		if (e->params[i] == 47 || e->params[i] == 1047 || e->params[i] == 1049)
			enter_alternate(s, e->final == 'h');
	}
}

static void put_answer(struct screen *s, const char *text)
{
	struct err err;

	/* No room: a flood of queries, whose program does not wait for so many answers. */
	if (buf_add_str(&s->answers, text, &err) < 0)
		return;
}

static void answer_position(struct screen *s)
{
	char text[32];

	/* Programs move far right and query the position to learn the width. */
	(void)snprintf(text, sizeof(text), "\033[%zu;%zuR", s->row - s->home + 1,
		       size_min(s->col + 1, SCREEN_COLUMNS));
	put_answer(s, text);
}

static void answer_query(struct screen *s, const struct escape *e)
{
	uint32_t what = escape_param(e, 0, 0);

	if (e->param_count > 1)
		return;
	if (e->final == 'c' && e->prefix == 0 && what == 0)
		put_answer(s, "\033[?1;2c");
	else if (e->final == 'c' && e->prefix == '>' && what == 0)
		put_answer(s, "\033[>0;0;0c");
	else if (e->final == 'n' && e->prefix == 0 && what == 5)
		put_answer(s, "\033[0n");
	else if (e->final == 'n' && e->prefix == 0 && what == 6)
		answer_position(s);
}

static void save_cursor(struct screen *s)
{
	s->saved_row = s->row - s->home;
	s->saved_col = s->col;
}

static void restore_cursor(struct screen *s)
{
	move_to_row(s, s->saved_row);
	move_to_column(s, s->saved_col);
}

static void move_cursor(struct screen *s, const struct escape *e)
{
	size_t n = escape_param(e, 0, 1);

	switch (e->final) {
	case 'A':
		move_up(s, n);
		break;
	case 'B':
	case 'e':
		move_to_row(s, s->row - s->home + n);
		break;
	case 'C':
	case 'a':
		move_to_column(s, s->col + n);
		break;
	case 'D':
		s->col = down_by(s->col, n);
		break;
	case 'E':
		move_to_row(s, s->row - s->home + n);
		s->col = 0;
		break;
	case 'F':
		move_up(s, n);
		s->col = 0;
		break;
	case 'G':
	case '`':
		move_to_column(s, n - 1);
		break;
	case 'H':
	case 'f':
		move_to_row(s, n - 1);
		move_to_column(s, escape_param(e, 1, 1) - 1U);
		break;
	case 'd':
		move_to_row(s, n - 1);
		break;
	default:
		break;
	}
}

static void edit_line(struct screen *s, const struct escape *e)
{
	size_t n = escape_param(e, 0, 1);

	switch (e->final) {
	case 'J':
		erase_display(s, escape_param(e, 0, 0));
		break;
	case 'K':
		erase_line(s, escape_param(e, 0, 0));
		break;
	case 'P':
		grid_delete(&s->grid, s->row, s->col, n);
		break;
	case 'X':
		grid_erase(&s->grid, s->row, s->col, s->col + n);
		break;
	case '@':
		grid_insert(&s->grid, s->row, s->col, size_min(n, SCREEN_CURSOR_COLUMNS));
		drop_if_full(s);
		break;
	case 's':
		save_cursor(s);
		break;
	case 'u':
		restore_cursor(s);
		break;
	default:
		move_cursor(s, e);
		break;
	}
}

static void control_sequence(struct screen *s)
{
	const struct escape *e = &s->escape;

	if (e->intermediate)
		return;
	answer_query(s, e);
	if (e->prefix == '?')
		set_modes(s, e);
	else if (e->prefix == 0 && !s->alternate)
		edit_line(s, e);
}

static void take_command(struct screen *s)
{
	if (s->escape.final == 'c') {
		s->alternate = false;
		new_page(s);
	}
	if (s->alternate)
		return;
	switch (s->escape.final) {
	case '7':
		save_cursor(s);
		break;
	case '8':
		restore_cursor(s);
		break;
	case 'E':
		line_feed(s);
		break;
	case 'M':
		move_up(s, 1);
		break;
	default:
		break;
	}
}

static void take_control(struct screen *s, uint32_t cp)
{
	switch (cp) {
	case '\n':
	case '\v':
	case '\f':
		line_feed(s);
		break;
	case '\r':
		s->col = 0;
		break;
	case '\b':
		s->col = down_by(s->col, 1);
		break;
	case '\t':
		move_to_column(s, (s->col / TAB_WIDTH + 1) * TAB_WIDTH);
		break;
	default:
		break;
	}
}

static void take_character(struct screen *s, int32_t decoded)
{
	uint32_t cp = (uint32_t)decoded;

	if (decoded == UTF8_MORE)
		return;
	if (s->alternate) {
		if (cp >= ' ')
			note_alternate(s);
		return;
	}
	if (cp < ' ')
		take_control(s, cp);
	else if (cp == 0x85 || cp == 0x2028 || cp == 0x2029) /* line breaks for sanitize.h too */
		line_feed(s);
	else if (cp < 0x7f || cp >= 0xa0)
		put_character(s, cp);
}

static void feed_text(struct screen *s, unsigned char byte)
{
	int32_t first;
	int32_t second;

	utf8_decode(&s->utf8, byte, &first, &second);
	take_character(s, first);
	if (second != UTF8_MORE)
		take_character(s, second);
}

static void feed_escape(struct screen *s, unsigned char byte)
{
	enum escape_step step = escape_feed(&s->escape, byte);

	if (step == ESCAPE_TEXT) {
		feed_text(s, byte);
		return;
	}
	if (utf8_decode_end(&s->utf8))
		take_character(s, UTF8_REPLACEMENT);
	if (step == ESCAPE_CSI)
		control_sequence(s);
	else if (step == ESCAPE_COMMAND)
		take_command(s);
}

static size_t printable_run(const char *data, size_t len)
{
	size_t run = 0;

	while (run < len && (unsigned char)(data[run] - ' ') < 0x7f - ' ')
		run++;
	return run;
}

/* Returns how many bytes it took: printable ones in one go, since these are nearly all. */
static size_t feed_idle(struct screen *s, const char *data, size_t len)
{
	size_t run = s->utf8.missing == 0 ? printable_run(data, len) : 0;

	if (run == 0) {
		feed_text(s, (unsigned char)*data);
		return 1;
	}
	if (s->alternate)
		note_alternate(s);
	else
		put_ascii(s, data, run);
	return run;
}

void screen_feed(struct screen *s, const char *data, size_t len)
{
	while (len > 0) {
		size_t taken = 1;

		if (escape_idle(&s->escape) && *data != ESCAPE_BYTE)
			taken = feed_idle(s, data, len);
		else
			feed_escape(s, (unsigned char)*data);
		data += taken;
		len -= taken;
	}
}

void screen_take_answers(struct screen *screen, struct buf *out)
{
	buf_put(out, buf_str(&screen->answers), screen->answers.len);
	buf_clear(&screen->answers);
}

/* Skips blank rows at the top that the cursor only passed. */
static size_t first_row(const struct screen *s)
{
	size_t blank = 0;

	while (blank + 1 < s->grid.count && grid_width(&s->grid, blank) == 0)
		blank++;
	return down_by(blank, s->blank_feeds);
}

/*
 * Returns the end of the text. While a full-screen program has the screen, panel.h shows it, and no
 * note is added.
 */
static size_t end_row(const struct screen *s)
{
	bool noted = s->alternate && s->note > 0 && s->note == s->row;

	return noted ? s->note - 1 : s->grid.count;
}

void screen_text(const struct screen *s, struct buf *out)
{
	size_t first = first_row(s);
	size_t end = end_row(s);

	if (s->lost > 0)
		buf_putf(out, "[... %zu earlier lines left out ...]\n", s->lost);
	for (size_t row = first; row < end; row++) {
		if (row > first)
			buf_puts(out, "\n");
		grid_text(&s->grid, row, out);
	}
	if (s->utf8.missing > 0 && !s->alternate)
		buf_puts(out, "\xef\xbf\xbd");
}

/* Moves the cursor to the place from the last row. */
static void retell_cursor(const struct screen *s, size_t row, size_t col, struct buf *out)
{
	if (row + 1 < s->grid.count)
		buf_putf(out, "\033[%zuA", s->grid.count - 1 - row);
	else if (row + 1 > s->grid.count)
		buf_putf(out, "\033[%zuB", row + 1 - s->grid.count);
	buf_putf(out, "\033[%zuG", col + 1);
}

bool screen_retell(const struct screen *s, struct buf *out)
{
	size_t first = first_row(s);
	bool has_page = s->cleared && s->home == s->page;
	size_t from = out->len;

	if (s->alternate || s->lost > 0 || s->saved_row > 0 || s->saved_col > 0)
		return false;
	for (size_t row = first; row < s->grid.count; row++) {
		if (row > first)
			buf_puts(out, "\n");
		if (has_page && row == (s->page > first ? s->page : first))
			buf_puts(out, "\033[2J");
		grid_text(&s->grid, row, out);
	}
	/* An invisible character takes one column here and is shown in more. */
	if (memmem(buf_str(out) + from, out->len - from, "<U+", 3) != NULL)
		return false;
	retell_cursor(s, s->row, s->col, out);
	if (s->escape.drawing)
		buf_puts(out, "\033(0");
	return true;
}

void screen_last_line(const struct screen *s, struct buf *out)
{
	if (!s->alternate)
		grid_text(&s->grid, s->row, out);
}
