/* SPDX-License-Identifier: MIT */
/*
 * advise.c - words the marks of columns. Each mark of column.h has a function here that words it:
 * what happened, an example from the file, and an expression that does what was meant. The
 * expression must be right for the column's own values, so it is chosen by their traits. A column
 * gets one sentence on comparing, the most specific one.
 */
#include "advise.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "sql/moment.h"

/* A column and its file as the sentences name them. */
struct subject {
	const struct column *column;
	const char *name;
	const char *file;
	struct sink *sink;
};

/* ---- dates ---- */

void advise_put_name(struct buf *out, const char *name)
{
	bool plain = !isdigit((unsigned char)*name);

	for (const char *s = name; *s != '\0'; s++)
		plain = plain && (isalnum((unsigned char)*s) || *s == '_');
	buf_puts(out, plain ? "" : "\"");
	for (const char *s = name; *s != '\0'; s++)
		buf_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	buf_puts(out, plain ? "" : "\"");
}

/* Appends how to turn the column's dates into something that sorts. */
static void put_way(struct buf *out, const char *name, unsigned traits)
{
	cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf expression = BUF_INIT(BUF_UNBOUNDED);
	bool open = (traits & MOMENT_YEAR_LAST) && !(traits & (MOMENT_NAMED | MOMENT_DOT)) &&
		    !(traits & (MOMENT_DAY_FIRST | MOMENT_MONTH_FIRST));
	bool day = (traits & MOMENT_DAY_FIRST) || (traits & MOMENT_DOT);

	advise_put_name(&quoted, name);
	if ((traits & MOMENT_DAY_FIRST) && (traits & MOMENT_MONTH_FIRST)) {
		buf_puts(out, "some of them have the day first and some the month");
		return;
	}
	if (open)
		buf_putf(out, "if the %s is first, ", traits & MOMENT_SLASH ? "month" : "day");
	if (moment_put_expression(&expression, buf_str(&quoted), traits))
		buf_putf(out, "%s gives what sorts", buf_str(&expression));
	else
		buf_putf(out,
			 "in python, pandas.to_datetime(column, format='mixed'%s%s) gives what "
			 "sorts",
			 day || (open && !(traits & MOMENT_SLASH)) ? ", dayfirst=True" : "",
			 traits & (MOMENT_UTC | MOMENT_OFFSETS) ? ", utc=True" : "");
}

static void advise_ordered(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->moment);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);

	put_way(&way, subject->column->name, subject->column->moments);
	sink_note(subject->sink, "%s of %s is text: %s like '%s' compare as text%s; %s",
		  subject->name, subject->file,
		  subject->column->moments & MOMENT_DATE ? "dates" : "times", sample,
		  moment_is_unread(subject->column->moments) ? ", and date functions give NULL"
							     : "",
		  buf_str(&way));
}

static void advise_unlike(const struct subject *subject, const char *with)
{
	cleanup_free char *sample = column_shown(subject->column->samples[0]);

	sink_note(subject->sink,
		  "%s of %s has dates like '%s' and was compared with %s, as text: write it as the "
		  "file does",
		  subject->name, subject->file, sample, with);
}

/* Appends an expression: strftime() reads every form that sorts, and returns a single one. */
static void put_form(struct buf *out, const char *name)
{
	buf_puts(out, "strftime('%Y-%m-%d %H:%M:%f', ");
	advise_put_name(out, name);
	buf_puts(out, ")");
}

static void advise_spelt(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->samples[0]);
	cleanup_buf struct buf form = BUF_INIT(BUF_UNBOUNDED);

	put_form(&form, subject->column->name);
	sink_note(subject->sink,
		  "%s of %s has dates like '%s' and comes together with others that are written "
		  "otherwise, as text: the same moment is two values; %s of each gives one",
		  subject->name, subject->file, sample, buf_str(&form));
}

static void advise_timed(const struct subject *subject)
{
	unsigned traits = subject->column->moments;
	bool short_of = (traits & (MOMENT_SHORT_DAY | MOMENT_SHORT_YEAR | MOMENT_NAMED)) != 0;
	cleanup_free char *sample = column_shown(subject->column->timed);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);
	bool some = subject->column->days;

	if (short_of) {
		buf_puts(&way, "write the time, too");
	} else {
		cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);

		advise_put_name(&quoted, subject->column->name);
		buf_putf(&way, "substr(%s, 1, 10) compares days", buf_str(&quoted));
	}
	sink_note(subject->sink,
		  "%s%s of %s %s times, as '%s', and %s compared with a date that has none, as "
		  "text: none of that day equals it, and all of them are more; %s",
		  some ? "some values of " : "", subject->name, subject->file,
		  some ? "have" : "has", sample, some ? "were" : "was", buf_str(&way));
}

static void advise_midnight(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->samples[0]);

	sink_note(subject->sink,
		  "%s of %s has days, as '%s', and was compared with a midnight, as text: a day is "
		  "less than its midnight and never equals it; write the midnight as a day alone",
		  subject->name, subject->file, sample);
}

/*
 * Returns the advice for whole numbers in this range that are dates, with %s for the name. Returns
 * NULL for Julian days.
 */
static const char *what_numbers_are(double low, double high)
{
	enum { FIRST_JULIAN = 1721425, LAST_JULIAN = 5373484 }; /* of the years 1 to 9999 */

	if (low >= FIRST_JULIAN && high <= LAST_JULIAN)
		return NULL;
	if (low >= 1000 && high <= 9999)
		return "of a year %s || '-01-01' makes a date";
	if (low >= 10000101 && high <= 99991231)
		return "of 20260131 substr(%s, 1, 4) || '-' || substr(%s, 5, 2) || '-' || "
		       "substr(%s, 7, 2) makes a date";
	if (low >= 1e11)
		return "of milliseconds since 1970 datetime(%s / 1000, 'unixepoch') makes a date";
	return low >= 1e8 ? "of seconds since 1970 datetime(%s, 'unixepoch') makes a date" : "";
}

/* Advises on numbers as dates: date(20260131) is a day some 55 thousand years from now, or NULL. */
static void advise_days(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->undated);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);
	double low;
	double high;
	const char *what;

	if (subject->column->verdict.type == INFER_TYPE_TEXT) {
		if (*sample != '\0')
			sink_note(subject->sink,
				  "%s of %s has texts like '%s', of which date functions give NULL",
				  subject->name, subject->file, sample);
		return;
	}
	if (!column_range(subject->column, &low, &high))
		return;
	what = what_numbers_are(low, high);
	for (; what != NULL && *what != '\0'; what++) {
		if (strncmp(what, "%s", 2) == 0) {
			advise_put_name(&way, subject->column->name);
			what++;
		} else {
			buf_put(&way, what, 1);
		}
	}
	if (what != NULL)
		sink_note(subject->sink,
			  "%s of %s has numbers, which date functions take for Julian days%s%s",
			  subject->name, subject->file, way.len > 0 ? "; " : "", buf_str(&way));
}

/* ---- numbers ---- */

/* Counts the values that are not NULL. */
static uint64_t count_values(const struct column *column)
{
	uint64_t count = column->verdict.missing ? 0 : column->counts[INFER_MISSING];

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		count += column->counts[i];
	return count;
}

/* Appends the first value that CAST converts to 0, and whether there are others. */
static void put_zeros(struct buf *out, const struct column *column)
{
	cleanup_free char *sample = column_shown(column->zero);

	buf_putf(out, "'%s'%s", sample, column->zeros_differ ? ", ..." : "");
}

/* Appends an expression that converts the column's texts to numbers. */
static void put_number(struct buf *out, const struct column *column)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *sample = column_shown(column->zero);
	bool plain = !column->zeros_differ && strchr(sample, '\'') == NULL &&
		     strcmp(sample, column->zero) == 0;

	advise_put_name(&name, column->name);
	if (column->zeros == 0)
		buf_putf(out, "CAST(%s AS REAL)", buf_str(&name));
	else if (plain)
		buf_putf(out, "CAST(nullif(%s, '%s') AS REAL)", buf_str(&name), sample);
	else
		buf_putf(out, "CASE WHEN %s REGEXP '^[-+]?[.]?\\d' THEN CAST(%s AS REAL) END",
			 buf_str(&name), buf_str(&name));
}

/* Advises on a text beside a number, which SQLite converts to text: '9' is greater than 10. */
static void advise_numbered(const struct subject *subject)
{
	const struct column *column = subject->column;
	const uint64_t *counts = column->counts;
	bool marked = counts[INFER_MARKED] + counts[INFER_MARKED_COMMA] + counts[INFER_COMMA] > 0;
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);

	if (column_is_dated(column)) {
		advise_unlike(subject, "a number");
		return;
	}
	if (marked) {
		buf_puts(&way, "CAST(");
		advise_put_name(&way, column->name);
		buf_puts(&way, " AS REAL) compares numbers, after replace() took out separators "
			       "and signs, at which it stops");
	} else if (column->zeros > 0 && column->zeros == count_values(column)) {
		buf_puts(&way, "no value of it begins with a number (");
		put_zeros(&way, column);
		buf_puts(&way, ")");
	} else {
		put_number(&way, column);
		buf_puts(&way, " compares numbers");
	}
	sink_note(subject->sink, "%s of %s is text and was compared with a number, as text: %s",
		  subject->name, subject->file, buf_str(&way));
}

/* Reports CAST(v AS REAL) and v + 0. */
static void advise_cast(const struct subject *subject)
{
	const struct column *column = subject->column;
	uint64_t count = count_values(column);
	cleanup_buf struct buf zeros = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);

	if (column->zeros == 0 || column->verdict.missing || column_is_dated(column) ||
	    (column->verdict.reason != INFER_NO_REASON &&
	     column->verdict.reason != INFER_FEW_TEXTS))
		return;
	put_zeros(&zeros, column);
	put_number(&way, column);
	if (column->zeros == count)
		sink_note(subject->sink,
			  "%s of %s is text: as a number each of its values is 0 (%s)",
			  subject->name, subject->file, buf_str(&zeros));
	else
		sink_note(subject->sink,
			  "%s of %s is text: as numbers %ju of its %ju values are 0 (%s); %s makes "
			  "them NULL",
			  subject->name, subject->file, (uintmax_t)column->zeros, (uintmax_t)count,
			  buf_str(&zeros), buf_str(&way));
}

/* Advises on a column of which at most half are numbers, so nothing else reports it. */
static void advise_sorted(const struct subject *subject)
{
	const struct column *column = subject->column;
	uint64_t count = count_values(column);
	uint64_t numbers = 0;
	cleanup_free char *first = column_shown(column->samples[0]);
	cleanup_free char *second = column_shown(column->samples[1]);

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		numbers += infer_is_number((enum infer_class)i, false) ? column->counts[i] : 0;
	sink_note(
		subject->sink,
		"%s of %s is text: %ju of its %ju values are numbers and %ju are not ('%s'%s%s%s); "
		"it sorts and compares as text",
		subject->name, subject->file, (uintmax_t)numbers, (uintmax_t)count,
		(uintmax_t)(count - numbers), first, *second != '\0' ? ", '" : "", second,
		*second != '\0' ? "'" : "");
}

/* ---- others ---- */

static void advise_true(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->samples[0]);

	sink_note(subject->sink,
		  "%s of %s is text and was compared with a BOOLEAN, which equals no text: compare "
		  "that with a condition, as (%s = '%s')",
		  subject->name, subject->file, subject->name, sample);
}

/* Reports v = true, of 't' and 'f'. */
static void advise_truth(const struct subject *subject)
{
	cleanup_free char *sample = column_shown(subject->column->samples[0]);

	sink_note(
		subject->sink,
		"%s of %s is text and was compared with true or false, which are the numbers 1 and "
		"0: compare it with its texts, as %s = '%s'",
		subject->name, subject->file, subject->name, sample);
}

/* Reports WHERE v: 'yes' is 0, and so is 'no'. */
static void advise_condition(const struct subject *subject)
{
	sink_note(subject->sink,
		  "%s of %s is text: as a condition each of its values that begins with no number "
		  "is false, so compare it with its texts",
		  subject->name, subject->file);
}

static void advise_texted(const struct subject *subject)
{
	if (subject->column->verdict.type == INFER_TYPE_BOOLEAN)
		return; /* reported by report_booleans */
	sink_note(subject->sink,
		  "%s of %s is %s and was compared with a text that is no number: each number is "
		  "less than it; missing values are NULL",
		  subject->name, subject->file,
		  subject->column->verdict.type == INFER_TYPE_INTEGER ? "INTEGER" : "REAL");
}

/* Advises on calculating: SQLite computes 0 for 'a' + 'b', and starts from 2026 for a date. */
static void advise_added(const struct subject *subject)
{
	bool dated = column_is_dated(subject->column);
	cleanup_free char *sample = column_shown(subject->column->samples[0]);

	sink_note(
		subject->sink,
		"%s of %s is text and was calculated with: each value counts as the number that it "
		"begins with, or as 0 ('%s'); %s",
		subject->name, subject->file, sample,
		dated ? "julianday() gives days for ISO dates" : "|| joins texts");
}

/*
 * Advises on combined columns: 1 and '1' are two values for GROUP BY, for joins, and for UNION
 * itself.
 */
static void advise_stacked(const struct subject *subject)
{
	sink_note(subject->sink,
		  "%s of %s is text and comes into one column with numbers or booleans: 1 and '1' "
		  "are two values there; CAST(... AS TEXT) in each SELECT makes them one",
		  subject->name, subject->file);
}

static void advise_bare(const struct subject *subject)
{
	cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);

	advise_put_name(&quoted, subject->column->name);
	sink_note(subject->sink,
		  "%s of %s stands beside aggregates of all rows: its value is that of an "
		  "arbitrary row; GROUP BY %s gives a row for each",
		  subject->name, subject->file, buf_str(&quoted));
}

/* Reports the most specific of the marks about comparing and sorting. */
static void advise_compared(const struct subject *subject, unsigned marks, bool doubtful)
{
	if (marks & COLUMN_ORDERED)
		advise_ordered(subject);
	else if ((marks & COLUMN_TRUTH) && !doubtful)
		advise_truth(subject);
	else if ((marks & COLUMN_NUMBERED) && !doubtful)
		advise_numbered(subject);
	else if (marks & COLUMN_UNLIKE)
		advise_unlike(subject, "one that is written otherwise");
	else if (marks & COLUMN_SPELT)
		advise_spelt(subject);
	else if (marks & COLUMN_TIMED)
		advise_timed(subject);
	else if (marks & COLUMN_MIDNIGHT)
		advise_midnight(subject);
	else if ((marks & COLUMN_SORTED) && !(marks & (COLUMN_CONVERTED | COLUMN_ADDED)))
		advise_sorted(subject);
}

static void advise_column(const struct subject *subject)
{
	unsigned marks = subject->column->marks;
	bool doubtful = subject->column->verdict.reason != INFER_NO_REASON &&
			subject->column->verdict.reason != INFER_FEW_DATES;

	advise_compared(subject, marks, doubtful);
	if (marks & COLUMN_CAST)
		advise_cast(subject);
	if (marks & COLUMN_STACKED)
		advise_stacked(subject);
	if (marks & COLUMN_TRUE)
		advise_true(subject);
	if ((marks & COLUMN_CONDITION) && !doubtful)
		advise_condition(subject);
	if ((marks & COLUMN_ADDED) && !doubtful)
		advise_added(subject);
	if (marks & COLUMN_TEXTED)
		advise_texted(subject);
	if (marks & COLUMN_DAYS)
		advise_days(subject);
	if (marks & COLUMN_BARE)
		advise_bare(subject);
}

static void advise_form(const struct subject *subject)
{
	cleanup_free char *first = column_shown(subject->column->samples[0]);
	cleanup_free char *other = column_shown(subject->column->other);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);

	if (moment_is_unread(subject->column->moments))
		put_way(&way, subject->column->name, subject->column->moments);
	else
		put_form(&way, subject->column->name);
	sink_note(subject->sink,
		  "%s of %s has %s in several forms ('%s', '%s'): as text the same moment is "
		  "several values, which do not group, join or sort as one; %s%s",
		  subject->name, subject->file,
		  subject->column->moments & MOMENT_DATE ? "dates" : "times", first, other,
		  buf_str(&way), moment_is_unread(subject->column->moments) ? "" : " gives one");
}

void advise_forms(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));
	size_t count = 0;

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		cleanup_free char *name = column_shown(column->name);

		if (column->other[0] == '\0' || !column_is_dated(column) ||
		    (column->marks & COLUMN_ORDERED) != 0 || count++ >= ADVISE_COLUMNS_MAX)
			continue;
		advise_form(&(struct subject){
			.column = column, .name = name, .file = file, .sink = sink });
	}
	if (count > ADVISE_COLUMNS_MAX)
		sink_note(sink, "%zu more columns have dates in several forms",
			  count - ADVISE_COLUMNS_MAX);
}

void advise_sheet(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		cleanup_free char *name = column->marks != 0 ? column_shown(column->name) : NULL;

		if (name != NULL)
			advise_column(&(struct subject){
				.column = column, .name = name, .file = file, .sink = sink });
	}
}
