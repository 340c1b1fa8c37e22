/* SPDX-License-Identifier: MIT */
/*
 * sheet.c - reads a file, until its assumptions hold. The first reading decides everything that is
 * assumed: encoding, separator, meaning of quotes, names of columns, and the type of each. A
 * reading that contradicts an assumption starts again with another one. The second reading, for
 * values, uses the result, and fails if the file has changed since.
 */
#include "sheet.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/fd.h"
#include "base/mem.h"
#include "cancel.h"
#include "hash.h"
#include "lookup.h"
#include "names.h"
#include "row_order.h"
#include "sink.h"
#include "source.h"
#include "workspace/beneath.h"

enum { READINGS_MAX = 5, YEAR_MIN = 1900, YEAR_MAX = 2100 };

/* ---- reading ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int fail_changed(const struct sheet *sheet, struct err *err)
{
	cleanup_free char *stem =
		xasprintf("%.*s_copy", (int)(strrchr(sheet->path, '.') - sheet->path), sheet->path);
	cleanup_free char *copy = names_unused(sheet->dir_fd, stem, strrchr(sheet->path, '.') + 1);
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	names_put_quoted(&line, sheet->path, false);
	buf_puts(&line, " ");
	names_put_quoted(&line, copy, false);
	return err_set(err, ERR_BUSY,
		       "it changed while it was read; run the query again, or one of a copy where "
		       "the file always changes, in bash: cp %s",
		       buf_str(&line));
}

static int open_file(const struct sheet *sheet, struct stat *ret, struct err *err)
{
	cleanup_fd int fd = beneath_open_regular(sheet->dir_fd, sheet->path, NULL, err);

	if (fd < 0)
		return -1;
	if (fstat(fd, ret) < 0)
		return err_sys(err, "looking at it");
	return fd_steal(&fd);
}

/* Skips what precedes the rows, and sets how they are read. */
static int begin_rows(struct sheet *sheet, struct csv_reader *reader, struct err *err)
{
	const char *head;
	size_t len;
	size_t declared;

	if (csv_peek(reader, &head, &len, err) < 0)
		return -1;
	declared = csv_declared(head, len, &sheet->separator);
	if (declared == 0)
		sheet->separator =
			chars_end_with(sheet->path, ".tsv") ? '\t' : csv_separator(head, len);
	csv_skip(reader, declared);
	csv_set(reader, sheet->separator, sheet->quotes);
	if (sheet->escapes)
		csv_escape(reader);
	return 0;
}

/* A reading of the file's rows, from the first line on. */
struct reading {
	struct source source;
	struct csv_reader reader;
};

static int reading_begin(struct sheet *sheet, struct reading *reading, int fd, bool known,
			 struct err *err)
{
	csv_start(&reading->reader, source_read, &reading->source);
	if (source_begin(&reading->source, fd, known ? &sheet->encoding : NULL, err) < 0)
		return -1;
	return begin_rows(sheet, &reading->reader, err);
}

static void reading_end(struct reading *reading)
{
	csv_release(&reading->reader);
	source_end(&reading->source);
}

/* ---- names and types of columns ---- */

static bool is_taken(const struct sheet *sheet, const char *name)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (strcasecmp(sheet->columns[i].name, name) == 0)
			return true;
	return false;
}

/* Returns true when the first line has this name. */
static bool is_written(const struct csv_reader *header, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < header->count; i++)
		if (header->fields[i].len == len &&
		    strncasecmp(header->fields[i].s, name, len) == 0)
			return true;
	return false;
}

/*
 * Returns a unique name: SQLite requires names that differ in more than case. A name that is made
 * up must not be one of the first line's own. `header` NULL: all of those have their columns
 * already.
 */
static char *free_name(const struct sheet *sheet, const struct csv_reader *header, const char *s,
		       size_t len)
{
	size_t used = strnlen(s, len);
	char *name = used > 0 ? xmemdup(s, used) : xasprintf("column%zu", sheet->count + 1);
	cleanup_free char *wanted = xstrdup(name);
	bool made = used == 0;

	for (unsigned n = 2;
	     is_taken(sheet, name) || (made && header != NULL && is_written(header, name)); n++) {
		free(name);
		name = xasprintf("%s_%u", wanted, n);
		made = true;
	}
	return name;
}

static int add_column(struct sheet *sheet, const struct csv_reader *header, const char *s,
		      size_t len, struct err *err)
{
	cleanup_free char *name = NULL;

	if (sheet->count == SINK_COLUMNS_MAX)
		return err_set(err, ERR_INVALID, "it has more than %d columns", SINK_COLUMNS_MAX);
	name = free_name(sheet, header, s, len);
	column_init(&sheet->columns[sheet->count], name);
	sheet->columns[sheet->count].heading = infer_class(s, len);
	sheet->count++;
	return 0;
}

static void trim_name(struct sheet *sheet, struct csv_field *field)
{
	const char *s = field->s;
	size_t len = field->len;

	chars_trim(&s, &len);
	sheet->trimmed = sheet->trimmed || len < field->len;
	field->s += s - field->s;
	field->len = len;
}

/* Returns the value of an integer field; -1 for another one. */
static int64_t value_of(const struct csv_field *field)
{
	return infer_class(field->s, field->len) == INFER_INTEGER
		       ? infer_integer(field->s, field->len)
		       : -1;
}

/*
 * Returns true for the names 0, 1, 2 of nameless columns, or for years. A first one may be empty.
 */
static bool is_counted(const struct csv_reader *reader)
{
	size_t first = reader->fields[0].len == 0;
	int64_t least = first < reader->count ? value_of(&reader->fields[first]) : -1;

	for (size_t i = first + 1; i < reader->count; i++)
		if (value_of(&reader->fields[i]) != least + (int64_t)(i - first))
			return false;
	return least == 0 || (least >= YEAR_MIN && least <= YEAR_MAX && reader->count > first + 1);
}

static int read_header(struct sheet *sheet, struct csv_reader *reader, struct err *err)
{
	int result = csv_next(reader, err);

	if (result == 0)
		return err_set(err, ERR_INVALID, "it is empty");
	for (size_t i = 0; result == 1 && i < reader->count; i++)
		trim_name(sheet, &reader->fields[i]);
	for (size_t i = 0; result == 1 && i < reader->count; i++)
		if (add_column(sheet, reader, reader->fields[i].s, reader->fields[i].len, err) < 0)
			return -1;
	sheet->counted = result == 1 && is_counted(reader);
	return result < 0 ? -1 : 0;
}

/* Counts a row's fields without empty ones at its end, which mean nothing. */
static size_t used_fields(const struct csv_reader *reader, size_t columns)
{
	size_t count = reader->count;

	while (count > columns && reader->fields[count - 1].len == 0)
		count--;
	return count;
}

static bool is_beyond_ascii(const struct csv_field *field)
{
	for (size_t i = 0; i < field->len; i++)
		if ((unsigned char)field->s[i] >= 0x80)
			return true;
	return false;
}

/* Finds a sample that shows how the encoding was understood. */
static void find_sample(struct sheet *sheet, const struct csv_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		const struct csv_field *field = &reader->fields[i];
		size_t len = size_min(field->len, COLUMN_SAMPLE_MAX - 1);

		if (!is_beyond_ascii(field))
			continue;
		while (len < field->len && len > 0 && ((unsigned char)field->s[len] & 0xc0) == 0x80)
			len--;
		memcpy(sheet->sample, field->s, len);
		sheet->sample[len] = '\0';
		return;
	}
}

static int count_row(struct sheet *sheet, const struct csv_reader *reader, size_t named,
		     struct err *err)
{
	size_t count = used_fields(reader, named);

	if (sheet->rows == UINT32_MAX - 1)
		return err_set(err, ERR_LIMIT, "it has too many rows");
	while (sheet->count < count)
		if (add_column(sheet, NULL, "", 0, err) < 0)
			return err_wrap(err, "line %ju", (uintmax_t)reader->line);
	if (count > named && sheet->long_rows++ == 0)
		sheet->long_line = reader->line;
	sheet->shifted_rows += reader->count == named + 1;
	sheet->quoted_rows += reader->fields[0].quoted;
	if (sheet->rows < SHEET_FIRST_FIELDS)
		sheet->first_fields[sheet->rows] =
			hash_text(reader->fields[0].s, reader->fields[0].len);
	sheet->blank_rows +=
		reader->count == 1 && reader->fields[0].len == 0 && !reader->fields[0].quoted;
	if (count < named && sheet->short_rows++ == 0)
		sheet->short_line = reader->line;
	if (sheet->encoding.guessed && sheet->sample[0] == '\0')
		find_sample(sheet, reader);
	for (size_t i = 0; i < count; i++)
		column_count(&sheet->columns[i], &reader->fields[i], sheet->separator == ';');
	sheet->rows++;
	return 0;
}

/* Compares the first rows. */
static bool has_equal_first_fields(const struct sheet *sheet)
{
	size_t count = size_min(sheet->rows, SHEET_FIRST_FIELDS);

	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (sheet->first_fields[i] == sheet->first_fields[j])
				return true;
	return false;
}

/*
 * Returns true when each row has one field more. If few of these have a value, the field may just
 * end rows.
 */
static bool is_shifted(const struct sheet *sheet, size_t named)
{
	return sheet->count == named + 1 && sheet->shifted_rows == sheet->rows &&
	       sheet->long_rows > sheet->rows / 2;
}

/*
 * Returns true for R's names of rows, which differ and have no name for their column. Without
 * quotes around them, the field may result from the comma of 1,50.
 */
static bool has_row_names(const struct sheet *sheet)
{
	return (sheet->separator != ',' || sheet->quoted_rows == sheet->rows) &&
	       !has_equal_first_fields(sheet);
}

static void shift_names(struct sheet *sheet)
{
	static const char first[] = "column1";
	struct column *columns = sheet->columns;
	char *last = columns[sheet->count - 1].name;

	for (size_t i = sheet->count - 1; i > 0; i--) {
		columns[i].name = columns[i - 1].name;
		columns[i].heading = columns[i - 1].heading;
	}
	columns[0].name = last;
	columns[0].name = free_name(sheet, NULL, first, sizeof(first) - 1);
	free(last);
	columns[0].heading = INFER_EMPTY;
}

static int scan_rows(struct sheet *sheet, struct csv_reader *reader, struct err *err)
{
	size_t named;
	int result;

	if (read_header(sheet, reader, err) < 0)
		return -1;
	if (sheet->encoding.guessed)
		find_sample(sheet, reader);
	named = sheet->count;
	while ((result = csv_next(reader, err)) == 1) {
		if (cancel_requested())
			return cancel_fail(err);
		if (count_row(sheet, reader, named, err) < 0)
			return -1;
	}
	sheet->commas = result == 0 && sheet->separator == ',' && is_shifted(sheet, named);
	sheet->shifted = result == 0 && is_shifted(sheet, named) && has_row_names(sheet);
	if (sheet->shifted)
		shift_names(sheet);
	return result;
}

static void forget_scan(struct sheet *sheet)
{
	while (sheet->count > 0)
		column_release(&sheet->columns[--sheet->count]);
	sheet->rows = sheet->short_rows = sheet->long_rows = sheet->blank_rows = 0;
	sheet->shifted_rows = sheet->quoted_rows = 0;
	sheet->sample[0] = '\0';
	sheet->trimmed = false;
}

/*
 * Returns true when quotes must be read in another way; `err` is NULL after a complete reading.
 * Backslashes escape quotes if then each field ends as it should, otherwise not. A quote without an
 * end is a character where values never contain separators.
 */
static bool is_read_otherwise(struct sheet *sheet, const struct csv_reader *reader,
			      const struct err *err)
{
	bool wrong = err != NULL || reader->loose;

	if (sheet->escapes) {
		sheet->escapes = !wrong;
		sheet->plain = wrong;
		return wrong;
	}
	if (wrong && reader->slashed && !sheet->plain) {
		sheet->escapes = true;
		return true;
	}
	if (err == NULL || err->code != ERR_INVALID || sheet->separator != '\t' || !sheet->quotes)
		return false;
	sheet->quotes = false;
	return true;
}

/* Reads once. Sets *ret_again when another reading is needed. */
static int scan_once(struct sheet *sheet, int fd, bool known, bool *ret_again, struct err *err)
{
	struct reading reading;
	int result = reading_begin(sheet, &reading, fd, known, err);

	sheet->encoding = reading.source.encoding;
	if (result == 0)
		result = scan_rows(sheet, &reading.reader, err);
	sheet->encoding = reading.source.encoding;
	sheet->lost = reading.source.lost;
	*ret_again = reading.source.again;
	if (!*ret_again && !cancel_requested())
		*ret_again = is_read_otherwise(sheet, &reading.reader, result < 0 ? err : NULL);
	reading_end(&reading);
	return result;
}

static void decide_types(struct sheet *sheet)
{
	bool semicolons = sheet->separator == ';';
	bool commas = false;

	for (size_t i = 0; i < sheet->count; i++) {
		struct column *column = &sheet->columns[i];

		column->verdict = infer_decide(column->counts, semicolons);
		commas = commas || infer_has_commas(column->counts, column->verdict);
	}
	for (size_t i = 0; semicolons && commas && i < sheet->count; i++)
		infer_doubt(sheet->columns[i].counts, &sheet->columns[i].verdict);
}

static int scan_file(struct sheet *sheet, struct err *err)
{
	cleanup_fd int fd = open_file(sheet, &sheet->stat, err);
	struct stat after;
	bool again = true;
	int result = -1;

	if (fd < 0)
		return -1;
	for (int i = 0; again && i < READINGS_MAX; i++) {
		forget_scan(sheet);
		result = scan_once(sheet, fd, i > 0, &again, err);
	}
	if (fstat(fd, &after) < 0)
		return err_sys(err, "looking at it");
	if (!is_same(&after, &sheet->stat))
		return fail_changed(sheet, err);
	if (result == 0)
		decide_types(sheet);
	return result;
}

struct sheet *sheet_open(int dir_fd, const char *path, struct err *err)
{
	struct sheet *sheet = xcalloc(1, sizeof(*sheet));

	sheet->dir_fd = dir_fd;
	sheet->path = xstrdup(path);
	sheet->quotes = true;
	sheet->columns = xcalloc(SINK_COLUMNS_MAX, sizeof(*sheet->columns));
	if (scan_file(sheet, err) < 0) {
		(void)err_wrap(err, "'%s'", path);
		sheet_free(sheet);
		return NULL;
	}
	sheet->columns = xrealloc(sheet->columns, sheet->count * sizeof(*sheet->columns));
	return sheet;
}

void sheet_free(struct sheet *sheet)
{
	if (sheet == NULL)
		return;
	forget_scan(sheet);
	row_order_free(sheet->orders);
	lookup_free(sheet->lookups);
	free(sheet->columns);
	free(sheet->path);
	free(sheet);
}

bool sheet_is_current(const struct sheet *sheet)
{
	struct stat now;
	struct err err;
	cleanup_fd int fd = open_file(sheet, &now, &err);

	return fd >= 0 && is_same(&now, &sheet->stat);
}

/* ---- values ---- */

/* Returns how many columns must be read now, and lists them. */
static size_t pick_columns(const struct sheet *sheet, size_t *picked)
{
	size_t count = 0;

	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->columns[i].wanted && !sheet->columns[i].loaded)
			picked[count++] = i;
	return count;
}

static int fetch_rows(struct sheet *sheet, struct csv_reader *reader, const size_t *picked,
		      size_t count, struct err *err)
{
	int result = csv_next(reader, err); /* the names */
	size_t rows = 0;

	while (result == 1 && (result = csv_next(reader, err)) == 1) {
		if (cancel_requested())
			return cancel_fail(err);
		if (rows++ == sheet->rows)
			return fail_changed(sheet, err);
		for (size_t i = 0; i < count; i++) {
			bool there = picked[i] < reader->count;

			if (column_add(&sheet->columns[picked[i]],
				       there ? &reader->fields[picked[i]] : NULL, err) < 0)
				return -1;
		}
	}
	if (result == 0 && rows != sheet->rows)
		return fail_changed(sheet, err);
	return result;
}

static int fetch_columns(struct sheet *sheet, const size_t *picked, size_t count, struct err *err)
{
	struct stat now;
	cleanup_fd int fd = open_file(sheet, &now, err);
	struct reading reading;
	int result;

	if (fd < 0)
		return -1;
	if (!is_same(&now, &sheet->stat))
		return fail_changed(sheet, err);
	for (size_t i = 0; i < count; i++)
		if (column_reserve(&sheet->columns[picked[i]], sheet->rows, err) < 0)
			return -1;
	result = reading_begin(sheet, &reading, fd, true, err);
	if (result == 0)
		result = fetch_rows(sheet, &reading.reader, picked, count, err);
	reading_end(&reading);
	if (result == 0 && (fstat(fd, &now) < 0 || !is_same(&now, &sheet->stat)))
		result = fail_changed(sheet, err);
	return result;
}

int sheet_fetch(struct sheet *sheet, struct err *err)
{
	cleanup_free size_t *picked = xcalloc(sheet->count, sizeof(*picked));
	size_t count = pick_columns(sheet, picked);
	int result;

	if (count == 0)
		return 0;
	result = fetch_columns(sheet, picked, count, err);
	for (size_t i = 0; i < count; i++)
		if (result == 0)
			column_finish(&sheet->columns[picked[i]]);
		else
			column_drop(&sheet->columns[picked[i]]);
	return result < 0 ? err_wrap(err, "'%s'", sheet->path) : 0;
}

bool sheet_drop(struct sheet *sheet, bool all)
{
	bool dropped = sheet->orders != NULL || sheet->lookups != NULL;

	for (size_t i = 0; i < sheet->count; i++) {
		if (!all && sheet->columns[i].wanted)
			continue;
		dropped = dropped || sheet->columns[i].loaded;
		column_drop(&sheet->columns[i]);
	}
	row_order_free(sheet->orders);
	lookup_free(sheet->lookups);
	sheet->orders = NULL;
	sheet->lookups = NULL;
	return dropped;
}
