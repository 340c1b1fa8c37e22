/* SPDX-License-Identifier: MIT */
/*
 * assumptions.c - words what sheet.c assumed about a file.
 *
 * Assumptions about the whole file are reported once, in its first answer. A column that is text
 * for a doubtful reason is reported in each answer that reads it, since the model may have
 * forgotten. Each sentence ends with what to write instead.
 */
#include "assumptions.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advise.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "names.h"
#include "sql/token.h"

enum { COUNT_MAX = 32 };

/* Writes 120,000. */
static const char *with_commas(char out[COUNT_MAX], uint64_t count)
{
	char *at = out + COUNT_MAX - 1;

	*at = '\0';
	for (unsigned digits = 1;; digits++) {
		*--at = (char)('0' + count % 10);
		count /= 10;
		if (count == 0)
			return at;
		if (digits % 3 == 0)
			*--at = ',';
	}
}

static void put_samples(struct buf *out, const struct column *column)
{
	for (size_t i = 0; i < COLUMN_SAMPLES && column->samples[i][0] != '\0'; i++) {
		cleanup_free char *sample = column_shown(column->samples[i]);

		buf_putf(out, "%s'%s'", i == 0 ? "" : ", ", sample);
	}
}

static uint64_t present(const struct column *column)
{
	uint64_t count = 0;

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		count += column->counts[i];
	return count;
}

/* ---- text columns ---- */

/* Returns the kind of numbers that would force integers to be doubles. */
static const char *what_doubles_are_for(const struct column *column)
{
	const uint64_t *counts = column->counts;

	if (counts[INFER_REAL] + counts[INFER_GROUPED] + counts[INFER_POWER] + counts[INFER_COMMA] >
	    0)
		return "fractions";
	return counts[INFER_HUGE] > 0 ? "integers of more than 64 bits" : "infinite numbers";
}

/* Reports a point with two meanings: 1.250 may be 1250 or 1.25. */
static void report_thousands(const struct column *column, const char *name, const char *file,
			     struct sink *sink)
{
	cleanup_free char *sample = column_shown(column->grouped);
	cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);

	advise_put_name(&quoted, column->name);
	sink_note(sink,
		  "%s of %s is text: other columns have decimal commas, so '%s' may be %.15g (then "
		  "CAST(replace(%s, '.', '') AS REAL) gives numbers) or %.15g (then CAST(%s AS "
		  "REAL)); it sorts and compares as text",
		  name, file, sample,
		  1000 * infer_real(column->grouped, strlen(column->grouped), '.'),
		  buf_str(&quoted), infer_real(column->grouped, strlen(column->grouped), '.'),
		  buf_str(&quoted));
}

static void report_dates(const struct column *column, const char *name, const char *file,
			 struct sink *sink)
{
	cleanup_free char *sample = column_shown(column->undated);
	uint64_t dates = column->counts[INFER_DATE] + column->counts[INFER_MOMENT];
	char all[COUNT_MAX];
	char few[COUNT_MAX];

	sink_note(sink,
		  "%s of %s is text: %s of its %s values are not dates or times ('%s'%s); they "
		  "sort and compare with them as text",
		  name, file, with_commas(few, present(column) - dates),
		  with_commas(all, present(column)), sample,
		  present(column) - dates > 1 ? ", ..." : "");
}

/* Appends a warning about numbers with different units or factors. */
static void put_units(struct buf *out, const struct column *column)
{
	cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	const char *unit = column->units[column->units[0][0] == '\0'];

	if (column->unit_count < COLUMN_UNITS)
		return;
	advise_put_name(&quoted, column->name);
	buf_puts(out, "; they do not all count the same (");
	for (size_t i = 0; i < COLUMN_UNITS; i++)
		buf_putf(out, column->units[i][0] != '\0' ? "%s'%s'" : "%snone%s",
			 i == 0 ? "" : " beside ", column->units[i]);
	buf_putf(out, "): CASE WHEN %s LIKE '%%%s' tells them apart", buf_str(&quoted), unit);
}

static void report_marks(const struct column *column, const char *name, const char *file,
			 const char *samples, struct sink *sink)
{
	cleanup_buf struct buf units = BUF_INIT(BUF_UNBOUNDED);

	put_units(&units, column);
	sink_note(sink,
		  "%s of %s is text: its numbers have other characters in them (%s), at which "
		  "CAST stops: replace() changes them%s; it sorts and compares as text",
		  name, file, samples, buf_str(&units));
}

static void report_text(const struct sheet *sheet, const struct column *column, struct sink *sink)
{
	cleanup_free char *name = column_shown(column->name);
	cleanup_free char *file = column_shown(path_base(sheet->path));
	cleanup_buf struct buf samples = BUF_INIT(BUF_UNBOUNDED);
	uint64_t others = infer_others(column->counts, sheet->separator == ';');
	char all[COUNT_MAX];
	char few[COUNT_MAX];

	put_samples(&samples, column);
	switch (column->verdict.reason) {
	case INFER_NO_REASON:
		return;
	case INFER_FEW_TEXTS:
		sink_note(sink,
			  "%s of %s is text: %s of its %s values %s (%s%s); it sorts and compares "
			  "as text",
			  name, file, with_commas(few, others), with_commas(all, present(column)),
			  others == column->counts[INFER_PADDED] ? "have leading zeros"
								 : "are not numbers",
			  buf_str(&samples), others > COLUMN_SAMPLES ? ", ..." : "");
		return;
	case INFER_MARKS:
		buf_puts(&samples, others > COLUMN_SAMPLES ? ", ..." : "");
		report_marks(column, name, file, buf_str(&samples), sink);
		return;
	case INFER_FEW_WORDS:
		sink_note(sink,
			  "%s of %s is text: %s of its %s values are not true or false; as a "
			  "condition each of them is false, so compare it with its texts",
			  name, file,
			  with_commas(few, present(column) - column->counts[INFER_BOOLEAN]),
			  with_commas(all, present(column)));
		return;
	case INFER_INEXACT:
		sink_note(sink,
			  "%s of %s is text: it has %s, and integers with more digits than "
			  "a REAL holds; it sorts and compares as text",
			  name, file, what_doubles_are_for(column));
		return;
	case INFER_TOO_WIDE:
		sink_note(sink,
			  "%s of %s is text: it has integers of more than 64 bits (%s); it sorts "
			  "and compares as text",
			  name, file, buf_str(&samples));
		return;
	case INFER_TWO_POINTS:
		sink_note(sink,
			  "%s of %s is text: some of its numbers have a decimal comma and some a "
			  "point; it sorts and compares as text",
			  name, file);
		return;
	case INFER_THOUSANDS:
		report_thousands(column, name, file, sink);
		return;
	case INFER_FEW_DATES:
		report_dates(column, name, file, sink);
		return;
	}
}

static bool is_doubtful(const struct column *column)
{
	return column->verdict.reason != INFER_NO_REASON;
}

static void report_texts(const struct sheet *sheet, bool all, struct sink *sink)
{
	size_t count = 0;

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];

		if (is_doubtful(column) && (all || column->wanted) &&
		    count++ < ASSUMPTIONS_COLUMNS_MAX)
			report_text(sheet, column, sink);
	}
	if (count > ASSUMPTIONS_COLUMNS_MAX)
		sink_note(sink, "%zu more columns of numbers are text",
			  count - ASSUMPTIONS_COLUMNS_MAX);
}

/* ---- assumptions ---- */

static void report_encoding(const struct sheet *sheet, struct sink *sink)
{
	const struct encoding *encoding = &sheet->encoding;
	cleanup_free char *path = column_shown(sheet->path);
	cleanup_free char *sample = column_shown(sheet->sample);
	cleanup_buf struct buf quoted = BUF_INIT(BUF_UNBOUNDED);
	char lost[COUNT_MAX];

	names_put_quoted(&quoted, sheet->path, false);
	if (encoding->guessed)
		sink_note(
			sink,
			"%s is not UTF-8; it is read as %s%s%s%s. If that is wrong, in bash: iconv "
			"-f RIGHT -t UTF-8 %s > input/utf8.csv",
			path, encoding->name, *sample != '\0' ? " ('" : "", sample,
			*sample != '\0' ? "')" : "", buf_str(&quoted));
	else if (encoding->name[0] != '\0' && encoding->mark == 0)
		sink_note(sink, "%s is read as %s", path, encoding->name);
	if (sheet->lost > 0)
		sink_note(sink, "bytes of %s that are not %s: %s, read as U+FFFD", path,
			  encoding->name[0] != '\0' ? encoding->name : "UTF-8",
			  with_commas(lost, sheet->lost));
}

static void report_rows(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));
	const char *comma = sheet->commas ? ", or a value has a comma and no quotes around it" : "";
	char some[COUNT_MAX];

	if (sheet->short_rows > 0)
		sink_note(sink,
			  "%s row%s of %s with fewer fields than its first line (the first is line "
			  "%ju): what is missing is NULL",
			  with_commas(some, sheet->short_rows), sheet->short_rows == 1 ? "" : "s",
			  file, (uintmax_t)sheet->short_line);
	if (sheet->shifted)
		sink_note(
			sink,
			"each row of %s has one more field than its first line, as R writes names "
			"of rows%s: the first field is %s",
			file, comma, sheet->columns[0].name);
	else if (sheet->long_rows > 0)
		sink_note(sink,
			  "%s row%s of %s with more fields than its first line (the first is line "
			  "%ju): they are in further columns, the last is %s%s",
			  with_commas(some, sheet->long_rows), sheet->long_rows == 1 ? "" : "s",
			  file, (uintmax_t)sheet->long_line, sheet->columns[sheet->count - 1].name,
			  sheet->commas ? "; its first line lacks a name, or a value has a comma "
					  "and no quotes around it"
					: "");
	if (sheet->blank_rows > 0)
		sink_note(sink, "blank lines of %s, which has one column, are rows with NULL: %s",
			  file, with_commas(some, sheet->blank_rows));
	if (sheet->trimmed)
		sink_note(sink, "blanks around the names of columns in %s are no part of them",
			  file);
	if (sheet->escapes)
		sink_note(sink,
			  "quotes within values of %s have a backslash before them, which is "
			  "no part of the value",
			  file);
	if (!sheet->quotes)
		sink_note(sink, "a quote in %s does not end: quotes are read as plain characters",
			  file);
}

/* Returns true when the name has the class of the column's values; text proves nothing. */
static bool is_like_values(const struct column *column)
{
	bool commas = column->verdict.comma;

	switch (column->verdict.type) {
	case INFER_TYPE_TEXT:
		return column_is_dated(column) &&
		       (column->heading == INFER_DATE || column->heading == INFER_MOMENT);
	case INFER_TYPE_BOOLEAN:
		return column->heading == INFER_BOOLEAN;
	default:
		return infer_is_number(column->heading, commas);
	}
}

/*
 * Returns true when all names are numbers over numbers. Also when one is a fraction or date over
 * such values, and none contradicts its column's numbers or dates. Integers over integers beside
 * texts may be years.
 */
static bool has_data_for_names(const struct sheet *sheet)
{
	size_t numbers = 0;
	size_t sure = 0;

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		bool plain = column->verdict.type == INFER_TYPE_TEXT && !column_is_dated(column);
		bool like = is_like_values(column);

		if (!plain && !like)
			return false;
		sure += like && column->heading != INFER_INTEGER &&
			column->heading != INFER_BOOLEAN;
		numbers += like && !column_is_dated(column);
	}
	return sheet->rows > 0 && !sheet->counted && (sure > 0 || numbers == sheet->count);
}

/* Appends a shell command that prints the file as UTF-8 without a mark. */
static void put_reading(struct buf *out, const struct sheet *sheet)
{
	if (sheet->encoding.name[0] != '\0')
		buf_putf(out, "iconv -f %s -t UTF-8 ", sheet->encoding.name);
	else if (sheet->encoding.mark > 0)
		buf_putf(out, "tail -c +%zu ", sheet->encoding.mark + 1);
	else
		buf_puts(out, "cat ");
	names_put_quoted(out, sheet->path, false);
}

/* Returns an unused path for the file with names. The caller frees it. */
static char *named_path(const struct sheet *sheet)
{
	const char *base = path_base(sheet->path);
	cleanup_free char *stem =
		xasprintf("input/%.*s_with_names", (int)(strrchr(base, '.') - base), base);

	return names_unused(sheet->dir_fd, stem, sheet->separator == '\t' ? "tsv" : "csv");
}

static void report_header(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));
	cleanup_free char *first = column_shown(sheet->columns[0].name);
	cleanup_free char *path = NULL;
	cleanup_buf struct buf reading = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf separator = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf target = BUF_INIT(BUF_UNBOUNDED);

	if (!has_data_for_names(sheet))
		return;
	put_reading(&reading, sheet);
	path = named_path(sheet);
	names_put_quoted(&target, path, false);
	if (sheet->separator == '\t')
		buf_puts(&separator, "$'\\t'");
	else
		buf_putf(&separator, "'%c'", sheet->separator);
	sink_note(sink,
		  "the first line of %s looks like data ('%s', ...) and is read as the names of "
		  "the columns. If it is data, in bash: { seq -s %s -f c%%g %zu; %s; } > %s",
		  file, first, buf_str(&separator), sheet->count, buf_str(&reading),
		  buf_str(&target));
}

static void report_numbers(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));
	size_t commas = 0;
	const char *first = "";

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		cleanup_free char *name = column_shown(column->name);

		if (column->verdict.type != INFER_TYPE_REAL)
			continue;
		if (column->verdict.comma && commas++ == 0)
			first = column->name;
		if (column->power[0] != '\0')
			sink_note(sink, "%s of %s is read as numbers: '%s' is %.15g", name, file,
				  column->power,
				  infer_real(column->power, strlen(column->power), '.'));
	}
	if (commas == 1)
		sink_note(sink, "%s of %s has decimal commas and is read as numbers", first, file);
	else if (commas > 1)
		sink_note(sink,
			  "%zu columns of %s, %s the first, have decimal commas and are read "
			  "as numbers",
			  commas, file, first);
}

/* Returns true when a column has points that do not separate thousands. */
static bool has_points(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->columns[i].verdict.type == INFER_TYPE_REAL &&
		    sheet->columns[i].counts[INFER_REAL] > 0)
			return true;
	return false;
}

/* Appends how to read the file if the column's points separate thousands. */
static void put_grouped(struct buf *out, const struct column *column, size_t columns)
{
	bool whole = columns == 1 && column->counts[INFER_GROUPED] == present(column);

	if (whole) {
		buf_puts(out, "round(1000 * ");
		advise_put_name(out, column->name);
		buf_puts(out, ") gives the numbers");
	} else {
		buf_puts(out, "in python, pandas.read_csv(PATH, sep=';', decimal=',', "
			      "thousands='.') reads the file");
	}
}

/* Reports 1.250 in a file with semicolons, when no other number shows what the point means. */
static void report_grouped(const struct sheet *sheet, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));
	cleanup_free char *name = NULL;
	cleanup_free char *sample = NULL;
	cleanup_buf struct buf more = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf way = BUF_INIT(BUF_UNBOUNDED);
	const struct column *first = NULL;
	size_t count = 0;

	for (size_t i = sheet->count; sheet->separator == ';' && i-- > 0;)
		if (infer_is_grouped(sheet->columns[i].counts, sheet->columns[i].verdict)) {
			first = &sheet->columns[i];
			count++;
		}
	if (first == NULL || has_points(sheet))
		return;
	name = column_shown(first->name);
	sample = column_shown(first->grouped);
	if (count > 1)
		buf_putf(&more, " and %zu more column%s", count - 1, count > 2 ? "s" : "");
	put_grouped(&way, first, count);
	sink_note(sink,
		  "%s%s of %s %s read as numbers with a decimal point: '%s' is %.15g. If the point "
		  "separates thousands, %s",
		  name, buf_str(&more), file, count > 1 ? "are" : "is", sample,
		  infer_real(first->grouped, strlen(first->grouped), '.'), buf_str(&way));
}

/* ---- booleans beside texts ---- */

/* Returns true for a text like true or false. A pattern may be a part of the word. */
static bool is_truth(const char *s, size_t len, bool pattern)
{
	static const char wild[] = "%_*? ";
	char word[sizeof("false")] = "";
	size_t whole = len;

	for (; pattern && len > 0 && strchr(wild, s[len - 1]) != NULL; len--)
		;
	for (; pattern && len > 0 && strchr(wild, *s) != NULL; len--)
		s++;
	if (len == 0 || len >= sizeof(word))
		return false;
	memcpy(word, s, len);
	if (len < whole)
		return strcasestr("true", word) != NULL || strcasestr("false", word) != NULL;
	return strcasecmp("true", word) == 0 || strcasecmp("false", word) == 0;
}

bool assumptions_has_truths(const struct query *query)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };
	struct token before = token;
	struct err err;
	size_t index;
	json_t *value;

	json_array_foreach (query->params, index, value)
		if (json_is_string(value) &&
		    is_truth(json_string_value(value), json_string_length(value), true))
			return true;
	token_start(&lexer, SQL_SQLITE, query->text, query->len);
	while (token_next(&lexer, &token, &err) == 0 && token.kind != TOKEN_END) {
		/* CASE WHEN b THEN 'true' compares nothing. */
		if (token.kind == TOKEN_STRING && token.len > 2 &&
		    !token_is(&lexer, &before, "THEN") && !token_is(&lexer, &before, "ELSE") &&
		    is_truth(lexer.text + token.at + 1, token.len - 2,
			     token_is(&lexer, &before, "LIKE") ||
				     token_is(&lexer, &before, "GLOB")))
			return true;
		before = token;
	}
	return false;
}

static void report_booleans(const struct sheet *sheet, bool truths, struct sink *sink)
{
	cleanup_free char *file = column_shown(path_base(sheet->path));

	for (size_t i = 0; i < sheet->count; i++) {
		const struct column *column = &sheet->columns[i];
		cleanup_free char *name = column_shown(column->name);

		if (column->wanted && column->verdict.type == INFER_TYPE_BOOLEAN &&
		    (truths || (column->marks & COLUMN_TEXTED)))
			sink_note(sink,
				  "%s of %s is BOOLEAN and equals no text: write %s or NOT %s, "
				  "or = true",
				  name, file, name, name);
	}
}

void assumptions_report(struct sheet *sheet, bool truths, struct sink *sink)
{
	if (!sheet->reported) {
		report_encoding(sheet, sink);
		report_header(sheet, sink);
		report_rows(sheet, sink);
		report_numbers(sheet, sink);
		report_grouped(sheet, sink);
		advise_forms(sheet, sink);
	}
	report_texts(sheet, !sheet->reported, sink);
	advise_sheet(sheet, sink);
	report_booleans(sheet, truths, sink);
	sheet->reported = true;
}
