/* SPDX-License-Identifier: MIT */
/*
 * terminal.c - a table is as wide as its contents; two blanks part the columns. Only its last
 * column may have characters of more than one column, as a path may.
 */
#include "terminal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum { GAP = 2, ROOM_MIN = 8 /* of the last column */ };

/* Returns whether colours are wanted: stdout is a terminal that has some, and NO_COLOR is unset. */
static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no == NULL || no[0] == '\0') && term != NULL &&
	       !str_eq(term, "dumb");
}

/* Returns the width of the terminal, or 0 where stdout is none. */
static size_t screen_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

void terminal_print(enum terminal_colour colour, const char *text)
{
	static const char *const codes[] = { "", "1", "2", "31", "32", "33", "36" };

	if (colour == TERMINAL_PLAIN || !has_colours())
		(void)fputs(text, stdout);
	else
		printf("\033[%sm%s\033[0m", codes[colour], text);
}

void terminal_add(struct table_view *table, enum terminal_colour colour, const char *text)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&line, text, strlen(text), PATH_MAX);
	table->cells = xrealloc(table->cells, (table->cell_count + 1) * sizeof(*table->cells));
	table->cells[table->cell_count++] =
		(struct view_cell){ .text = buf_steal(&line), .colour = colour };
}

static size_t chars(const char *text)
{
	return utf8_count(text, strlen(text));
}

/* Returns the width of a column: that of its longest cell. */
static size_t width_of(const struct table_view *table, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->cell_count; i += table->count)
		if (chars(table->cells[i].text) > width)
			width = chars(table->cells[i].text);
	return width;
}

/*
 * Prints the last cell of a row, cut to `room` characters; 0: there is room for all. Of a path the
 * end is left, by which folders differ.
 */
static void print_last(const struct view_cell *cell, size_t room)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
	bool is_path = cell->text[0] == '/' || cell->text[0] == '~';
	size_t len = strlen(cell->text);
	size_t count = chars(cell->text);

	if (room == 0)
		room = PATH_MAX;
	if (is_path && count > room)
		buf_putf(&line, "...%s",
			 cell->text + utf8_offset(cell->text, len, count - (room - 3)));
	else
		sanitize_line(&line, cell->text, len, room);
	terminal_print(cell->colour, buf_str(&line));
	(void)putchar('\n');
}

static void print_padded(const struct view_cell *cell, size_t width)
{
	terminal_print(cell->colour, cell->text);
	printf("%*s", (int)(width - chars(cell->text) + GAP), "");
}

void terminal_print_table(struct table_view *table)
{
	size_t widths[TERMINAL_COLUMNS_MAX];
	size_t screen = screen_width();
	size_t used = 0;
	size_t room;

	for (size_t i = 0; i + 1 < table->count; i++) {
		widths[i] = width_of(table, i);
		used += widths[i] + GAP;
	}
	room = screen > used + ROOM_MIN ? screen - used : screen > 0 ? ROOM_MIN : 0;
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t column = i % table->count;

		if (column + 1 < table->count)
			print_padded(&table->cells[i], widths[column]);
		else
			print_last(&table->cells[i], room);
	}
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i].text);
	free(table->cells);
	*table = (struct table_view){ .count = table->count };
}
