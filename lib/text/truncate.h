/* SPDX-License-Identifier: MIT */
/* truncate.h - shows a long text as head and tail, and finds where text may be cut. */
#ifndef TEXT_TRUNCATE_H
#define TEXT_TRUNCATE_H

#include <stddef.h>

#include "base/buf.h"

enum { TRUNCATE_GRAPHEME_MAX = 1024 }; /* bytes of one grapheme cluster that is never cut */

/*
 * Appends `s`, which must be well-formed UTF-8, if it has at most `max_chars` characters. Otherwise
 * appends its head (two thirds) and tail with one line of ours between them, which is not counted:
 * "[... N characters left out ...]". A cut is at the end of a line if that costs at most half of
 * the part, else between two grapheme clusters. Returns the number of characters of `s` shown.
 */
size_t truncate_text(struct buf *out, const char *s, size_t len, size_t max_chars);
/*
 * Truncates a text of `total` characters whose middle is not available: `head` is its beginning,
 * `tail` its end. Returns as truncate_text.
 */
size_t truncate_ends(struct buf *out, const struct buf *head, const struct buf *tail, size_t total,
		     size_t max_chars);
/*
 * Returns where to cut `s` so that nothing behind `at`, the beginning of a character, is left: at
 * `at` itself, or before the grapheme cluster there, if that has at most TRUNCATE_GRAPHEME_MAX
 * bytes.
 */
size_t truncate_before(const char *s, size_t len, size_t at);

#endif
