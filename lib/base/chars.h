/* SPDX-License-Identifier: MIT */
/* chars.h - classes of ASCII characters, independent of the locale, and names that are alike. */
#ifndef BASE_CHARS_H
#define BASE_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static inline bool char_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool char_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Returns 0 to 15 for a hexadecimal digit, else -1. */
static inline int char_hex(char c)
{
	if (char_is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns how many digits the text begins with. */
static inline size_t chars_digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && char_is_digit(s[n]))
		n++;
	return n;
}

/* Skips blanks at both ends of a text. */
static inline void chars_trim(const char **s, size_t *len)
{
	while (*len > 0 && char_is_blank((*s)[*len - 1]))
		(*len)--;
	for (; *len > 0 && char_is_blank(**s); (*len)--)
		(*s)++;
}

/* Returns whether the texts are equal but for case and for characters of `joiners`. */
static inline bool chars_alike(const char *a, const char *b, const char *joiners)
{
	for (;; a++, b++) {
		a += strspn(a, joiners);
		b += strspn(b, joiners);
		if (char_lower(*a) != char_lower(*b))
			return false;
		if (*a == '\0')
			return true;
	}
}

/* Returns whether the text ends with `end`, in any case. */
static inline bool chars_end_with(const char *text, const char *end)
{
	size_t len = strlen(text);
	size_t end_len = strlen(end);

	return len >= end_len && strcasecmp(text + len - end_len, end) == 0;
}

#endif
