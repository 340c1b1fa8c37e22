/* SPDX-License-Identifier: MIT */
/*
 * clean.h - making foreign text safe to show.
 *
 * Everything that we did not write ourselves goes through here. Escape sequences and control
 * characters (C0 and C1) are removed, UTF-8 is repaired, and the characters of filter.h (bidi
 * controls, zero-width characters, tags) are left out. Line breaks are LF, CR LF, CR, VT, FF,
 * U+0085, U+2028 and U+2029. The output, at most three bytes for one, goes to a buffer that has
 * room for it.
 */
#ifndef TEXT_CLEAN_H
#define TEXT_CLEAN_H

#include <stddef.h>

#include "base/buf.h"

enum { CLEAN_QUOTE_MAX = 80 }; /* characters of foreign text in one of our sentences */

/* Many lines stay lines, each break becomes LF; tabs stay. */
void clean_block(struct buf *out, const char *s, size_t len);
/*
 * One line of at most `max_chars` (3 or more) characters: line breaks and runs of white space
 * become one space, none at the ends; a longer text ends in "...". Without quotes: the caller's
 * sentence has them.
 */
void clean_line(struct buf *out, const char *s, size_t len, size_t max_chars);
/* clean_line with CLEAN_QUOTE_MAX as a string the caller frees. */
char *clean_quote(const char *s);
/*
 * One word for the status line: as clean_line, but blanks, commas, `|`, `[`, `]` and `#` become
 * `_`, so that no name can pass for part of the grammar. "_" when nothing is left.
 */
void clean_word(struct buf *out, const char *s, size_t len, size_t max_chars);
/*
 * A file's name or path, to be shown or to be given to a copy: as it is when that is clean, so that
 * it names the file; else each character that cleaning would change is `_`. Slashes stay and no
 * part becomes empty, "." or "..".
 */
void clean_name(struct buf *out, const char *s, size_t len);

#endif
