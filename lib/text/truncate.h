/* SPDX-License-Identifier: MIT */
/* clip.h - a long text as head and tail, and where a text may be cut. */
#ifndef TEXT_TRUNCATE_H
#define TEXT_TRUNCATE_H

#include <stddef.h>

#include "base/buf.h"

enum {
	TRUNCATE_GRAPHEME_MAX = 1024
}; /* bytes of what people see as one character, and is kept whole */

/*
 * Appends `s`, well-formed UTF-8, when it has at most `max_chars` characters. Else its head (two
 * thirds) and tail, with one line of ours between them: "[... N characters left out ...]", which
 * is not counted. A cut is at the end of a line where that costs at most half of the part, else
 * between two of what people see as characters (grapheme clusters). Returns the characters of `s`
 * shown.
 */
size_t truncate_text(struct buf *out, const char *s, size_t len, size_t max_chars);
/*
 * The same for a text of `total` characters of which the middle is not at hand: `head` is its
 * beginning, `tail` its end.
 */
size_t truncate_ends(struct buf *out, const struct buf *head, const struct buf *tail, size_t total,
		     size_t max_chars);
/*
 * Where to cut `s` so that nothing behind `at`, a character's beginning, is left: `at` itself, or
 * before what people see as one character there, when that has at most TRUNCATE_GRAPHEME_MAX bytes.
 */
size_t truncate_before(const char *s, size_t len, size_t at);

#endif
