/* SPDX-License-Identifier: MIT */
/*
 * columns.c - how wide text is on a terminal, by the tables of libunistring. A combining mark stays
 * with the character before it: a cut is made in front of a character that takes room.
 */
#include "text/columns.h"

#include <unistr.h>
#include <uniwidth.h>

/* Returns the columns of the character that `s` begins with, and the number of its bytes. */
static size_t first_width(const char *s, size_t len, size_t *ret_len)
{
	ucs4_t c;
	int width;

	*ret_len = (size_t)u8_mbtouc(&c, (const uint8_t *)s, len);
	width = uc_width(c, "UTF-8");
	return width > 0 ? (size_t)width : 0;
}

size_t columns_count(const char *s, size_t len)
{
	size_t columns = 0;
	size_t size;

	for (size_t at = 0; at < len; at += size)
		columns += first_width(s + at, len - at, &size);
	return columns;
}

size_t columns_head(const char *s, size_t len, size_t columns)
{
	size_t used = 0;
	size_t size;

	for (size_t at = 0; at < len; at += size) {
		used += first_width(s + at, len - at, &size);
		if (used > columns)
			return at;
	}
	return len;
}

size_t columns_tail(const char *s, size_t len, size_t columns)
{
	size_t left = columns_count(s, len);
	size_t at = 0;
	size_t size;

	while (at < len) {
		size_t width = first_width(s + at, len - at, &size);

		if (left <= columns && width > 0)
			return at;
		left -= width;
		at += size;
	}
	return len;
}
