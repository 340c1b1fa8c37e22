/* SPDX-License-Identifier: MIT */
/*
 * cases.c - full case mapping by libunistring, without a language: under a Turkish locale "I" would
 * otherwise become a dotless i. ASCII has a short path, because it is most of all text.
 */
#include "text/cases.h"

#include <ctype.h>
#include <unicase.h>
#include <unistr.h>

#include "base/mem.h"

enum { ASCII = 0x80 };

typedef uint8_t *change_case(const uint8_t *s, size_t n, const char *language, uninorm_t form,
			     uint8_t *out, size_t *ret_len);

static bool is_ascii(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= ASCII)
			return false;
	return true;
}

static char *change(const char *s, size_t len, int (*plain)(int c), change_case *other,
		    size_t *ret_len)
{
	char *changed;

	*ret_len = len;
	if (!is_ascii(s, len))
		return (char *)other((const uint8_t *)s, len, "", NULL, NULL, ret_len);
	changed = xmemdup(s, len);
	for (size_t i = 0; i < len; i++)
		changed[i] = (char)plain((unsigned char)changed[i]);
	return changed;
}

char *cases_lower(const char *s, size_t len, size_t *ret_len)
{
	return change(s, len, tolower, u8_tolower, ret_len);
}

char *cases_upper(const char *s, size_t len, size_t *ret_len)
{
	return change(s, len, toupper, u8_toupper, ret_len);
}

uint32_t cases_first(const char *s, size_t len, size_t *ret_len)
{
	ucs4_t c = 0;

	*ret_len = 0;
	if (len == 0)
		return 0;
	if ((unsigned char)*s < ASCII) {
		*ret_len = 1;
		return (unsigned char)*s;
	}
	*ret_len = (size_t)u8_mbtouc_unsafe(&c, (const uint8_t *)s, len);
	return c;
}

bool cases_are_same(uint32_t a, uint32_t b)
{
	if (a == b)
		return true;
	if (a < ASCII && b < ASCII)
		return (a | 0x20) == (b | 0x20) && (a | 0x20) >= 'a' && (a | 0x20) <= 'z';
	return uc_tolower(a) == uc_tolower(b);
}
