/* SPDX-License-Identifier: MIT */
/*
 * infer.c - classifies values and decides columns. A wrong guess loses data silently (phone
 * numbers, 007, 1E5, numbers of 20 digits). A column therefore becomes numbers only if every value
 * reads back as written; otherwise it stays text and the reason is reported.
 */
#include "sql/infer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/util.h"
#include "sql/marked.h"
#include "sql/moment.h"

enum {
	SURE_DIGITS = 15,  /* every double holds so many */
	SURE_INTEGER = 18, /* and 64 bits hold so many */
	PHONE_MIN = 8,     /* digits of a number with a plus that may be a phone's */
	SURE_LENGTH = 300, /* no number so short overflows or underflows without an exponent */
	NUMBER_MAX = 1100, /* bytes of the longest number that is read */
	GROUP = 3,         /* digits between separators of thousands */
	DATE_LENGTH = 10,
	DATE_MAX = 40,
	EXACT_POWER = 22, /* powers of ten that a double holds exactly */
};

#define EXACT_MANTISSA (UINT64_C(1) << 53)

static bool is_one_of(const char *s, size_t len, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
			return true;
	return false;
}

static bool is_infinite(const char *s, size_t len)
{
	static const char *const words[] = { "inf", "Inf", "INF", "infinity", "Infinity" };
	size_t sign = len > 0 && (*s == '-' || *s == '+');

	return is_one_of(s + sign, len - sign, words, ARRAY_SIZE(words));
}

static enum infer_class word_class(const char *s, size_t len)
{
	static const char *const missing[] = { "NA",   "N/A",  "NaN",  "nan",  "NaT",
					       "NULL", "null", "None", "#N/A", "\\N" };
	static const char *const booleans[] = { "true", "True", "TRUE", "false", "False", "FALSE" };

	if (is_one_of(s, len, missing, ARRAY_SIZE(missing)))
		return INFER_MISSING;
	if (is_one_of(s, len, booleans, ARRAY_SIZE(booleans)))
		return INFER_BOOLEAN;
	return is_infinite(s, len) ? INFER_INFINITE : INFER_TEXT;
}

static bool is_date(const char *s, size_t len)
{
	if (len < DATE_LENGTH || len > DATE_MAX || chars_digits(s, len) != 4 || s[4] != '-' ||
	    chars_digits(s + 5, len - 5) != 2 || s[7] != '-' || chars_digits(s + 8, 2) != 2)
		return false;
	if (len > DATE_LENGTH && s[DATE_LENGTH] != 'T' && s[DATE_LENGTH] != ' ')
		return false;
	for (size_t i = DATE_LENGTH + 1; i < len; i++)
		if (!char_is_digit(s[i]) && strchr(":.,+-Z ", s[i]) == NULL)
			return false;
	return true;
}

/* Copies a number with a NUL and a point, for strtod. Returns false if it is too long. */
static bool copy_number(char out[NUMBER_MAX], const char *s, size_t len, char point)
{
	char *at;

	if (len >= NUMBER_MAX)
		return false;
	memcpy(out, s, len);
	out[len] = '\0';
	at = point != '.' ? strchr(out, point) : NULL;
	if (at != NULL)
		*at = '.';
	return true;
}

/* Returns whether a double holds it: neither too large nor, unless it is zero, too small. */
static bool fits_double(const char *s, size_t len, char point)
{
	char text[NUMBER_MAX];
	double value;

	if (!copy_number(text, s, len, point))
		return false;
	value = strtod(text, NULL);
	return isfinite(value) && (value != 0 || strcspn(text, "123456789") >= strcspn(text, "eE"));
}

static enum infer_class integer_class(const char *s, size_t len, size_t sign)
{
	char text[NUMBER_MAX];
	char again[NUMBER_MAX];
	bool minus = *s == '-';
	double value;

	if (len - sign <= SURE_DIGITS)
		return *s == '+' && len - sign >= PHONE_MIN ? INFER_PLUS : INFER_INTEGER;
	if (len >= NUMBER_MAX - 1)
		return INFER_WIDE;
	text[0] = '-';
	memcpy(text + 1, s + sign, len - sign);
	text[1 + len - sign] = '\0';
	value = strtod(text, NULL);
	(void)snprintf(again, sizeof(again), "%.0f", value);
	if (len - sign > SURE_INTEGER) {
		static const char most[] = "-9223372036854775807"; /* and one more below zero */
		static const char least[] = "-9223372036854775808";
		size_t max = sizeof(most) - 1;
		const char *limit = minus ? least : most;

		if (strlen(text) > max || (strlen(text) == max && strcmp(text, limit) > 0))
			return str_eq(text, again) ? INFER_HUGE : INFER_WIDE;
	}
	return str_eq(text, again) ? INFER_INTEGER : INFER_LONG;
}

/* Returns the position behind an exponent, `at` if there is none; NULL for one without digits. */
static const char *after_power(const char *at, const char *end)
{
	const char *s = at + 1;
	size_t n;

	if (at == end || (*at != 'e' && *at != 'E'))
		return at;
	s += s < end && (*s == '-' || *s == '+');
	n = chars_digits(s, (size_t)(end - s));
	return n > 0 ? s + n : NULL;
}

/*
 * Returns the class of a number of which `whole` digits follow the sign, and something else follows
 * them.
 */
static enum infer_class fraction_class(const char *s, size_t len, size_t sign, size_t whole)
{
	const char *end = s + len;
	const char *at = s + sign + whole;
	char point = *at == ',' ? ',' : '.';
	bool pointed = *at == point;
	size_t part = pointed ? chars_digits(at + 1, (size_t)(end - at) - 1) : 0;
	const char *power = at + pointed + part;
	const char *after = after_power(power, end);

	if (whole + part == 0 || after != end || (point == ',' && part == 0))
		return INFER_TEXT;
	if (whole > 1 && s[sign] == '0')
		return INFER_PADDED;
	if ((power != end || len > SURE_LENGTH) && !fits_double(s, len, point))
		return INFER_TEXT;
	if (point == ',')
		return INFER_COMMA;
	if (whole >= 1 && whole <= GROUP && part == GROUP && power == end && s[sign] != '0')
		return INFER_GROUPED;
	return !pointed && char_is_digit(power[1]) ? INFER_POWER : INFER_REAL;
}

static enum infer_class class_of(const char *s, size_t len)
{
	size_t sign;
	size_t whole;

	if (len == 0)
		return INFER_EMPTY;
	sign = *s == '-' || *s == '+';
	whole = chars_digits(s + sign, len - sign);
	if (sign + whole == len && whole > 0)
		return whole > 1 && s[sign] == '0' ? INFER_PADDED : integer_class(s, len, sign);
	if (whole == 0 && (sign == len || (s[sign] != '.' && s[sign] != ',')))
		return word_class(s, len);
	if (is_date(s, len))
		return INFER_DATE;
	return fraction_class(s, len, sign, whole);
}

enum infer_class infer_class(const char *s, size_t len)
{
	enum infer_class class;

	chars_trim(&s, &len);
	class = class_of(s, len);
	if (class != INFER_TEXT)
		return class;
	if (moment_traits(s, len) != 0)
		return INFER_MOMENT;
	switch (marked_kind(s, len)) {
	case MARKED_COMMA:
		return INFER_MARKED_COMMA;
	case MARKED_OTHER:
		return INFER_MARKED;
	default:
		return INFER_TEXT;
	}
}

/* ---- a column ---- */

bool infer_is_number(enum infer_class class, bool commas)
{
	switch (class) {
	case INFER_INTEGER:
	case INFER_LONG:
	case INFER_PLUS:
	case INFER_HUGE:
	case INFER_REAL:
	case INFER_GROUPED:
	case INFER_POWER:
	case INFER_INFINITE:
		return true;
	case INFER_COMMA:
		return commas;
	default:
		return false;
	}
}

static uint64_t count_numbers(const uint64_t counts[INFER_CLASSES], bool commas)
{
	uint64_t numbers = 0;

	for (unsigned i = 0; i < INFER_CLASSES; i++)
		numbers += infer_is_number((enum infer_class)i, commas) ? counts[i] : 0;
	return numbers;
}

uint64_t infer_others(const uint64_t counts[INFER_CLASSES], bool commas)
{
	uint64_t present = 0;

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		present += counts[i];
	return present - count_numbers(counts, commas);
}

/* Decides a column whose values are all numbers. */
static struct infer_verdict decide_numbers(const uint64_t counts[INFER_CLASSES])
{
	uint64_t points = counts[INFER_REAL] + counts[INFER_GROUPED] + counts[INFER_POWER];
	bool comma = counts[INFER_COMMA] > 0;
	bool real = comma || points + counts[INFER_HUGE] + counts[INFER_INFINITE] > 0;
	enum infer_reason reason = INFER_NO_REASON;

	if (comma && points > 0)
		reason = INFER_TWO_POINTS;
	else if (real && counts[INFER_LONG] > 0)
		reason = INFER_INEXACT;
	if (reason != INFER_NO_REASON)
		return (struct infer_verdict){ .type = INFER_TYPE_TEXT, .reason = reason };
	return (struct infer_verdict){ .type = real ? INFER_TYPE_REAL : INFER_TYPE_INTEGER,
				       .comma = comma,
				       .missing = true };
}

/* Counts marked numbers; 2,5 is a plain number only with `commas`. */
static uint64_t count_marked(const uint64_t counts[INFER_CLASSES], bool commas)
{
	return counts[INFER_MARKED] + counts[INFER_MARKED_COMMA] +
	       (commas ? 0 : counts[INFER_COMMA]);
}

struct infer_verdict infer_decide(const uint64_t counts[INFER_CLASSES], bool commas)
{
	uint64_t numbers = count_numbers(counts, commas);
	uint64_t others = infer_others(counts, commas);
	uint64_t moments = counts[INFER_DATE] + counts[INFER_MOMENT];
	struct infer_verdict verdict = { .type = INFER_TYPE_TEXT };

	if (numbers > 0 && numbers == counts[INFER_PLUS]) {
		verdict.missing = others == 0;
		return verdict;
	}
	if (others == 0 && numbers > counts[INFER_INFINITE])
		return decide_numbers(counts);
	/* Dates or booleans, nothing else. */
	verdict.missing = others > 0 && (others == moments || others == counts[INFER_BOOLEAN]) &&
			  numbers == 0;
	if (verdict.missing && counts[INFER_BOOLEAN] > 0)
		verdict.type = INFER_TYPE_BOOLEAN;
	if (others > 0 && others == counts[INFER_WIDE])
		verdict.reason = INFER_TOO_WIDE;
	else if (numbers > others && others > 0)
		verdict.reason = INFER_FEW_TEXTS;
	else if (others > 0 && 2 * (numbers + count_marked(counts, commas)) > numbers + others)
		verdict.reason = INFER_MARKS;
	else if (!verdict.missing && 2 * counts[INFER_BOOLEAN] > numbers + others)
		verdict.reason = INFER_FEW_WORDS;
	else if (!verdict.missing && 2 * moments > numbers + others)
		verdict.reason = INFER_FEW_DATES;
	return verdict;
}

bool infer_has_commas(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict)
{
	return verdict.comma || counts[INFER_MARKED_COMMA] > 0;
}

bool infer_is_grouped(const uint64_t counts[INFER_CLASSES], struct infer_verdict verdict)
{
	uint64_t sure = counts[INFER_REAL] + counts[INFER_POWER] + counts[INFER_HUGE] +
			counts[INFER_INFINITE];

	return verdict.type == INFER_TYPE_REAL && counts[INFER_GROUPED] > 0 && sure == 0;
}

void infer_doubt(const uint64_t counts[INFER_CLASSES], struct infer_verdict *verdict)
{
	if (infer_is_grouped(counts, *verdict))
		*verdict = (struct infer_verdict){ .type = INFER_TYPE_TEXT,
						   .reason = INFER_THOUSANDS };
}

/* ---- values ---- */

int64_t infer_integer(const char *s, size_t len)
{
	uint64_t value = 0;
	bool minus;

	chars_trim(&s, &len);
	minus = len > 0 && *s == '-';
	for (size_t i = len > 0 && (*s == '-' || *s == '+'); i < len; i++)
		value = value * 10 + (uint64_t)(s[i] - '0');
	return (int64_t)(minus ? 0 - value : value);
}

int64_t infer_boolean(const char *s, size_t len)
{
	chars_trim(&s, &len);
	return len > 0 && (*s == 't' || *s == 'T');
}

static double slow_real(const char *s, size_t len, char point)
{
	char text[NUMBER_MAX];

	return copy_number(text, s, len, point) ? strtod(text, NULL) : 0;
}

/*
 * Digits that a double holds exactly, times or divided by such a power of ten: rounded once, so the
 * result is exact.
 */
double infer_real(const char *s, size_t len, char point)
{
	static const double powers[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
							1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
							1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
							1e18, 1e19, 1e20, 1e21, 1e22 };
	uint64_t mantissa = 0;
	size_t places = 0;
	bool pointed = false;
	size_t i;

	chars_trim(&s, &len);
	i = len > 0 && (*s == '-' || *s == '+');
	for (; i < len && mantissa < EXACT_MANTISSA / 10; i++) {
		if (!pointed && s[i] == point) {
			pointed = true;
			continue;
		}
		if (!char_is_digit(s[i]))
			break;
		mantissa = mantissa * 10 + (uint64_t)(s[i] - '0');
		places += pointed;
	}
	if (i < len || places > EXACT_POWER)
		return slow_real(s, len, point);
	return (*s == '-' ? -1.0 : 1.0) * ((double)mantissa / powers[places]);
}
