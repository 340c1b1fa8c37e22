/* SPDX-License-Identifier: MIT */
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
	MARKS = MOMENT_DASH | MOMENT_SLASH | MOMENT_DOT,
	ZONES = MOMENT_UTC | MOMENT_OFFSETS,
	OFFSETS = ZONES | MOMENT_NO_OFFSET,
	PRECISIONS =
		MOMENT_NO_SECONDS | MOMENT_NO_FRACTION | MOMENT_FRACTION | MOMENT_LONG_FRACTION,
	/* What a simple expression does not undo. */
	HARD = MOMENT_NAMED | MOMENT_SHORT_YEAR | MOMENT_HALF_DAY | MOMENT_UNREAD,
};

/* What is left of the text. */
struct rest {
	const char *s;
	size_t len;
};

static void skip(struct rest *rest, size_t count)
{
	rest->s += count;
	rest->len -= count;
}

static bool begins(const struct rest *rest, char c)
{
	return rest->len > 0 && *rest->s == c;
}

static bool take(struct rest *rest, char c)
{
	if (!begins(rest, c))
		return false;
	skip(rest, 1);
	return true;
}

/* How many digits it begins with; their value, when there are at most four, is *ret. */
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

/* The traits that a day or a month of so many digits has. */
static unsigned day_traits(size_t digits, unsigned value)
{
	return digits == 1 ? MOMENT_SHORT_DAY : value < 10 ? MOMENT_ZERO_DAY : 0;
}

static bool is_day(size_t digits, unsigned value)
{
	return (digits == 1 || digits == 2) && value >= 1 && value <= DAY_MAX;
}

/* A month's name or its first letters, and the full stop behind these. */
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
		(void)take(rest, '.');
		return true;
	}
	return false;
}

/* `mark` and the year, four digits or two. */
static unsigned take_last_year(struct rest *rest, bool short_too)
{
	unsigned value;
	size_t digits = take_number(rest, &value);

	if (digits == 4)
		return MOMENT_YEAR_LAST;
	return digits == 2 && short_too ? MOMENT_YEAR_LAST | MOMENT_SHORT_YEAR : 0;
}

/* Jan 31, 2026 */
static unsigned take_named(struct rest *rest)
{
	unsigned value;
	unsigned traits;
	size_t digits;

	if (!take_month(rest))
		return 0;
	(void)take(rest, ' ');
	digits = take_number(rest, &value);
	if (digits == 4)
		return MOMENT_NAMED | MOMENT_YEAR_LAST;
	if (!is_day(digits, value))
		return 0;
	(void)take(rest, ',');
	if (!take(rest, ' '))
		return 0;
	traits = take_last_year(rest, false);
	return traits != 0 ? traits | MOMENT_NAMED | day_traits(digits, value) : 0;
}

/* 31-Jan-2026, behind the day */
static unsigned take_named_month(struct rest *rest, char mark)
{
	unsigned traits;

	if (!take_month(rest))
		return 0;
	(void)take(rest, ',');
	if (!take(rest, mark))
		return 0;
	traits = take_last_year(rest, mark != ' ');
	return traits != 0 ? traits | MOMENT_NAMED : 0;
}

/* 2026-01-31, behind the year */
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
	if (!is_day(month_digits, month) || month > MONTH_MAX || !take(rest, mark))
		return 0;
	day_digits = take_number(rest, &day);
	if (!is_day(day_digits, day))
		return 0;
	return MOMENT_YEAR_FIRST | mark_of(mark) | day_traits(month_digits, month) |
	       day_traits(day_digits, day);
}

/* 31.01.2026 or 01/31/2026, behind the first number */
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
	    !take(rest, mark))
		return 0;
	/* 1.2.20 may be anything. */
	year = take_last_year(rest, mark == '/' || (first_digits == 2 && digits == 2));
	traits |= day_traits(digits, second);
	traits |= first > MONTH_MAX ? MOMENT_DAY_FIRST : 0;
	traits |= second > MONTH_MAX ? MOMENT_MONTH_FIRST : 0;
	return year != 0 ? year | traits : 0;
}

/* Of what it begins with; 0 for no date. */
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

/* +02:00, +0200, +02 */
static unsigned take_offset(struct rest *rest)
{
	bool zero = rest->len > 1 && strspn(rest->s + 1, "0:") + 1 >= rest->len;
	bool minus = begins(rest, '-');
	unsigned form;
	unsigned value;
	size_t digits;

	skip(rest, 1);
	digits = take_number(rest, &value);
	if (digits != 2 && digits != 4)
		return 0;
	value /= digits == 4 ? 100 : 1;
	form = digits == 2 && begins(rest, ':') ? 0 : MOMENT_UNREAD;
	if (form == 0 && (!take(rest, ':') || !take_two(rest, MINUTE_MAX)))
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

	(void)take(&at, ' ');
	for (size_t i = 0; i < ARRAY_SIZE(halves); i++) {
		if (at.len != strlen(halves[i]) || strncasecmp(at.s, halves[i], at.len) != 0)
			continue;
		skip(rest, rest->len);
		return true;
	}
	return false;
}

/* The name of the zone that has no offset; SQLite does not read it. */
static bool take_name(struct rest *rest)
{
	if (rest->len != 3 || (memcmp(rest->s, "UTC", 3) != 0 && memcmp(rest->s, "GMT", 3) != 0))
		return false;
	skip(rest, 3);
	return true;
}

/* What stands behind the time; false for something else. */
static bool take_zone(struct rest *rest, unsigned *traits)
{
	unsigned offset;

	if (take_half(rest))
		*traits |= MOMENT_HALF_DAY;
	if (rest->len == 0) {
		*traits |= MOMENT_NO_OFFSET;
		return true;
	}
	(void)take(rest, ' ');
	offset = begins(rest, '+') || begins(rest, '-') ? take_offset(rest)
		 : take(rest, 'Z')                      ? MOMENT_UTC | MOMENT_ZED
		 : take_name(rest)                      ? MOMENT_UTC | MOMENT_UNREAD
							: 0;
	*traits |= offset;
	return offset != 0 && rest->len == 0;
}

/* Behind the seconds; false for a point without digits. */
static bool take_fraction(struct rest *rest, unsigned *traits)
{
	const char *fraction;
	unsigned value;
	size_t zeros = 0;
	size_t digits;

	if (!take(rest, '.') && !take(rest, ',')) {
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

/* Behind the minutes; false for no seconds. */
static bool take_seconds(struct rest *rest, unsigned *traits)
{
	bool zero;

	if (!take(rest, ':')) {
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

/* All of the rest; 0 for no time. */
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
	if (!take(rest, ':') || !take_two(rest, MINUTE_MAX))
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
	comma = take(&rest, ',') ? MOMENT_UNREAD : 0;
	tee = begins(&rest, 'T');
	if (!tee && !begins(&rest, ' '))
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
	} else if (take(&rest, ':')) {
		(void)take_number(&rest, &minutes);
	}
	value = 60 * value + minutes;
	return *sign == '-' ? -(int)value : (int)value;
}

bool moment_is_elsewhere(int a, int b)
{
	return a != 0 && b != 0 && a != b;
}

/* ---- texts together ---- */

static bool has_all(unsigned traits, unsigned wanted)
{
	return (traits & wanted) == wanted;
}

/* More than one of them. */
static bool has_several(unsigned traits, unsigned of)
{
	unsigned found = traits & of;

	return (found & (found - 1)) != 0;
}

bool moment_has_both(unsigned traits)
{
	return (traits & MOMENT_DATE) != 0 && (traits & MOMENT_TIME) != 0;
}

bool moment_is_day(unsigned traits)
{
	return (traits & MOMENT_DATE) != 0 && (traits & MOMENT_TIME) == 0;
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

bool moment_sorts_wrong(unsigned traits)
{
	return (traits &
		(MOMENT_YEAR_LAST | MOMENT_SHORT_DAY | MOMENT_SHORT_HOUR | MOMENT_HALF_DAY)) != 0 ||
	       has_several(traits, MARKS) || has_all(traits, MOMENT_TEE | MOMENT_BLANK) ||
	       has_several(traits, OFFSETS) ||
	       ((traits & MOMENT_ZED) != 0 && has_several(traits, PRECISIONS));
}

bool moment_is_unread(unsigned traits)
{
	return (traits & (MOMENT_YEAR_LAST | MOMENT_SHORT_DAY | MOMENT_SHORT_HOUR |
			  MOMENT_HALF_DAY | MOMENT_SLASH | MOMENT_DOT | MOMENT_UNREAD)) != 0;
}

/* Whether `a` has seconds or digits behind a moment that `b` may have without them. */
static bool is_more_precise(unsigned a, unsigned b)
{
	return ((b & MOMENT_NO_SECONDS) && (a & MOMENT_ZERO_SECONDS)) ||
	       ((b & MOMENT_NO_FRACTION) && (a & MOMENT_ZERO_FRACTION)) ||
	       ((b & PRECISIONS) == MOMENT_FRACTION && (a & PRECISIONS) == MOMENT_LONG_FRACTION);
}

/* Whether a Z of `a` stands where `b` has further digits, which are less: 10:00Z and 10:00:30. */
static bool is_cut_by_zed(unsigned a, unsigned b)
{
	unsigned precisions = a & PRECISIONS;
	unsigned least = precisions & -precisions;

	return (a & MOMENT_ZED) != 0 && least > 0 && (b & PRECISIONS) >= 2 * least;
}

static bool has_other_zone(unsigned a, unsigned b)
{
	return ((a & ZONES) != 0 && (b & ZONES) != 0 && (a & b & ZONES) == 0) ||
	       ((a & MOMENT_ZED) && (b & MOMENT_PLUS_ZERO)) ||
	       ((b & MOMENT_ZED) && (a & MOMENT_PLUS_ZERO));
}

static bool has_other_time(unsigned a, unsigned b)
{
	return ((a ^ b) & MOMENT_HALF_DAY) != 0 || has_other_zone(a, b) || is_cut_by_zed(a, b) ||
	       is_cut_by_zed(b, a) ||
	       ((a & b & MOMENT_DATE) && ((a ^ b) & (MOMENT_TEE | MOMENT_BLANK)) != 0);
}

bool moment_differs(unsigned a, unsigned b)
{
	unsigned kinds = MOMENT_DATE | MOMENT_NAMED | MOMENT_SHORT_YEAR | MARKS;

	return ((a ^ b) & kinds) != 0 || (has_all(a & b, MOMENT_TIME) && has_other_time(a, b)) ||
	       ((a & MOMENT_SHORT_DAY) && (b & MOMENT_ZERO_DAY)) ||
	       ((b & MOMENT_SHORT_DAY) && (a & MOMENT_ZERO_DAY)) ||
	       ((a & MOMENT_SHORT_HOUR) && (b & MOMENT_ZERO_HOUR)) ||
	       ((b & MOMENT_SHORT_HOUR) && (a & MOMENT_ZERO_HOUR));
}

bool moment_extends(unsigned a, unsigned b)
{
	return has_all(a & b, MOMENT_TIME) &&
	       (is_more_precise(a, b) || ((a & ZONES) != 0 && (b & MOMENT_NO_OFFSET) != 0));
}

bool moment_is_other(unsigned a, unsigned b)
{
	return moment_differs(a, b) || moment_extends(a, b) || moment_extends(b, a);
}

bool moment_is_ambiguous(unsigned traits)
{
	return has_several(traits, MARKS) || has_all(traits, MOMENT_DATE) ||
	       has_all(traits, MOMENT_TEE | MOMENT_BLANK) ||
	       has_all(traits, MOMENT_ZED | MOMENT_PLUS_ZERO) ||
	       has_all(traits, MOMENT_SHORT_HOUR | MOMENT_ZERO_HOUR) ||
	       moment_extends(traits, traits);
}

/* ---- what makes ISO 8601 of them ---- */

static char mark_char(unsigned traits)
{
	return traits & MOMENT_DASH ? '-' : traits & MOMENT_SLASH ? '/' : '.';
}

static bool put_year_last(struct buf *out, const char *name, unsigned traits)
{
	bool month = (traits & MOMENT_MONTH_FIRST) ||
		     (!(traits & MOMENT_DAY_FIRST) && (traits & MOMENT_SLASH));

	if (has_all(traits, MOMENT_DAY_FIRST | MOMENT_MONTH_FIRST))
		return false;
	if (!(traits & MOMENT_SHORT_DAY)) {
		buf_putf(out,
			 "substr(%s, 7, 4) || '-' || substr(%s, %d, 2) || '-' || substr(%s, %d, 2)",
			 name, name, month ? 1 : 4, name, month ? 4 : 1);
		if (traits & MOMENT_TIME)
			buf_putf(out, " || substr(%s, 11)", name);
		return true;
	}
	if (traits & MOMENT_TIME)
		return false;
	/* printf takes of each text the number that it begins with, and of NULL 0. */
	buf_putf(out, "nullif(printf('%%04d-%%02d-%%02d', substr(%s, -4), ", name);
	if (month)
		buf_putf(out, "%s, substr(%s, instr(%s, '%c') + 1)", name, name, name,
			 mark_char(traits));
	else
		buf_putf(out, "substr(%s, instr(%s, '%c') + 1), %s", name, name, mark_char(traits),
			 name);
	buf_puts(out, "), '0000-00-00')");
	return true;
}

static bool put_year_first(struct buf *out, const char *name, unsigned traits)
{
	bool mixed = has_several(traits, MARKS);
	char mark = mark_char(traits);

	if (traits & MOMENT_SHORT_DAY) {
		if (mixed || (traits & MOMENT_TIME))
			return false;
		buf_putf(out,
			 "nullif(printf('%%04d-%%02d-%%02d', %s, substr(%s, 6), "
			 "substr(%s, 6 + instr(substr(%s, 6), '%c'))), '0000-00-00')",
			 name, name, name, name, mark);
	} else if (has_several(traits, OFFSETS)) {
		return false;
	} else if (mixed || mark != '-') {
		if (has_all(traits, MOMENT_TEE | MOMENT_BLANK) || (traits & MOMENT_SHORT_HOUR))
			return false;
		buf_putf(out, "replace(replace(%s, '/', '-'), '.', '-')", name);
	} else if (traits & MOMENT_SHORT_HOUR) {
		buf_putf(out,
			 "substr(%s, 1, 11) || printf('%%02d', substr(%s, 12)) || substr(%s, "
			 "instr(%s, ':'))",
			 name, name, name, name);
	} else if (traits & MOMENT_ZED) {
		buf_putf(out, "replace(rtrim(%s, 'Z'), 'T', ' ')", name);
	} else {
		buf_putf(out, "replace(%s, 'T', ' ')", name);
	}
	return true;
}

/* Seconds of the day, of texts without seconds; some may count hours up to 24. */
static void put_half_day(struct buf *out, const char *name)
{
	buf_putf(out,
		 "time(3600 * (CAST(%s AS INTEGER) - 12 * (%s LIKE '12%%a%%') + 12 * (%s LIKE "
		 "'%%p%%' AND %s NOT LIKE '12%%')) + 60 * CAST(substr(%s, instr(%s || ':', ':') + "
		 "1) AS INTEGER), 'unixepoch')",
		 name, name, name, name, name, name);
}

bool moment_put_expression(struct buf *out, const char *name, unsigned traits)
{
	if ((traits & (HARD | ZONES | MOMENT_DATE | PRECISIONS)) ==
	    (MOMENT_HALF_DAY | MOMENT_NO_SECONDS)) {
		put_half_day(out, name);
		return true;
	}
	if ((traits & HARD) || has_all(traits, MOMENT_DATE))
		return false;
	if (traits & MOMENT_YEAR_FIRST)
		return put_year_first(out, name, traits);
	if (traits & MOMENT_YEAR_LAST)
		return !has_several(traits, MARKS) && !(traits & MOMENT_SHORT_HOUR) &&
		       put_year_last(out, name, traits);
	buf_putf(out, "printf('%%02d', %s) || substr(%s, instr(%s, ':'))", name, name, name);
	return true;
}
