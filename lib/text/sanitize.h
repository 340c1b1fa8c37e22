/* SPDX-License-Identifier: MIT */
/*
 * clean.h - making foreign text safe to show.
 *
 * Everything that we did not write ourselves goes through here. Escape sequences and control
 * characters (C0 and C1) are removed, UTF-8 is repaired, and characters that nobody sees (bidi
 * controls, zero-width characters, tags) are written as <U+200B> where filter.h does not let them
 * stay. Line breaks are LF, CR LF, CR, VT, FF, U+0085, U+2028 and U+2029. The output, at most four
 * bytes for one, goes to a buffer that has room for it.
 */
#ifndef TEXT_SANITIZE_H
#define TEXT_SANITIZE_H

#include <stddef.h>

#include "base/buf.h"

enum {
	SANITIZE_QUOTE_MAX = 80, /* characters of foreign text in one of our sentences */
	SANITIZE_PATH_MAX = 255, /* of a path in the status line */
};

/* Many lines stay lines, each break becomes LF; tabs stay. */
void sanitize_block(struct buf *out, const char *s, size_t len);

/* The same for a text that comes in pieces: each appends what is sure, the end what is left. */
struct sanitize_stream;

struct sanitize_stream *sanitize_stream_new(void);
/* NULL is allowed. */
void sanitize_stream_free(struct sanitize_stream *stream);
void sanitize_feed(struct sanitize_stream *stream, const char *s, size_t len, struct buf *out);
void sanitize_end(struct sanitize_stream *stream, struct buf *out);

/*
 * One line of at most `max_chars` (3 or more) characters: line breaks and runs of white space
 * become one space, none at the ends; a longer text is cut between two of what people see as
 * characters and ends in "...". Without quotes: the caller's sentence has them.
 */
void sanitize_line(struct buf *out, const char *s, size_t len, size_t max_chars);
/* sanitize_line with SANITIZE_QUOTE_MAX as a string the caller frees. */
char *sanitize_quote(const char *s);
/*
 * One word for the status line: as sanitize_line, but blanks, commas, `|`, `[`, `]` and `#` become
 * `_`, so that no name can pass for part of the grammar. "_" when nothing is left.
 */
void sanitize_word(struct buf *out, const char *s, size_t len, size_t max_chars);
/*
 * A file's name or path as all answers write it, so that it names the file: as it is when that is
 * clean, else as a JSON string: what nobody sees is \uXXXX, a byte that is no UTF-8 \udcXX (as
 * Python has it).
 */
void sanitize_path(struct buf *out, const char *s, size_t len);
/* The same as a string the caller frees. */
char *sanitize_path_string(const char *s);
/*
 * The same as one word of the status line, where what has blanks or signs of the grammar is such a
 * string, too, without `|`. At most SANITIZE_PATH_MAX characters of it, then "...".
 */
void sanitize_path_word(struct buf *out, const char *s, size_t len);
/*
 * The name of a variable, which may be any text, as all answers write it: like a path, at most
 * SANITIZE_QUOTE_MAX characters of it, then "...". As one word of the status line it does not begin
 * with `-` either.
 */
void sanitize_symbol(struct buf *out, const char *s, size_t len);
void sanitize_symbol_word(struct buf *out, const char *s, size_t len);
/*
 * The name for a copy of a file, or for one that comes: as it is when that is clean, else each
 * character that cleaning would change is `_`. Slashes stay and no part becomes empty, "." or "..".
 */
void sanitize_name(struct buf *out, const char *s, size_t len);

#endif
