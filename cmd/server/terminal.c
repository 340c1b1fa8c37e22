/* SPDX-License-Identifier: MIT */
/*
 * terminal.c - prints tables as wide as their contents, with two blanks between the columns. All
 * widths are in columns of the terminal: in names and paths a character may take two, or none.
 */
#include "terminal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "text/columns.h"
#include "text/sanitize.h"

enum { GAP = 2, DOTS = 3 /* "..." */, ROOM_MIN = 8 /* of the last column */ };

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

static size_t columns_of(const char *text)
{
	return columns_count(text, strlen(text));
}

/* Returns the width of a column: that of its longest cell. */
static size_t width_of(const struct table_view *table, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->cell_count; i += table->count)
		if (columns_of(table->cells[i].text) > width)
			width = columns_of(table->cells[i].text);
	return width;
}

/*
 * Prints the last cell of a row, cut to `room` columns; 0: there is room for all. A path keeps its
 * end, by which folders differ.
 */
static void print_last(const struct view_cell *cell, size_t room)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const char *text = cell->text;
	size_t len = strlen(text);

	if (room == 0 || columns_of(text) <= room)
		buf_puts(&line, text);
	else if (text[0] == '/' || text[0] == '~')
		buf_putf(&line, "...%s", text + columns_tail(text, len, room - DOTS));
	else
		buf_putf(&line, "%.*s...", (int)columns_head(text, len, room - DOTS), text);
	terminal_print(cell->colour, buf_str(&line));
	(void)putchar('\n');
}

static void print_padded(const struct view_cell *cell, size_t width)
{
	terminal_print(cell->colour, cell->text);
	printf("%*s", (int)(width - columns_of(cell->text) + GAP), "");
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
