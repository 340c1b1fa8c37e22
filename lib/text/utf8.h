/* SPDX-License-Identifier: MIT */
/* utf8.h - repairs, counts and cuts UTF-8. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A decoder for bytes in any chunks. A zeroed struct is the start state. */
struct utf8_decoder {
	uint32_t partial;
	uint8_t missing; /* continuation bytes still to come */
	uint8_t lower;   /* the legal range of the next byte */
	uint8_t upper;
};

enum {
	UTF8_REPLACEMENT = 0xfffd,
	UTF8_MORE = -1,
	UTF8_REST_MAX = 3, /* bytes of a character behind its first */
};

/* Returns the number of bytes of a character that begins with this one. */
static inline size_t utf8_length(unsigned char lead)
{
	return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

/* Returns whether the byte continues a character. */
static inline bool utf8_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * Takes one byte and sets at most two code points; UTF8_MORE for none. An ill-formed sequence gives
 * U+FFFD by the "maximal subpart" practice of Unicode 3.9. The byte that broke it is decoded anew,
 * as the second code point.
 */
void utf8_decode(struct utf8_decoder *d, unsigned char byte, int32_t *ret_first,
		 int32_t *ret_second);
/*
 * Ends the text and resets the decoder. Returns true if a sequence was cut off: one more U+FFFD is
 * due.
 */
bool utf8_decode_end(struct utf8_decoder *d);
/* Writes 1 to 4 bytes and returns their number. `cp` must be a scalar value. */
size_t utf8_encode(uint32_t cp, char out[4]);
bool utf8_valid(const char *s, size_t len);
/* Appends `s` with every ill-formed part as U+FFFD. */
void utf8_repair(struct buf *out, const char *s, size_t len);
/*
 * Returns the number of code points of well-formed text; each ill-formed byte counts at most once.
 */
size_t utf8_count(const char *s, size_t len);
/* Returns the byte offset after the first `chars` characters, or `len`. */
size_t utf8_offset(const char *s, size_t len, size_t chars);

/* Returns `at`, or the end of the well-formed character that contains it; at most `len`. */
size_t utf8_border(const char *s, size_t len, size_t at);

#endif
