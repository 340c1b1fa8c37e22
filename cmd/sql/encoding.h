/* SPDX-License-Identifier: MIT */
/* encoding.h - detects the character encoding of a text file from its bytes. */
#ifndef SQL_ENCODING_H
#define SQL_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

enum { ENCODING_NAME_MAX = 32 };

struct encoding {
	char name[ENCODING_NAME_MAX]; /* iconv's name; empty for UTF-8 */
	size_t mark;                  /* length of the byte order mark */
	bool guessed;                 /* neither a mark nor zero bytes determined it */
	bool broken;                  /* UTF-8 except for a few bytes, which become U+FFFD */
};

/* Decides by a byte order mark, or by the zero bytes of UTF-16. Otherwise assumes UTF-8. */
void encoding_begin(struct encoding *encoding, const char *head, size_t len);
/* Guesses from a part of a text that is not UTF-8. */
void encoding_guess(struct encoding *encoding, const char *sample, size_t len);

#endif
