/* SPDX-License-Identifier: MIT */
#include "sql/infer.h"

#include <stdbool.h>

enum { INTEGER_DIGITS = 18, REAL_DIGITS = 15 };

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* How many bytes a fraction has with its point, 0 without one, -1 for a point alone. */
static int fraction(const char *s, size_t len)
{
	size_t n;

	if (len == 0 || *s != '.')
		return 0;
	n = digits(s + 1, len - 1);
	return n > 0 && n <= REAL_DIGITS ? (int)n + 1 : -1;
}

/* Whether it is e5, E+05 and the like, or nothing. */
static bool is_power(const char *s, size_t len)
{
	size_t sign;
	size_t n;

	if (len == 0)
		return true;
	if (*s != 'e' && *s != 'E')
		return false;
	sign = len > 1 && (s[1] == '-' || s[1] == '+');
	n = digits(s + 1 + sign, len - 1 - sign);
	return n == len - 1 - sign && n >= 1 && n <= 2;
}

enum infer_kind infer_text(const char *s, size_t len)
{
	size_t sign = len > 0 && *s == '-';
	size_t whole = digits(s + sign, len - sign);
	size_t end = sign + whole;
	int part = fraction(s + end, len - end);

	if (whole == 0 || (whole > 1 && s[sign] == '0') || part < 0)
		return INFER_TEXT;
	if (end == len)
		return whole <= INTEGER_DIGITS ? INFER_INTEGER : INFER_TEXT;
	if (whole + (size_t)part > REAL_DIGITS + (part > 0))
		return INFER_TEXT;
	end += (size_t)part;
	return is_power(s + end, len - end) ? INFER_REAL : INFER_TEXT;
}
