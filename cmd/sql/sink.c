/* SPDX-License-Identifier: MIT */
#include "sink.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/say.h"
#include "json/make.h"
#include "sql/csv.h"
#include "stop.h"
#include "text/base64.h"
#include "workspace/beneath.h"

enum {
	FLUSH_SIZE = 256 << 10,
	PROGRESS_MS = 500,
	PROGRESS_ROWS = 4096, /* between looks at the clock */
	NUMBER_MAX = 40,
};

#define SAFE_INTEGER ((int64_t)1 << 53)

struct sink {
	const struct sink_spec *spec;
	json_t *columns;
	const char **types; /* static texts; NULL: not known yet */
	size_t column_count;
	json_t *rows;
	json_t *row;   /* the one being made, NULL when it is not for the answer */
	size_t column; /* the next value's */
	struct buf csv;
	int dir_fd; /* that holds the file, -1 until there is one */
	int fd;
	const char *part_name; /* within spec->part */
	uint64_t row_count;
	uint64_t bytes; /* written and in `csv` */
	uint64_t told_ms;
	bool truncated;
};

struct sink *sink_new(const struct sink_spec *spec)
{
	struct sink *sink = xcalloc(1, sizeof(*sink));

	sink->spec = spec;
	sink->columns = json_array();
	sink->rows = json_array();
	sink->types = xcalloc(SINK_COLUMNS_MAX, sizeof(*sink->types));
	sink->dir_fd = -1;
	sink->fd = -1;
	sink->told_ms = clock_ms();
	buf_init(&sink->csv, BUF_UNBOUNDED);
	return sink;
}

void sink_free(struct sink *sink)
{
	if (sink == NULL)
		return;
	if (sink->fd >= 0)
		(void)unlinkat(sink->dir_fd, sink->part_name, 0);
	fd_close(&sink->fd);
	fd_close(&sink->dir_fd);
	json_decref(sink->columns);
	json_decref(sink->rows);
	json_decref(sink->row);
	free(sink->types);
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

/* The row's own place in the answer, and the separator in the file. */
static bool begin_value(struct sink *sink)
{
	if (sink->column == 0) {
		buf_put(&sink->csv, "\r\n", 2);
		if (sink->fd < 0)
			sink->row = json_array();
	} else {
		buf_put(&sink->csv, ",", 1);
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
	/* An empty line would be no row for most readers. */
	if (sink->column_count == 1)
		buf_put(&sink->csv, "\"\"", 2);
	end_value(sink, NULL);
}

/* Readers that know only doubles would round it. */
static json_t *make_int(int64_t value, const char *text)
{
	return value > -SAFE_INTEGER && value < SAFE_INTEGER ? json_integer(value)
							     : json_make_str(text);
}

void sink_int(struct sink *sink, int64_t value)
{
	char text[NUMBER_MAX];
	int len = snprintf(text, sizeof(text), "%lld", (long long)value);

	if (begin_value(sink))
		json_append(sink->row, make_int(value, text));
	buf_put(&sink->csv, text, (size_t)len);
	end_value(sink, "integer");
}

void sink_bool(struct sink *sink, bool value)
{
	if (begin_value(sink))
		json_append(sink->row, json_boolean(value));
	buf_puts(&sink->csv, value ? "true" : "false");
	end_value(sink, "boolean");
}

/* The shortest text that reads back as the same number. */
static size_t print_real(char *text, size_t size, double value)
{
	int len = 0;

	for (int digits = 15; digits <= 17; digits++) {
		len = snprintf(text, size, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (strcspn(text, ".en") == (size_t)len)
		len += snprintf(text + len, size - (size_t)len, ".0");
	return (size_t)len;
}

void sink_real(struct sink *sink, double value)
{
	char text[NUMBER_MAX];
	size_t len;

	if (isinf(value)) {
		sink_number(sink, value < 0 ? "-Infinity" : "Infinity", value < 0 ? 9 : 8);
		return;
	}
	len = print_real(text, sizeof(text), value);
	if (begin_value(sink)) {
		char rounded[NUMBER_MAX];

		(void)snprintf(rounded, sizeof(rounded), "%.15g", value);
		json_append(sink->row, strtod(rounded, NULL) == value ? json_real(value)
								      : json_make_str(text));
	}
	buf_put(&sink->csv, text, len);
	end_value(sink, "real");
}

void sink_text(struct sink *sink, const char *s, size_t len)
{
	if (begin_value(sink))
		json_append(sink->row, json_make_text(s, len));
	csv_put(&sink->csv, s, len);
	end_value(sink, "text");
}

void sink_number(struct sink *sink, const char *s, size_t len)
{
	if (begin_value(sink))
		json_append(sink->row, json_make_text(s, len));
	csv_put(&sink->csv, s, len);
	end_value(sink, "decimal");
}

void sink_blob(struct sink *sink, const void *data, size_t len)
{
	bool shown = begin_value(sink);
	size_t begin = sink->csv.len;

	base64_encode(&sink->csv, data, len);
	if (shown)
		json_append(sink->row,
			    json_make_text(buf_str(&sink->csv) + begin, sink->csv.len - begin));
	end_value(sink, "blob");
}

/* ---- the file ---- */

static int open_file(struct sink *sink, struct err *err)
{
	sink->dir_fd =
		beneath_open_parent(sink->spec->dir_fd, sink->spec->part, &sink->part_name, err);
	if (sink->dir_fd < 0)
		return -1;
	sink->fd = openat(sink->dir_fd, sink->part_name,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (sink->fd < 0)
		return err_sys(err, "making '%s'", sink->spec->result);
	return 0;
}

static int flush(struct sink *sink, struct err *err)
{
	if (fd_write_all(sink->fd, buf_str(&sink->csv), sink->csv.len, err) < 0)
		return err_wrap(err, "writing '%s'", sink->spec->result);
	sink->bytes += sink->csv.len;
	buf_clear(&sink->csv);
	return 0;
}

/* Too much for the answer: from here on all goes to the file, and only the first rows stay. */
static int overflow(struct sink *sink, struct err *err)
{
	if (open_file(sink, err) < 0)
		return -1;
	while (json_array_size(sink->rows) > SINK_PREVIEW_ROWS)
		(void)json_array_remove(sink->rows, json_array_size(sink->rows) - 1);
	return 0;
}

static void tell_progress(struct sink *sink)
{
	json_t *progress;
	uint64_t now;

	if (sink->row_count % PROGRESS_ROWS != 0)
		return;
	now = clock_ms();
	if (now - sink->told_ms < PROGRESS_MS)
		return;
	sink->told_ms = now;
	progress = json_object();
	json_put_int(progress, "query", sink->spec->query);
	json_put_int(progress, "rows", (json_int_t)sink->row_count);
	say_progress(progress);
}

static bool is_full(const struct sink *sink)
{
	return sink->row_count >= sink->spec->rows_max ||
	       sink->bytes + sink->csv.len >= sink->spec->bytes_max;
}

int sink_end_row(struct sink *sink, bool *ret_full, struct err *err)
{
	sink->column = 0;
	sink->row_count++;
	if (sink->row != NULL) {
		json_append(sink->rows, sink->row);
		sink->row = NULL;
	}
	if (stop_requested())
		return stop_fail(err);
	if (sink->fd < 0 &&
	    (sink->row_count > sink->spec->inline_rows ||
	     sink->csv.len > sink->spec->inline_bytes) &&
	    overflow(sink, err) < 0)
		return -1;
	if (sink->fd >= 0 && sink->csv.len >= FLUSH_SIZE && flush(sink, err) < 0)
		return -1;
	tell_progress(sink);
	*ret_full = is_full(sink);
	sink->truncated = *ret_full;
	return 0;
}

static int finish_file(struct sink *sink, struct err *err)
{
	const char *slash = strrchr(sink->spec->result, '/');
	const char *name = slash != NULL ? slash + 1 : sink->spec->result;

	buf_put(&sink->csv, "\r\n", 2);
	if (flush(sink, err) < 0 || beneath_inherit_owner(sink->dir_fd, sink->fd, err) < 0)
		return -1;
	if (beneath_rename_new(sink->dir_fd, sink->part_name, name) < 0)
		return err_sys(err, "naming '%s'", sink->spec->result);
	fd_close(&sink->fd);
	return 0;
}

json_t *sink_finish(struct sink *sink, struct err *err)
{
	bool filed = sink->fd >= 0;
	json_t *answer;

	if (filed && finish_file(sink, err) < 0)
		return NULL;
	answer = json_object();
	json_put(answer, "columns", json_incref(sink->columns));
	json_put(answer, "rows", json_incref(sink->rows));
	json_put_int(answer, "row_count", (json_int_t)sink->row_count);
	json_put_bool(answer, "truncated", sink->truncated);
	if (filed)
		json_put_int(answer, "bytes", (json_int_t)sink->bytes);
	return answer;
}
