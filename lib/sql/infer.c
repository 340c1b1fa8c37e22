/* SPDX-License-Identifier: MIT */
#include "sql/infer.h"

enum { INTEGER_DIGITS = 18, REAL_DIGITS = 15 };

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

enum infer_kind infer_text(const char *s, size_t len)
{
	size_t whole;
	size_t part = 0;
	size_t power;

	if (len > 0 && *s == '-')
		s++, len--;
	whole = digits(s, len);
	if (whole == 0 || (whole > 1 && s[0] == '0'))
		return INFER_TEXT;
	if (whole == len)
		return whole <= INTEGER_DIGITS ? INFER_INTEGER : INFER_TEXT;
	s += whole, len -= whole;
	if (*s == '.') {
		part = digits(s + 1, len - 1);
		if (part == 0)
			return INFER_TEXT;
		s += part + 1, len -= part + 1;
	}
	if (whole + part > REAL_DIGITS)
		return INFER_TEXT;
	if (len == 0)
		return INFER_REAL;
	if (*s != 'e' && *s != 'E')
		return INFER_TEXT;
	s++, len--;
	if (len > 0 && (*s == '-' || *s == '+'))
		s++, len--;
	power = digits(s, len);
	return power == len && power >= 1 && power <= 2 ? INFER_REAL : INFER_TEXT;
}
