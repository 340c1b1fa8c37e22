/* SPDX-License-Identifier: MIT */
/*
 * panel.h - the screen of a full-screen program, SCREEN_ROWS by SCREEN_COLUMNS, as a user sees it.
 *
 * The alternate screen keeps its content over any number of feeds. Lines wrap at the right margin
 * and scroll within a region. Colours are dropped. Output to the main screen is ignored
 * (text/screen.h).
 */
#ifndef TEXT_PANEL_H
#define TEXT_PANEL_H

#include <stddef.h>

#include "base/buf.h"

struct panel;

struct panel *panel_new(void);
/* Frees it. May be NULL. */
void panel_free(struct panel *panel);
void panel_feed(struct panel *panel, const char *data, size_t len);
/*
 * Appends the screen as clean text: lines without trailing blanks, without empty lines at the end.
 */
void panel_text(const struct panel *panel, struct buf *out);
/* Return the cursor's position, counted from 1. */
size_t panel_line(const struct panel *panel);
size_t panel_column(const struct panel *panel);

#endif
