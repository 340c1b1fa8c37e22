/* SPDX-License-Identifier: MIT */
/* terminal.h - columns and colours on stdout, where it is a terminal. */
#ifndef SERVER_TERMINAL_H
#define SERVER_TERMINAL_H

#include <stddef.h>

enum terminal_colour {
	TERMINAL_PLAIN,
	TERMINAL_BOLD,
	TERMINAL_DIM,
	TERMINAL_RED,
	TERMINAL_GREEN,
	TERMINAL_YELLOW,
	TERMINAL_CYAN,
};

enum { TERMINAL_COLUMNS_MAX = 8 };

/* Prints a text of one line in a colour. */
void terminal_print(enum terminal_colour colour, const char *text);

/* A table, of which the first row is its head. Zeroed but for `count`. */
struct table_view {
	size_t count; /* of columns */
	struct view_cell {
		char *text;
		enum terminal_colour colour;
	} * cells;
	size_t cell_count;
};

/* Adds a cell: untrusted text becomes one clean line. Rows fill up from the left. */
void terminal_add(struct table_view *table, enum terminal_colour colour, const char *text);
/* Prints the rows and empties the table. In a terminal the last column is cut to the rest of the
 * width, of which ROOM_MIN columns are always left to it. */
void terminal_print_table(struct table_view *table);

#endif
