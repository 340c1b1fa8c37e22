/* SPDX-License-Identifier: MIT */
/*
 * moment.h - texts that are dates or times of day, and whether they sort in the order of time.
 *
 * ISO 8601 does. 31.01.2020, 1/2/2020, 2026-1-5, 5 Jan 2026 and 9:05 do not: their traits say why.
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
	MOMENT_ZERO_DAY = 1 << 5,  /* or a leading zero */
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
	MOMENT_ODD_OFFSET = 1 << 18, /* another offset: summer and winter differ by an hour */
	MOMENT_EVEN_OFFSET = 1 << 19,
	MOMENT_NO_OFFSET = 1 << 20, /* a date and a time without an offset */
	MOMENT_ZED = 1 << 21,       /* the offset is Z */
	MOMENT_PLUS_ZERO = 1 << 22, /* the offset is +00:00 */
	MOMENT_ZERO_SECONDS = 1 << 23,
	MOMENT_ZERO_FRACTION = 1 << 24,
	/* The precision, from here on in this order. */
	MOMENT_NO_SECONDS = 1 << 25,
	MOMENT_NO_FRACTION = 1 << 26, /* of seconds */
	MOMENT_FRACTION = 1 << 27,    /* of up to three digits */
	MOMENT_LONG_FRACTION = 1 << 28,
	MOMENT_UNREAD = 1 << 29, /* the offset is UTC or has no colon, or the text has a comma */
	MOMENT_MINUS_OFFSET = 1 << 30, /* the offset is negative; the other two are positive */
	MOMENT_OFFSETS = MOMENT_ODD_OFFSET | MOMENT_EVEN_OFFSET | MOMENT_MINUS_OFFSET,
	MOMENT_DATE = MOMENT_YEAR_FIRST | MOMENT_YEAR_LAST,
};

/* Returns the traits of a text without blanks around it; 0 if it is neither a date nor a time. */
unsigned moment_traits(const char *s, size_t len);
/* Returns the minutes of the offset of a text with one of MOMENT_OFFSETS. */
int moment_offset(const char *s, size_t len);
/* Returns whether two offsets differ; 0 means none. */
bool moment_is_elsewhere(int a, int b);
/* Return whether it is a date with a time, or one without. */
bool moment_has_both(unsigned traits);
bool moment_is_day(unsigned traits);
/*
 * Returns whether the text is a date of eight digits, 20260131; moment_traits does not accept
 * these.
 */
bool moment_is_compact(const char *s, size_t len);
/* Returns whether the text is a date with the time at which its day begins. */
bool moment_is_midnight(const char *s, size_t len);
/* Returns whether texts with all these traits together do not sort in the order of time. */
bool moment_sorts_wrong(unsigned traits);
/* Returns whether SQLite's date functions return NULL for one of them. */
bool moment_is_unread(unsigned traits);
/*
 * Returns whether equal moments have different texts in both, which do not sort next to each other.
 */
bool moment_differs(unsigned a, unsigned b);
/* Returns whether texts of `a` have seconds or an offset in addition, so that they sort later. */
bool moment_extends(unsigned a, unsigned b);
/* Returns whether either holds, in either direction. */
bool moment_is_other(unsigned a, unsigned b);
/* Returns whether texts with all these traits together may be one moment in two forms. */
bool moment_is_ambiguous(unsigned traits);
/*
 * Appends an SQL expression that converts the column's texts to ones that sort by time. `name` is
 * the column in SQL. Returns false if there is no simple one.
 */
bool moment_put_expression(struct buf *out, const char *name, unsigned traits);

#endif
