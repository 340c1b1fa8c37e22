/* SPDX-License-Identifier: MIT */
/*
 * screen.h - what a person would have seen: terminal bytes in, lines of text out.
 *
 * A terminal without scrolling region: CR, BS, TAB, CSI A-H J K P X d, erase, overstrike;
 * SGR, OSC, DCS, APC, PM dropped; alternate-screen content dropped with a note line; UTF-8
 * repaired; a bare LF counts as CR LF (the pty has OPOST off). Lines longer than
 * SCREEN_COLUMNS_MAX wrap into the next line. Control sequences: ECMA-48.
 */
#ifndef TEXT_SCREEN_H
#define TEXT_SCREEN_H

#include <stddef.h>

#include "base/buf.h"

struct screen;

enum {
	SCREEN_ROWS = 40, /* how far the cursor can go up */
	SCREEN_COLUMNS_MAX = 1 << 20,
};

struct screen *screen_new(void);
void screen_free(struct screen *screen);
void screen_feed(struct screen *screen, const char *data, size_t len);
/*
 * Answers that the program waits for: cursor-position (CSI 6n) and device-attribute (CSI c)
 * queries seen since the last call are appended to `out`, to be written to the program.
 */
void screen_take_answers(struct screen *screen, struct buf *out);
/* Appends everything as clean text (see clean.h): lines without trailing blanks, each ended by \n
 * but an unfinished last one. */
void screen_text(const struct screen *screen, struct buf *out);
/* The unfinished last line, or "": a prompt when somebody waits. */
void screen_last_line(const struct screen *screen, struct buf *out);
/* Empty, and in the start state again. */
void screen_reset(struct screen *screen);

#endif
