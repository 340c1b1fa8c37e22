/* SPDX-License-Identifier: MIT */
/*
 * hash.c - hashes by which equal values are found, however they are written.
 *
 * SQLite's conversions between doubles and texts are off by a unit of the last place at times.
 * Texts of up to 15 digits still stay apart, so only those have a sure hash; longer ones are marked
 * as doubtful.
 */
#include "hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"

enum {
	SURE_DIGITS = 15,
	INTEGER_DIGITS = 19, /* the maximum of 64 bits */
	TEXT_MAX = 64,
};

#define SURE_LEAST 1e-300 /* smaller doubles have fewer digits */
#define SURE_MOST 1e300
#define EXACT_MOST 1e15 /* integers up to it have all their digits in SQLite's text */
#define INTEGER_END 9223372036854775808.0
/* the bit that differs between "a" and "A", in each byte */
#define CASE_BITS UINT64_C(0x2020202020202020)

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ (x >> 29);
}

uint64_t hash_integer(int64_t value)
{
	return mix((uint64_t)value);
}

uint64_t hash_both(uint64_t a, uint64_t b)
{
	return mix(a * UINT64_C(0xd6e8feb86659fd93) + b);
}

static bool is_integer(double value)
{
	return value >= -INTEGER_END && value < INTEGER_END && value == trunc(value);
}

uint64_t hash_real(double value)
{
	uint64_t bits;

	if (is_integer(value))
		return hash_integer((int64_t)value);
	memcpy(&bits, &value, sizeof(bits));
	return mix(bits);
}

/* Hashes bytes by words, with `bits` set in each. */
static uint64_t hash_bytes(const char *s, size_t len, uint64_t bits)
{
	uint64_t hash = len;
	uint64_t word = 0;

	for (; len >= sizeof(word); s += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		hash = mix(hash ^ (word | bits));
	}
	word = 0;
	memcpy(&word, s, len);
	return mix(hash ^ (word | bits));
}

uint64_t hash_text(const char *s, size_t len)
{
	return hash_bytes(s, len, 0);
}

uint64_t hash_caseless(const char *s, size_t len)
{
	return hash_bytes(s, len, CASE_BITS);
}

/* ---- numbers in texts ---- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **s, size_t *len)
{
	while (*len > 0 && is_blank((*s)[*len - 1]))
		(*len)--;
	for (; *len > 0 && is_blank(**s); (*len)--)
		(*s)++;
}

/* How a number is written. */
struct shape {
	size_t digits; /* before the exponent, without leading zeros */
	bool whole;    /* neither point nor exponent */
};

static size_t count_zeros(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (s[n] == '0' || s[n] == '.'))
		n++;
	return n;
}

/* Returns true when SQLite reads the text, without blanks around it, as a number. */
static bool read_shape(const char *s, size_t len, struct shape *ret)
{
	size_t sign = len > 0 && (*s == '-' || *s == '+');
	size_t at = sign + chars_digits(s + sign, len - sign);
	size_t digits = at - sign;
	size_t zeros = sign + count_zeros(s + sign, len - sign);
	bool pointed = at < len && s[at] == '.';
	size_t point = at;

	if (pointed) {
		size_t places = chars_digits(s + at + 1, len - at - 1);

		at += 1 + places;
		digits += places;
	}
	ret->whole = !pointed && at == len;
	ret->digits = at > zeros ? at - zeros - (pointed && point >= zeros) : 0;
	if (digits == 0 || at == len)
		return digits > 0;
	if (s[at] != 'e' && s[at] != 'E')
		return false;
	at++;
	at += at < len && (s[at] == '-' || s[at] == '+');
	return at < len && at + chars_digits(s + at, len - at) == len;
}

/* Hashes an integer, whose last `digits` characters are digits without leading zeros. */
static enum hash_number hash_whole(const char *s, size_t len, size_t digits, uint64_t *ret)
{
	uint64_t value = 0;
	bool negative = *s == '-';

	if (digits > INTEGER_DIGITS)
		return HASH_NONE;
	for (size_t i = len - digits; i < len; i++)
		value = value * 10 + (uint64_t)(s[i] - '0');
	if (value > (uint64_t)INT64_MAX + negative)
		return HASH_DOUBTFUL; /* as a double it may equal the least integer of 64 bits */
	*ret = mix(negative ? -value : value);
	return HASH_NUMBER;
}

enum hash_number hash_number_text(const char *s, size_t len, uint64_t *ret)
{
	char copy[TEXT_MAX];
	struct shape shape;
	double value;

	trim(&s, &len);
	if (!read_shape(s, len, &shape))
		return HASH_NONE;
	if (shape.whole)
		return hash_whole(s, len, shape.digits, ret);
	if (shape.digits > SURE_DIGITS || len >= sizeof(copy))
		return HASH_DOUBTFUL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	value = strtod(copy, NULL);
	if (value != 0 && !(fabs(value) > SURE_LEAST && fabs(value) < SURE_MOST))
		return HASH_DOUBTFUL;
	*ret = hash_real(value);
	return HASH_NUMBER;
}

bool hash_number_value(sqlite3_value *value, uint64_t *ret)
{
	char text[TEXT_MAX];
	double real;

	if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		*ret = hash_integer(sqlite3_value_int64(value));
		return true;
	}
	real = sqlite3_value_double(value);
	if (is_integer(real)) {
		*ret = hash_real(real);
		return fabs(real) < EXACT_MOST;
	}
	if (fabs(real) >= INTEGER_END)
		return false; /* texts with more digits than 64 bits have may equal it */
	/* This finds texts of this number's digits and of a neighboring number's. */
	sqlite3_snprintf(sizeof(text), text, "%!.15g", real);
	return hash_number_text(text, strlen(text), ret) == HASH_NUMBER;
}
