/* SPDX-License-Identifier: MIT */
/*
 * sink.c - writes rows as JSON and as CSV. Each value is written twice: as CSV into a buffer and as
 * JSON into the row of the answer. When the limits of the answer are exceeded the buffer becomes
 * the file, only the first rows stay in the answer, long values there are shortened, and some rows
 * more are for the record. A failed write is remembered and reported by sink_end_row, so the
 * functions for values need no error.
 */
#include "sink.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/util.h"
#include "cancel.h"
#include "helper/program.h"
#include "json/make.h"
#include "json/write.h"
#include "result_files.h"
#include "sql/csv.h"
#include "sql/result_names.h"
#include "text/base64.h"
#include "text/utf8.h"

enum {
	FLUSH_SIZE = 256 << 10,
	PROGRESS_MS = 500,
	PROGRESS_ROWS = 4096, /* between looks at the clock */
	NUMBER_MAX = 40,
	BLOB_MAX = 16 << 10, /* bytes of a binary value that becomes text */
	/* characters of a value in the first rows when everything is in the file */
	CUT_MIN = 16,
	CUT_MAX = 1000,
	MORE_BYTES = 128 << 10, /* of the rows that are for the record only, as JSON */
	DECIMAL_SAFE = 15,      /* characters of a number that a double holds for sure */
};

#define SAFE_INTEGER ((int64_t)1 << 53)

/* Of all values of a column; `wide` only of those in the answer. */
struct seen {
	bool wide; /* an integer that is passed as text */
	bool null;
	bool empty;
	bool long_number;
	bool nan;
};

struct sink {
	const struct sink_spec *spec;
	json_t *columns;
	const char **types; /* static texts; NULL: not known yet */
	struct seen *seen;
	size_t column_count;
	json_t *rows;
	json_t *more;     /* the rows behind them that are for the record */
	size_t more_room; /* bytes that they may still take */
	json_t *row;      /* the current row; NULL when it is only for the file */
	size_t column;    /* index of the next value */
	struct buf csv;
	struct result_files files;
	bool failed; /* a value could not be written; `err` has the reason */
	struct err err;
	uint64_t row_count;
	uint64_t reported_ms;
	bool truncated;
	bool cut;
	json_t *notes;
	size_t more_notes; /* notes beyond the maximum */
};

struct sink *sink_new(const struct sink_spec *spec)
{
	struct sink *sink = xcalloc(1, sizeof(*sink));

	sink->spec = spec;
	sink->columns = json_array();
	sink->rows = json_array();
	sink->more = json_array();
	sink->more_room = MORE_BYTES;
	sink->notes = json_array();
	sink->types = xcalloc(SINK_COLUMNS_MAX, sizeof(*sink->types));
	sink->seen = xcalloc(SINK_COLUMNS_MAX, sizeof(*sink->seen));
	result_files_init(&sink->files, spec->dir_fd, spec->result);
	sink->reported_ms = clock_ms();
	buf_init(&sink->csv, BUF_UNBOUNDED);
	return sink;
}

void sink_free(struct sink *sink)
{
	if (sink == NULL)
		return;
	result_files_release(&sink->files);
	json_decref(sink->columns);
	json_decref(sink->rows);
	json_decref(sink->more);
	json_decref(sink->row);
	json_decref(sink->notes);
	free(sink->types);
	free(sink->seen);
	buf_release(&sink->csv);
	free(sink);
}

int sink_column(struct sink *sink, const char *name, const char *type, struct err *err)
{
	json_t *column = json_object();

	if (sink->column_count == SINK_COLUMNS_MAX) {
		json_decref(column);
		return err_set(err, ERR_LIMIT, "the result has more than %d columns",
			       SINK_COLUMNS_MAX);
	}
	json_put_str(column, "name", name);
	json_put_str(column, "type", type);
	sink->types[sink->column_count] = type;
	json_append(sink->columns, column);
	if (sink->column_count++ > 0)
		buf_put(&sink->csv, ",", 1);
	csv_put(&sink->csv, name, strlen(name));
	return 0;
}

/* ---- values ---- */

/* Returns whether the current row is in the answer, or in the record. */
static bool wants_row(const struct sink *sink)
{
	return sink->files.fd < 0 || (sink->row_count < SINK_RECORD_ROWS && sink->more_room > 0);
}

/* Starts a value: the row of the answer, and the separator in the file. */
static bool begin_value(struct sink *sink)
{
	if (sink->column == 0) {
		buf_put(&sink->csv, "\r\n", 2);
		if (wants_row(sink))
			sink->row = json_array();
	} else {
		buf_put_char(&sink->csv, ',');
	}
	return sink->row != NULL;
}

static void end_value(struct sink *sink, const char *type)
{
	if (sink->types[sink->column] == NULL && type != NULL) {
		sink->types[sink->column] = type;
		json_put_str(json_array_get(sink->columns, sink->column), "type", type);
	}
	sink->column++;
}

void sink_null(struct sink *sink)
{
	if (begin_value(sink))
		json_append(sink->row, json_null());
	/* Most readers skip an empty line. */
	if (sink->column_count == 1)
		buf_put(&sink->csv, "\"\"", 2);
	sink->seen[sink->column].null = true;
	end_value(sink, NULL);
}

/* Returns true for an integer that readers with doubles do not round. */
static bool is_safe(const char *s, size_t len, json_int_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(s, &end, 10);
	return errno == 0 && end == s + len && *ret > -SAFE_INTEGER && *ret < SAFE_INTEGER;
}

void sink_integer(struct sink *sink, const char *s, size_t len)
{
	json_int_t value;
	bool safe = is_safe(s, len, &value);

	if (begin_value(sink)) {
		json_append(sink->row, safe ? json_integer(value) : json_make_text(s, len));
		/* The type of a column in the answer does not depend on rows that are not in it. */
		sink->seen[sink->column].wide |= !safe && sink->files.fd < 0;
	}
	sink->seen[sink->column].long_number |= !safe;
	csv_put(&sink->csv, s, len);
	end_value(sink, "integer");
}

void sink_int(struct sink *sink, int64_t value)
{
	char text[NUMBER_MAX];
	char *at = text + sizeof(text);
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	*--at = '\0';
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		*--at = '-';
	sink_integer(sink, at, (size_t)(text + sizeof(text) - 1 - at));
}

void sink_bool(struct sink *sink, bool value)
{
	if (begin_value(sink))
		json_append(sink->row, json_boolean(value));
	buf_puts(&sink->csv, value ? "true" : "false");
	end_value(sink, "boolean");
}

/* Writes the shortest text that reads back as the same number. */
static size_t print_real(char *text, size_t size, double value)
{
	int len = 0;

	if (isinf(value))
		return (size_t)snprintf(text, size, value < 0 ? "-Infinity" : "Infinity");
	for (int digits = 15; digits <= 17; digits++) {
		len = snprintf(text, size, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return (size_t)len;
}

/* Returns a JSON number, or a text for NaN and the infinities. */
static json_t *make_real(const char *text)
{
	double value = strtod(text, NULL);

	return isfinite(value) ? json_real(value) : json_make_str(text);
}

/* Returns true for digits alone. A reader would take a column of such numbers for integers. */
static bool looks_whole(const char *s, size_t len)
{
	size_t sign = len > 0 && *s == '-';

	return len > sign && strspn(s + sign, "0123456789") == len - sign;
}

void sink_exact_real(struct sink *sink, const char *s, size_t len)
{
	if (begin_value(sink))
		json_append(sink->row, make_real(s));
	csv_put(&sink->csv, s, len);
	if (looks_whole(s, len))
		buf_put(&sink->csv, ".0", 2);
	sink->seen[sink->column].nan |= str_eq(s, "NaN");
	end_value(sink, "real");
}

void sink_real(struct sink *sink, double value)
{
	char text[NUMBER_MAX];

	sink_exact_real(sink, text, print_real(text, sizeof(text), value));
}

void sink_text(struct sink *sink, const char *s, size_t len)
{
	if (begin_value(sink))
		json_append(sink->row, json_make_text(s, len));
	csv_put(&sink->csv, s, len);
	sink->seen[sink->column].empty |= len == 0;
	end_value(sink, "text");
}

void sink_number(struct sink *sink, const char *s, size_t len)
{
	if (begin_value(sink))
		json_append(sink->row, json_make_text(s, len));
	csv_put(&sink->csv, s, len);
	sink->seen[sink->column].long_number |= len > DECIMAL_SAFE;
	sink->seen[sink->column].nan |= str_eq(s, "NaN");
	end_value(sink, "decimal");
}

static void put_blob_file(struct sink *sink, const void *data, size_t len)
{
	cleanup_free char *path = NULL;

	if (!sink->failed && result_files_add_blob(&sink->files, data, len, &path, &sink->err) < 0)
		sink->failed = true;
	if (path != NULL)
		csv_put(&sink->csv, path, strlen(path));
}

void sink_blob(struct sink *sink, const void *data, size_t len)
{
	bool shown = begin_value(sink);
	size_t begin = sink->csv.len;

	if (len > BLOB_MAX && sink->files.blobs < RESULT_BLOBS_MAX)
		put_blob_file(sink, data, len);
	else
		base64_encode(&sink->csv, data, len);
	if (shown)
		json_append(sink->row,
			    json_make_text(buf_str(&sink->csv) + begin, sink->csv.len - begin));
	end_value(sink, "blob");
}

/* ---- the file ---- */

static int flush_csv(struct sink *sink, struct err *err)
{
	int result = result_files_write(&sink->files, buf_str(&sink->csv), sink->csv.len, err);

	buf_clear(&sink->csv);
	return result;
}

/* Shortens long values: the file has them whole. Returns whether there was one. */
static bool cut_row(json_t *row, size_t chars)
{
	bool cut = false;
	size_t index;
	json_t *value;

	json_array_foreach (row, index, value) {
		const char *text = json_string_value(value);
		size_t len = json_string_length(value);
		size_t kept = text != NULL ? utf8_offset(text, len, chars) : len;

		if (kept == len)
			continue;
		(void)json_array_set_new(row, index, json_make_fmt("%.*s\u2026", (int)kept, text));
		cut = true;
	}
	return cut;
}

/* Returns the characters of a value that each of so many rows may have in `bytes`. */
static size_t chars_of(const struct sink *sink, uint64_t bytes, size_t rows)
{
	uint64_t chars = bytes / (sink->column_count * rows);

	return chars < CUT_MIN ? CUT_MIN : chars > CUT_MAX ? CUT_MAX : (size_t)chars;
}

/* Adds a row for the record, unless there is no room for it: then no later one is added either. */
static void add_more(struct sink *sink, json_t *row_own)
{
	cleanup_free char *text = NULL;
	size_t bytes;

	while (json_array_size(row_own) > RESULT_RECORD_COLUMNS)
		(void)json_array_remove(row_own, json_array_size(row_own) - 1);
	(void)cut_row(row_own, chars_of(sink, MORE_BYTES, SINK_RECORD_ROWS));
	text = json_write_text(row_own);
	bytes = strlen(text);
	if (bytes > sink->more_room) {
		sink->more_room = 0;
		json_decref(row_own);
		return;
	}
	sink->more_room -= bytes;
	json_append(sink->more, row_own);
}

/* Keeps the first rows for the answer, and some that follow for the record. */
static void split_rows(struct sink *sink)
{
	size_t chars = chars_of(sink, sink->spec->inline_bytes, SINK_PREVIEW_ROWS);
	json_t *rows = json_array();
	size_t index;
	json_t *row;

	json_array_foreach (sink->rows, index, row) {
		if (index < SINK_PREVIEW_ROWS) {
			sink->cut |= cut_row(row, chars);
			json_append(rows, json_incref(row));
		} else if (index < SINK_RECORD_ROWS && sink->more_room > 0) {
			add_more(sink, json_incref(row));
		}
	}
	json_decref(sink->rows);
	sink->rows = rows;
}

/* Switches to the file. */
static int switch_to_file(struct sink *sink, struct err *err)
{
	if (result_files_open(&sink->files, err) < 0)
		return -1;
	split_rows(sink);
	return 0;
}

static void report_progress(struct sink *sink)
{
	json_t *progress;
	uint64_t now;

	if (sink->row_count % PROGRESS_ROWS != 0)
		return;
	now = clock_ms();
	if (now - sink->reported_ms < PROGRESS_MS)
		return;
	sink->reported_ms = now;
	progress = json_object();
	json_put_int(progress, "query", sink->spec->query);
	json_put_int(progress, "rows", (json_int_t)sink->row_count);
	program_progress(progress);
}

void sink_slow(const struct sink *sink, const char *why)
{
	json_t *progress = json_object();

	json_put_int(progress, "query", sink->spec->query);
	json_put_str(progress, "slow", why);
	program_progress(progress);
}

static bool is_full(const struct sink *sink)
{
	return sink->row_count >= sink->spec->rows_max ||
	       sink->files.bytes + sink->files.blob_bytes + sink->csv.len >=
		       sink->spec->bytes_max ||
	       sink->files.blobs == RESULT_BLOBS_MAX;
}

static bool is_too_much(const struct sink *sink)
{
	return sink->row_count > sink->spec->inline_rows ||
	       sink->csv.len > sink->spec->inline_bytes;
}

static void take_row(struct sink *sink)
{
	json_t *row = sink->row;

	sink->row = NULL;
	if (row != NULL && sink->files.fd >= 0)
		add_more(sink, row);
	else if (row != NULL)
		json_append(sink->rows, row);
}

int sink_end_row(struct sink *sink, bool *ret_full, struct err *err)
{
	sink->column = 0;
	sink->row_count++;
	take_row(sink);
	if (cancel_requested())
		return cancel_fail(err);
	if (sink->failed) {
		*err = sink->err;
		return -1;
	}
	if (sink->files.fd < 0 && is_too_much(sink) && switch_to_file(sink, err) < 0)
		return -1;
	if (sink->files.fd >= 0 && sink->csv.len >= FLUSH_SIZE && flush_csv(sink, err) < 0)
		return -1;
	report_progress(sink);
	*ret_full = is_full(sink);
	sink->truncated = *ret_full;
	return 0;
}

/* Turns all values of the column into texts, and its type accordingly. */
static void settle_wide(struct sink *sink, size_t column)
{
	size_t index;
	json_t *row;

	json_put_str(json_array_get(sink->columns, column), "type", "bigint");
	json_array_foreach (sink->rows, index, row) {
		const json_t *value = json_array_get(row, column);

		if (json_is_integer(value))
			(void)json_array_set_new(
				row, column,
				json_make_fmt("%" JSON_INTEGER_FORMAT, json_integer_value(value)));
	}
}

static void describe_column(struct sink *sink, size_t column)
{
	const struct seen *seen = &sink->seen[column];
	json_t *about = json_array_get(sink->columns, column);

	if (seen->wide)
		settle_wide(sink, column);
	json_put_bool(about, "nulls", seen->null);
	json_put_bool(about, "empties", seen->empty);
	json_put_bool(about, "long", seen->long_number);
	json_put_bool(about, "nan", seen->nan);
}

void sink_note(struct sink *sink, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	if (json_array_size(sink->notes) == SINK_NOTES_MAX) {
		sink->more_notes++;
		return;
	}
	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	json_append(sink->notes, json_make_text(text, strlen(text)));
}

static void put_notes(struct sink *sink, json_t *answer)
{
	if (sink->more_notes > 0)
		json_append(sink->notes, json_make_fmt("%zu more notes", sink->more_notes));
	if (json_array_size(sink->notes) > 0)
		json_put(answer, "notes", json_incref(sink->notes));
}

json_t *sink_finish(struct sink *sink, struct err *err)
{
	bool filed = sink->files.fd >= 0;
	json_t *answer;

	if (filed) {
		buf_put(&sink->csv, "\r\n", 2);
		if (flush_csv(sink, err) < 0)
			return NULL;
	}
	if (result_files_finish(&sink->files, err) < 0)
		return NULL;
	for (size_t i = 0; i < sink->column_count; i++)
		describe_column(sink, i);
	answer = json_object();
	json_put(answer, "columns", json_incref(sink->columns));
	json_put(answer, "rows", json_incref(sink->rows));
	if (json_array_size(sink->more) > 0)
		json_put(answer, "more", json_incref(sink->more));
	json_put_int(answer, "row_count", (json_int_t)sink->row_count);
	json_put_bool(answer, "truncated", sink->truncated);
	json_put_bool(answer, "cut", sink->cut);
	json_put_int(answer, "blobs", (json_int_t)sink->files.blobs);
	if (filed)
		json_put_int(answer, "bytes", (json_int_t)sink->files.bytes);
	put_notes(sink, answer);
	return answer;
}
