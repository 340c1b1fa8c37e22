/* SPDX-License-Identifier: MIT */
/* view.h - prints the lines of a server's `watch` (lib/console/README.md) as a user reads them. */
#ifndef SERVER_VIEW_H
#define SERVER_VIEW_H

#include <jansson.h>
#include <stdbool.h>

/* A zeroed struct is the start. */
struct view {
	bool all;         /* several sessions are watched: their names are shown */
	bool json;        /* lines are printed as they are */
	bool open;        /* the last line has no end */
	bool begun;       /* a line was printed */
	bool returned;    /* a carriage return was the last character */
	char source[160]; /* of the last output */
};

/* Prints one line. Returns false when the session that is watched has ended. */
bool view_print(struct view *view, const json_t *line);
/* Notes that the user's terminal has echoed a line, with its end. */
void view_typed(struct view *view);
/* Prints a remark of the command itself, on stderr. */
void view_remark(struct view *view, const char *text);

#endif
