/* SPDX-License-Identifier: MIT */
/* chars.h - classes of characters for infer.c and marked.c. */
#ifndef SQL_CHARS_H
#define SQL_CHARS_H

#include <stdbool.h>
#include <stddef.h>

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns how many digits the text begins with. */
static inline size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_digit(s[n]))
		n++;
	return n;
}

#endif
