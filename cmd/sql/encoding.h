/* SPDX-License-Identifier: MIT */
/* encoding.h - how the characters of a text file are written, found out from its bytes. */
#ifndef SQL_ENCODING_H
#define SQL_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

enum { ENCODING_NAME_MAX = 32 };

struct encoding {
	char name[ENCODING_NAME_MAX]; /* as iconv knows it; empty: UTF-8 */
	size_t mark;                  /* bytes of the mark in front */
	bool guessed;                 /* neither a mark nor zero bytes said it */
	bool broken;                  /* UTF-8 but for a few bytes, which become U+FFFD */
};

/* By a mark in front, or by the zero bytes of UTF-16; else it is UTF-8 until a byte says no. */
void encoding_begin(struct encoding *encoding, const char *head, size_t len);
/* By a part of a text that is not UTF-8. */
void encoding_guess(struct encoding *encoding, const char *sample, size_t len);

#endif
