/* SPDX-License-Identifier: MIT */
/*
 * screen.h - what a person would have seen: terminal bytes in, lines of text out.
 *
 * A terminal without scrolling region and right margin: CR, BS, TAB, CSI A-H J K P X @ d, saved
 * cursor, overstrike; SGR, OSC, DCS, APC, PM dropped; UTF-8 repaired; a bare LF counts as CR LF
 * (the pty has OPOST off). Control sequences: ECMA-48.
 *
 * - Lines do not wrap at the terminal's width: a reader without one wants them whole.
 * - Content of the alternate screen is dropped; one note line says so, once the program has left
 * it. As long as it has not, panel.h has its screen.
 * - Clearing the screen keeps what stood there and begins a new page; clearing it again empties
 *   that page, so that a program that redraws leaves its last picture.
 * - Memory is bounded by SCREEN_CELLS_MAX (four bytes each): beyond it the oldest lines go and
 *   one note line at the top counts them.
 */
#ifndef TEXT_SCREEN_H
#define TEXT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct screen;

enum {
	SCREEN_ROWS = 40,             /* how far the cursor can go up */
	SCREEN_COLUMNS = 120,         /* the width that programs are told */
	SCREEN_CURSOR_COLUMNS = 4096, /* how far it moves right of the text */
	SCREEN_COLUMNS_MAX = 1 << 20, /* longer lines go on in the next one */
	SCREEN_CELLS_MAX = 4 << 20,
};

struct screen *screen_new(void);
void screen_free(struct screen *screen);
void screen_feed(struct screen *screen, const char *data, size_t len);
/*
 * Answers that the program waits for: cursor-position (CSI 6n), status (CSI 5n) and
 * device-attribute (CSI c, CSI > c) queries seen since the last call are appended to `out`, to
 * be written to the program. Of a flood only the first few are answered.
 */
void screen_take_answers(struct screen *screen, struct buf *out);
/*
 * Appends everything as clean text (see clean.h): lines without trailing blanks, each ended by
 * \n but an unfinished last one. `out` has room for it.
 */
void screen_text(const struct screen *screen, struct buf *out);
/*
 * Appends bytes that bring a new screen to where this one is, as few as its text allows. False: it
 * cannot be done, as when a full-screen program has it; `out` is then of no use.
 */
bool screen_retell(const struct screen *screen, struct buf *out) MUST_CHECK;
/* The line where the cursor stands, or "": a prompt when somebody waits. */
void screen_last_line(const struct screen *screen, struct buf *out);
/* Whether a full-screen program has it, or had it before what is fed: its screen is not kept. */
bool screen_is_alternate(const struct screen *screen);
void screen_set_alternate(struct screen *screen, bool alternate);
/* Empty, and in the start state again. */
void screen_reset(struct screen *screen);

#endif
