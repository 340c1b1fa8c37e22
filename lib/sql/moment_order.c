/* SPDX-License-Identifier: MIT */
/*
 * moment_order.c - decides from the traits of a column whether its texts sort in the order of time,
 * and writes SQL that converts them. Text comparison is what SQLite does with dates; mixed forms,
 * offsets and missing leading zeros make it wrong without an error.
 */
#include "sql/moment.h"

enum {
	MARKS = MOMENT_DASH | MOMENT_SLASH | MOMENT_DOT,
	ZONES = MOMENT_UTC | MOMENT_OFFSETS,
	OFFSETS = ZONES | MOMENT_NO_OFFSET,
	PRECISIONS =
		MOMENT_NO_SECONDS | MOMENT_NO_FRACTION | MOMENT_FRACTION | MOMENT_LONG_FRACTION,
	/* Traits that a simple expression cannot undo. */
	HARD = MOMENT_NAMED | MOMENT_SHORT_YEAR | MOMENT_HALF_DAY | MOMENT_UNREAD,
};

/* ---- texts together ---- */

static bool has_all(unsigned traits, unsigned wanted)
{
	return (traits & wanted) == wanted;
}

/* Returns whether it has more than one of them. */
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

/* Returns whether `a` has seconds or digits that `b` may lack for the same moment. */
static bool is_more_precise(unsigned a, unsigned b)
{
	return ((b & MOMENT_NO_SECONDS) && (a & MOMENT_ZERO_SECONDS)) ||
	       ((b & MOMENT_NO_FRACTION) && (a & MOMENT_ZERO_FRACTION)) ||
	       ((b & PRECISIONS) == MOMENT_FRACTION && (a & PRECISIONS) == MOMENT_LONG_FRACTION);
}

/*
 * Returns whether a Z of `a` stands where `b` has further digits, which sort lower: 10:00Z and
 * 10:00:30.
 */
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

/* ---- conversion to ISO 8601 ---- */

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
	/* printf reads the number at the start of each text, and 0 of NULL. */
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

/* Appends the seconds of the day for texts without seconds; some may count hours up to 24. */
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
