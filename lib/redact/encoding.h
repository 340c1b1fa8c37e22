/* SPDX-License-Identifier: MIT */
/*
 * spelling.h - text read as somebody who wrote a value into it may have meant it.
 *
 * Each spelling takes any text: what is no escape of it stands for itself, if it is not nothing.
 *
 *   PLAIN      as it is
 *   BACKSLASH  \n \t \" \/ \xHH \OOO \uHHHH \UHHHHHHHH, also with its backslashes doubled again:
 *              JSON, JSON within JSON, literals of most languages; where a literal is broken into
 *              several (Python's pprint, Node's inspect), a quote, its line's end and the next
 *              quote are nothing. So is a backslash, escaped or not: of one, each who quotes it
 *              makes two. <U+HHHH>, &#DDD; and &#xHH; are escapes, too; what nobody sees (filter.h)
 *              is nothing
 *   PERCENT    %HH and %uHHHH; "+" and a blank are the same
 *   VERBATIM   as it is, and so are its colours
 *
 * In all of them carriage returns (a terminal's line ends) are nothing, and in all but VERBATIM
 * colours (CSI ... m) are nothing, too.
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
	SPELLINGS
};

/* What stands between CSI and m. */
#define ENCODING_COLOUR_BYTES "0123456789;:"

/* One piece of text and what it means. */
struct spelled {
	size_t len;    /* bytes of the text */
	size_t count;  /* bytes that it means; 0 for nothing */
	char bytes[4]; /* them */
};

/*
 * The piece at the start of `s`, of which there is at least a byte. False when more must come first
 * to know it, which never happens when this is the `last` of the text.
 */
bool encoding_next(enum encoding spelling, const char *s, size_t len, bool last,
		   struct spelled *ret);
/*
 * Appends what a text in this spelling means where it holds `value`, in this spelling or none.
 */
void encoding_of(enum encoding spelling, const char *value, size_t len, struct buf *out);

#endif
