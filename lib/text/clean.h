/* SPDX-License-Identifier: MIT */
/*
 * clean.h - making foreign text safe to show.
 *
 * Everything that we did not write ourselves goes through here. Escapes and control characters
 * (but newline and tab in blocks) are removed, UTF-8 is repaired, bidi controls (U+202A-202E,
 * U+2066-2069, U+200E/F, U+061C) and zero-width characters (U+200B-200D outside emoji, U+2060,
 * U+FEFF, tag characters U+E0000-E007F, interlinear U+FFF9-FFFB) are removed.
 */
#ifndef TEXT_CLEAN_H
#define TEXT_CLEAN_H

#include <stddef.h>

#include "base/buf.h"

enum { CLEAN_QUOTE_MAX = 80 }; /* characters of foreign text in one of our sentences */

/* Many lines stay lines; CR LF becomes LF, a lone CR becomes LF. */
void clean_block(struct buf *out, const char *s, size_t len);
/*
 * One line of at most `max_chars` characters: line breaks and runs of blanks become one space,
 * a longer text ends in "...". Without quotes: the caller's sentence has them.
 */
void clean_line(struct buf *out, const char *s, size_t len, size_t max_chars);
/* clean_line with CLEAN_QUOTE_MAX as a string the caller frees. */
char *clean_quote(const char *s);
/*
 * One word for the status line: as clean_line, but also blanks, `|`, `[`, `]` and `#` become `_`,
 * so that no name can pass for part of the grammar.
 */
void clean_word(struct buf *out, const char *s, size_t len, size_t max_chars);

#endif
