/* SPDX-License-Identifier: MIT */
/*
 * screen.h - the text that a user would have seen: terminal bytes in, lines of text out.
 *
 * It is a terminal without scrolling region and right margin: CR, BS, TAB, the CSI sequences that
 * move the cursor, erase, delete and insert, the saved cursor, overstrike. SGR, OSC, DCS, APC and
 * PM are dropped, UTF-8 is repaired. A bare LF counts as CR LF, because the pty has OPOST off.
 * Control sequences follow ECMA-48.
 *
 * - Lines do not wrap at the terminal's width: readers without a terminal want them whole.
 * - Content of the alternate screen is dropped; one line notes it, once the program has left
 *   it. Until then panel.h has its screen.
 * - Clearing the screen keeps the text above and begins a new page. Clearing it again empties
 *   that page, so that a program that redraws leaves its last picture.
 * - Memory is bounded by SCREEN_CELLS_MAX (four bytes each): beyond it the oldest lines are
 *   dropped and one line at the top counts them.
 */
#ifndef TEXT_SCREEN_H
#define TEXT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct screen;

enum {
	SCREEN_ROWS = 40,             /* how far the cursor can go up */
	SCREEN_COLUMNS = 120,         /* the width that programs see */
	SCREEN_CURSOR_COLUMNS = 4096, /* how far it moves right of the text */
	SCREEN_COLUMNS_MAX = 1 << 20, /* longer lines continue in the next one */
	SCREEN_CELLS_MAX = 4 << 20,
};

struct screen *screen_new(void);
void screen_free(struct screen *screen);
void screen_feed(struct screen *screen, const char *data, size_t len);
/*
 * Appends answers to queries since the last call, to be written to the program: cursor position
 * (CSI 6n), status (CSI 5n) and device attributes (CSI c, CSI > c). If a program floods it with
 * queries, only the first few are answered.
 */
void screen_take_answers(struct screen *screen, struct buf *out);
/*
 * Appends everything as clean text (see sanitize.h): lines without trailing blanks, each ended by
 * \n except an unfinished last one. `out` must have room.
 */
void screen_text(const struct screen *screen, struct buf *out);
/*
 * Appends bytes that bring a new screen to the state of this one, as few as its text allows.
 * Returns false if this is impossible, as while a full-screen program runs; `out` is then useless.
 */
bool screen_retell(const struct screen *screen, struct buf *out) MUST_CHECK;
/* Appends the line of the cursor, or nothing: a prompt if the program waits for input. */
void screen_last_line(const struct screen *screen, struct buf *out);
/*
 * Returns whether a full-screen program has the screen, or had it before the bytes fed here. Its
 * screen is not stored.
 */
bool screen_is_alternate(const struct screen *screen);
void screen_set_alternate(struct screen *screen, bool alternate);

#endif
