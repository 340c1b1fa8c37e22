/* SPDX-License-Identifier: MIT */
/*
 * sanitize.h - makes untrusted text safe to show.
 *
 * All text that we did not write passes here. Escape sequences and control characters (C0 and C1)
 * are removed and UTF-8 is repaired. Invisible characters (bidi controls, zero-width characters,
 * tags) are written as <U+200B> where invisible.h does not let them stay. Line breaks are LF, CR
 * LF, CR, VT, FF, U+0085, U+2028 and U+2029. The output, at most four bytes for each byte, goes to
 * a buffer with room for it.
 */
#ifndef TEXT_SANITIZE_H
#define TEXT_SANITIZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	SANITIZE_QUOTE_MAX = 80, /* characters of untrusted text in one of our sentences */
	SANITIZE_PATH_MAX = 255, /* of a path in the status line */
};

/* Appends text of several lines: each break becomes LF; tabs stay. */
void sanitize_block(struct buf *out, const char *s, size_t len);

/*
 * Sanitizes a block that arrives in chunks: each appends what is certain, the end appends the rest.
 */
struct sanitize_stream;

struct sanitize_stream *sanitize_stream_new(void);
/* Frees it. May be NULL. */
void sanitize_stream_free(struct sanitize_stream *stream);
void sanitize_feed(struct sanitize_stream *stream, const char *s, size_t len, struct buf *out);
void sanitize_end(struct sanitize_stream *stream, struct buf *out);

/*
 * Appends one line of at most `max_chars` (3 or more) characters. Line breaks and runs of white
 * space become one blank; there is none at the ends. A longer text is cut between two grapheme
 * clusters and ends in "...". The caller's sentence adds the quotes.
 */
void sanitize_line(struct buf *out, const char *s, size_t len, size_t max_chars);
/* Returns sanitize_line with SANITIZE_QUOTE_MAX as a string. The caller frees it. */
char *sanitize_quote(const char *s);
/*
 * Appends one word for the status line: as sanitize_line, but blanks, commas, `|`, `[`, `]` and `#`
 * become `_`, so that no name can pass for part of the grammar. Appends "_" if nothing is left.
 */
void sanitize_word(struct buf *out, const char *s, size_t len, size_t max_chars);
/*
 * Returns a file's name or path as all answers write it, so that it names the file. A clean path
 * stays as it is. Any other becomes a JSON string, in which an invisible character is \uXXXX and a
 * byte of ill-formed UTF-8 \udcXX (as in Python). The caller frees it.
 */
char *sanitize_path_string(const char *s);
/* Appends a character, or a lone surrogate, as JSON's \uXXXX. */
void sanitize_escape(struct buf *out, uint32_t cp);
/*
 * Appends a path as one word of the status line: one with blanks or signs of the grammar becomes a
 * JSON string too, without `|`. At most SANITIZE_PATH_MAX characters are shown, then "...".
 */
void sanitize_path_word(struct buf *out, const char *s, size_t len);
/*
 * Append the name of a variable, which may be any text, as all answers write it: like a path, but
 * at most SANITIZE_QUOTE_MAX characters, then "...". As a word of the status line it never begins
 * with `-`.
 */
void sanitize_symbol(struct buf *out, const char *s, size_t len);
void sanitize_symbol_word(struct buf *out, const char *s, size_t len);
/*
 * Appends the name for a copy of a file, or for an uploaded file: unchanged if it is clean, else
 * with `_` for each character that sanitizing would change. Slashes stay, and no part becomes
 * empty, "." or "..".
 */
void sanitize_name(struct buf *out, const char *s, size_t len);

#endif
