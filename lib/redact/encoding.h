/* SPDX-License-Identifier: MIT */
/*
 * encoding.h - reads text in one encoding that a program may have written a value in.
 *
 * Each encoding accepts any text: a byte that is no escape of it stands for itself, or for nothing.
 *
 *   PLAIN      the text itself
 *   BACKSLASH  \n \t \" \/ \xHH \OOO \uHHHH \UHHHHHHHH, also with doubled backslashes:
 *              JSON, JSON within JSON, literals of most languages. Python's pprint and Node's
 *              inspect break a literal into several: a quote, the line's end and the next quote
 *              stand for nothing. A backslash, escaped or not, stands for nothing, because each
 *              quoting doubles it. <U+HHHH>, &#DDD; and &#xHH; are escapes too; an invisible
 *              character (text/invisible.h) stands for nothing
 *   PERCENT    %HH and %uHHHH; "+" and a blank are the same
 *   VERBATIM   the text itself, with its colours
 *
 * In all encodings carriage returns (a terminal's line ends) stand for nothing. In all but VERBATIM
 * so do colours (CSI ... m).
 */
#ifndef REDACT_ENCODING_H
#define REDACT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum encoding {
	ENCODING_PLAIN,
	ENCODING_BACKSLASH,
	ENCODING_PERCENT,
	ENCODING_VERBATIM,
	ENCODINGS
};

/* The bytes between CSI and m. */
#define ENCODING_COLOUR_BYTES "0123456789;:"

/* One piece of text and the bytes that it stands for. */
struct piece {
	size_t len;    /* bytes of the text */
	size_t count;  /* bytes that it stands for; 0 for nothing */
	char bytes[4]; /* these bytes */
};

/*
 * Reads the piece at the start of `s`, which has at least one byte. Returns false if more text is
 * needed to decide, which never happens if this is the `last` of the text.
 */
bool encoding_next(enum encoding encoding, const char *s, size_t len, bool last, struct piece *ret);
/* Appends the bytes that this encoding reads in a text that holds `value`, encoded so or not. */
void encoding_of(enum encoding encoding, const char *value, size_t len, struct buf *out);

#endif
