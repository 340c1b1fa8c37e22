/* SPDX-License-Identifier: MIT */
/*
 * moment.h - texts that are dates or times of day, and whether they sort as what they mean.
 *
 * ISO 8601 does. 31.01.2020, 1/2/2020, 2026-1-5, 5 Jan 2026 and 9:05 do not: they have traits that
 * say why.
 */
#ifndef SQL_MOMENT_H
#define SQL_MOMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum moment_trait {
	MOMENT_YEAR_FIRST = 1 << 0,
	MOMENT_YEAR_LAST = 1 << 1,
	MOMENT_NAMED = 1 << 2, /* the month has a name */
	MOMENT_SHORT_YEAR = 1 << 3,
	MOMENT_SHORT_DAY = 1 << 4, /* the day or the month has one digit */
	MOMENT_ZERO_DAY = 1 << 5,  /* or a zero in front */
	MOMENT_DASH = 1 << 6,
	MOMENT_SLASH = 1 << 7,
	MOMENT_DOT = 1 << 8,
	MOMENT_DAY_FIRST = 1 << 9, /* the first number is no month */
	MOMENT_MONTH_FIRST = 1 << 10,
	MOMENT_TIME = 1 << 11,  /* it has a time of day */
	MOMENT_TEE = 1 << 12,   /* behind a T */
	MOMENT_BLANK = 1 << 13, /* or behind a blank */
	MOMENT_SHORT_HOUR = 1 << 14,
	MOMENT_ZERO_HOUR = 1 << 15,
	MOMENT_HALF_DAY = 1 << 16,   /* AM, PM */
	MOMENT_UTC = 1 << 17,        /* Z or an offset of zero */
	MOMENT_ODD_OFFSET = 1 << 18, /* another one: summer and winter differ by an hour */
	MOMENT_EVEN_OFFSET = 1 << 19,
	MOMENT_NO_OFFSET = 1 << 20, /* a date and a time without one */
	MOMENT_ZED = 1 << 21,       /* the offset is Z */
	MOMENT_PLUS_ZERO = 1 << 22, /* or +00:00 */
	MOMENT_ZERO_SECONDS = 1 << 23,
	MOMENT_ZERO_FRACTION = 1 << 24,
	/* How precise it is, from here on in this order. */
	MOMENT_NO_SECONDS = 1 << 25,
	MOMENT_NO_FRACTION = 1 << 26, /* of seconds */
	MOMENT_FRACTION = 1 << 27,    /* of up to three digits */
	MOMENT_LONG_FRACTION = 1 << 28,
	MOMENT_UNREAD =
		1 << 29, /* the offset is UTC or has no colon, or a comma stands somewhere */
	MOMENT_MINUS_OFFSET = 1 << 30, /* the offset is less than zero; the other two are more */
	MOMENT_OFFSETS = MOMENT_ODD_OFFSET | MOMENT_EVEN_OFFSET | MOMENT_MINUS_OFFSET,
	MOMENT_DATE = MOMENT_YEAR_FIRST | MOMENT_YEAR_LAST,
};

/* The traits of a text without blanks around it; 0 when it is neither a date nor a time. */
unsigned moment_traits(const char *s, size_t len);
/* The minutes of the offset that a text with one of MOMENT_OFFSETS has. */
int moment_offset(const char *s, size_t len);
/* Whether two offsets differ; 0 is none. */
bool moment_is_elsewhere(int a, int b);
/* A date that has a time, and one that has none. */
bool moment_has_both(unsigned traits);
bool moment_is_day(unsigned traits);
/* Whether the text is a date of eight digits, 20260131; moment_traits does not take it for one. */
bool moment_is_compact(const char *s, size_t len);
/* Whether the text is a date with the time at which its day begins. */
bool moment_is_midnight(const char *s, size_t len);
/* Whether texts with these traits, all of them together, sort otherwise than what they mean. */
bool moment_sorts_wrong(unsigned traits);
/* Whether SQLite's functions of dates take one of them for NULL. */
bool moment_is_unread(unsigned traits);
/*
 * Whether equal dates or times are different texts in one and in the other, and do not sort beside
 * each other.
 */
bool moment_differs(unsigned a, unsigned b);
/* Whether equal ones have more behind them in `a`, seconds or an offset: these texts are more. */
bool moment_extends(unsigned a, unsigned b);
/* Either of both, in whichever direction. */
bool moment_is_other(unsigned a, unsigned b);
/* Whether texts with these traits, all of them together, may be one date or time in two forms. */
bool moment_is_ambiguous(unsigned traits);
/*
 * Puts an expression that makes of the column's texts what sorts as they mean; `name` stands for
 * the column in SQL. False: there is no simple one.
 */
bool moment_put_expression(struct buf *out, const char *name, unsigned traits);

#endif
