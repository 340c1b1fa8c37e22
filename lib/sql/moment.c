/* SPDX-License-Identifier: MIT */
/*
 * moment.c - a hand-written reader of dates and times that collects traits instead of a value. The
 * reader of a CSV file warns with them that a text comparison would be wrong; which of 1/2/2020's
 * numbers is the month is left open until a value decides it.
 */
#include "sql/moment.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

enum {
	DAY_MAX = 31,
	MONTH_MAX = 12,
	HOUR_MAX = 12, /* before AM */
	MINUTE_MAX = 59,
	MONTH_SHORT = 3, /* letters */
	MONTH_LONG = 9,
	MOMENT_MAX = 40,    /* bytes */
	SHORT_FRACTION = 3, /* digits */
};

/* The text left to read. */
struct rest {
	const char *s;
	size_t len;
};

static void skip(struct rest *rest, size_t count)
{
	rest->s += count;
	rest->len -= count;
}

static bool begins_with_char(const struct rest *rest, char c)
{
	return rest->len > 0 && *rest->s == c;
}

static bool take_char(struct rest *rest, char c)
{
	if (!begins_with_char(rest, c))
		return false;
	skip(rest, 1);
	return true;
}

/*
 * Returns how many digits it begins with, and sets *ret to their value if there are at most four.
 */
static size_t take_number(struct rest *rest, unsigned *ret)
{
	size_t count = 0;

	*ret = 0;
	for (; count < rest->len && isdigit((unsigned char)rest->s[count]); count++)
		if (count < 4)
			*ret = *ret * 10 + (unsigned)(rest->s[count] - '0');
	skip(rest, count);
	return count;
}

/* ---- dates ---- */

static unsigned mark_of(char c)
{
	return c == '-' ? MOMENT_DASH : c == '/' ? MOMENT_SLASH : c == '.' ? MOMENT_DOT : 0;
}

/* Returns the traits of a day or a month with so many digits. */
static unsigned day_traits(size_t digits, unsigned value)
{
	return digits == 1 ? MOMENT_SHORT_DAY : value < 10 ? MOMENT_ZERO_DAY : 0;
}

static bool is_day(size_t digits, unsigned value)
{
	return (digits == 1 || digits == 2) && value >= 1 && value <= DAY_MAX;
}

/* Takes a month's name or its first letters, and the full stop behind these. */
static bool take_month(struct rest *rest)
{
	static const char *const names[] = { "january",   "february", "march",    "april",
					     "may",       "june",     "july",     "august",
					     "september", "october",  "november", "december" };
	size_t len = 0;

	while (len < rest->len && isalpha((unsigned char)rest->s[len]))
		len++;
	if (len < MONTH_SHORT || len > MONTH_LONG)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strncasecmp(names[i], rest->s, len) != 0)
			continue;
		skip(rest, len);
		(void)take_char(rest, '.');
		return true;
	}
	return false;
}

/* Takes `mark` and the year, of four digits or two. */
static unsigned take_last_year(struct rest *rest, bool short_too)
{
	unsigned value;
	size_t digits = take_number(rest, &value);

	if (digits == 4)
		return MOMENT_YEAR_LAST;
	return digits == 2 && short_too ? MOMENT_YEAR_LAST | MOMENT_SHORT_YEAR : 0;
}

/* Takes Jan 31, 2026. */
static unsigned take_named(struct rest *rest)
{
	unsigned value;
	unsigned traits;
	size_t digits;

	if (!take_month(rest))
		return 0;
	(void)take_char(rest, ' ');
	digits = take_number(rest, &value);
	if (digits == 4)
		return MOMENT_NAMED | MOMENT_YEAR_LAST;
	if (!is_day(digits, value))
		return 0;
	(void)take_char(rest, ',');
	if (!take_char(rest, ' '))
		return 0;
	traits = take_last_year(rest, false);
	return traits != 0 ? traits | MOMENT_NAMED | day_traits(digits, value) : 0;
}

/* Takes 31-Jan-2026, behind the day. */
static unsigned take_named_month(struct rest *rest, char mark)
{
	unsigned traits;

	if (!take_month(rest))
		return 0;
	(void)take_char(rest, ',');
	if (!take_char(rest, mark))
		return 0;
	traits = take_last_year(rest, mark != ' ');
	return traits != 0 ? traits | MOMENT_NAMED : 0;
}

/* Takes 2026-01-31, behind the year. */
static unsigned take_year_first(struct rest *rest)
{
	char mark = rest->len > 0 ? *rest->s : '\0';
	unsigned month;
	unsigned day;
	size_t month_digits;
	size_t day_digits;

	if (mark_of(mark) == 0)
		return 0;
	skip(rest, 1);
	month_digits = take_number(rest, &month);
	if (!is_day(month_digits, month) || month > MONTH_MAX || !take_char(rest, mark))
		return 0;
	day_digits = take_number(rest, &day);
	if (!is_day(day_digits, day))
		return 0;
	return MOMENT_YEAR_FIRST | mark_of(mark) | day_traits(month_digits, month) |
	       day_traits(day_digits, day);
}

/* Takes 31.01.2026 or 01/31/2026, behind the first number. */
static unsigned take_year_last(struct rest *rest, size_t first_digits, unsigned first)
{
	char mark = rest->len > 0 ? *rest->s : '\0';
	unsigned traits = mark_of(mark) | day_traits(first_digits, first);
	unsigned second;
	size_t digits;
	unsigned year;

	if (!is_day(first_digits, first) || (mark != ' ' && mark_of(mark) == 0))
		return 0;
	skip(rest, 1);
	if (rest->len > 0 && isalpha((unsigned char)*rest->s)) {
		year = take_named_month(rest, mark);
		return year != 0 ? year | traits : 0;
	}
	digits = take_number(rest, &second);
	if (mark == ' ' || !is_day(digits, second) || (first > MONTH_MAX && second > MONTH_MAX) ||
	    !take_char(rest, mark))
		return 0;
	/* 1.2.20 may be anything. */
	year = take_last_year(rest, mark == '/' || (first_digits == 2 && digits == 2));
	traits |= day_traits(digits, second);
	traits |= first > MONTH_MAX ? MOMENT_DAY_FIRST : 0;
	traits |= second > MONTH_MAX ? MOMENT_MONTH_FIRST : 0;
	return year != 0 ? year | traits : 0;
}

/* Returns the traits of the date at the start; 0 for no date. */
static unsigned take_date(struct rest *rest)
{
	unsigned value;
	size_t digits;

	if (rest->len > 0 && isalpha((unsigned char)*rest->s))
		return take_named(rest);
	digits = take_number(rest, &value);
	return digits == 4 ? take_year_first(rest) : take_year_last(rest, digits, value);
}

/* ---- times ---- */

static bool take_two(struct rest *rest, unsigned most)
{
	unsigned value;

	return take_number(rest, &value) == 2 && value <= most;
}

/* Takes +02:00, +0200 or +02. */
static unsigned take_offset(struct rest *rest)
{
	bool zero = rest->len > 1 && strspn(rest->s + 1, "0:") + 1 >= rest->len;
	bool minus = begins_with_char(rest, '-');
	unsigned form;
	unsigned value;
	size_t digits;

	skip(rest, 1);
	digits = take_number(rest, &value);
	if (digits != 2 && digits != 4)
		return 0;
	value /= digits == 4 ? 100 : 1;
	form = digits == 2 && begins_with_char(rest, ':') ? 0 : MOMENT_UNREAD;
	if (form == 0 && (!take_char(rest, ':') || !take_two(rest, MINUTE_MAX)))
		return 0;
	return form | (zero             ? MOMENT_UTC | MOMENT_PLUS_ZERO
		       : minus          ? MOMENT_MINUS_OFFSET
		       : value % 2 == 0 ? MOMENT_EVEN_OFFSET
					: MOMENT_ODD_OFFSET);
}

static bool take_half(struct rest *rest)
{
	static const char *const halves[] = { "am", "pm", "a.m.", "p.m." };
	struct rest at = *rest;

	(void)take_char(&at, ' ');
	for (size_t i = 0; i < ARRAY_SIZE(halves); i++) {
		if (at.len != strlen(halves[i]) || strncasecmp(at.s, halves[i], at.len) != 0)
			continue;
		skip(rest, rest->len);
		return true;
	}
	return false;
}

/* Takes the name of the zone without offset; SQLite does not read it. */
static bool take_name(struct rest *rest)
{
	if (rest->len != 3 || (memcmp(rest->s, "UTC", 3) != 0 && memcmp(rest->s, "GMT", 3) != 0))
		return false;
	skip(rest, 3);
	return true;
}

/* Takes the text behind the time. Returns false for anything else. */
static bool take_zone(struct rest *rest, unsigned *traits)
{
	unsigned offset;

	if (take_half(rest))
		*traits |= MOMENT_HALF_DAY;
	if (rest->len == 0) {
		*traits |= MOMENT_NO_OFFSET;
		return true;
	}
	(void)take_char(rest, ' ');
	offset = begins_with_char(rest, '+') || begins_with_char(rest, '-') ? take_offset(rest)
		 : take_char(rest, 'Z') ? MOMENT_UTC | MOMENT_ZED
		 : take_name(rest)      ? MOMENT_UTC | MOMENT_UNREAD
					: 0;
	*traits |= offset;
	return offset != 0 && rest->len == 0;
}

/* Takes the text behind the seconds. Returns false for a point without digits. */
static bool take_fraction(struct rest *rest, unsigned *traits)
{
	const char *fraction;
	unsigned value;
	size_t zeros = 0;
	size_t digits;

	if (!take_char(rest, '.') && !take_char(rest, ',')) {
		*traits |= MOMENT_NO_FRACTION;
		return true;
	}
	fraction = rest->s;
	digits = take_number(rest, &value);
	while (zeros < digits && fraction[zeros] == '0')
		zeros++;
	*traits |= digits > SHORT_FRACTION ? MOMENT_LONG_FRACTION : MOMENT_FRACTION;
	*traits |= zeros == digits ? MOMENT_ZERO_FRACTION : 0;
	*traits |= fraction[-1] == ',' ? MOMENT_UNREAD : 0;
	return digits > 0;
}

/* Takes the text behind the minutes. Returns false if there are no seconds. */
static bool take_seconds(struct rest *rest, unsigned *traits)
{
	bool zero;

	if (!take_char(rest, ':')) {
		*traits |= MOMENT_NO_SECONDS;
		return true;
	}
	zero = rest->len > 1 && memcmp(rest->s, "00", 2) == 0;
	if (!take_two(rest, MINUTE_MAX + 1) || !take_fraction(rest, traits))
		return false;
	if (zero && (*traits & (MOMENT_NO_FRACTION | MOMENT_ZERO_FRACTION)) != 0)
		*traits |= MOMENT_ZERO_SECONDS;
	return true;
}

/* Takes all of the rest; 0 for no time. */
static unsigned take_time(struct rest *rest)
{
	unsigned traits = MOMENT_TIME;
	unsigned value;
	size_t digits = take_number(rest, &value);

	if (digits < 1 || digits > 2)
		return 0;
	traits |= digits == 1 ? MOMENT_SHORT_HOUR : value < 10 ? MOMENT_ZERO_HOUR : 0;
	if (value <= HOUR_MAX && take_half(rest)) /* 10 AM */
		return traits | MOMENT_NO_SECONDS | MOMENT_HALF_DAY | MOMENT_NO_OFFSET;
	if (!take_char(rest, ':') || !take_two(rest, MINUTE_MAX))
		return 0;
	return take_seconds(rest, &traits) && take_zone(rest, &traits) ? traits : 0;
}

/* ---- a text ---- */

unsigned moment_traits(const char *s, size_t len)
{
	struct rest rest = { .s = s, .len = len };
	struct rest whole = rest;
	unsigned date;
	unsigned time;
	unsigned comma;
	bool tee;

	if (len < 3 || len > MOMENT_MAX)
		return 0;
	time = take_time(&rest);
	if (time != 0)
		return time & ~(unsigned)MOMENT_NO_OFFSET;
	rest = whole;
	date = take_date(&rest);
	if (date == 0 || rest.len == 0)
		return date;
	comma = take_char(&rest, ',') ? MOMENT_UNREAD : 0;
	tee = begins_with_char(&rest, 'T');
	if (!tee && !begins_with_char(&rest, ' '))
		return 0;
	skip(&rest, 1);
	time = take_time(&rest);
	return time != 0 ? date | time | comma | (tee ? MOMENT_TEE : MOMENT_BLANK) : 0;
}

int moment_offset(const char *s, size_t len)
{
	const char *sign = s + len;
	struct rest rest;
	unsigned value;
	unsigned minutes = 0;
	size_t digits;

	do
		sign--;
	while (sign > s && *sign != '+' && *sign != '-');
	rest = (struct rest){ .s = sign + 1, .len = (size_t)(s + len - sign) - 1 };
	digits = take_number(&rest, &value);
	if (digits == 4) {
		minutes = value % 100;
		value /= 100;
	} else if (take_char(&rest, ':')) {
		(void)take_number(&rest, &minutes);
	}
	value = 60 * value + minutes;
	return *sign == '-' ? -(int)value : (int)value;
}

bool moment_is_elsewhere(int a, int b)
{
	return a != 0 && b != 0 && a != b;
}

bool moment_is_midnight(const char *s, size_t len)
{
	unsigned traits = moment_traits(s, len);
	const char *colon = memchr(s, ':', len);

	return moment_has_both(traits) && colon != NULL && colon[-1] == '0' &&
	       (colon[-2] == '0' || !isdigit((unsigned char)colon[-2])) &&
	       memcmp(colon + 1, "00", 2) == 0 && !(traits & MOMENT_HALF_DAY) &&
	       (traits & (MOMENT_NO_SECONDS | MOMENT_ZERO_SECONDS)) != 0;
}

bool moment_is_compact(const char *s, size_t len)
{
	unsigned month;
	unsigned day;

	if (len != 8 || strspn(s, "0123456789") < len)
		return false;
	month = (unsigned)(10 * (s[4] - '0') + s[5] - '0');
	day = (unsigned)(10 * (s[6] - '0') + s[7] - '0');
	return *s != '0' && is_day(2, month) && month <= MONTH_MAX && is_day(2, day);
}
