/* SPDX-License-Identifier: MIT */
/*
 * sink.h - receives rows: into the answer while they are few, else into a CSV file of the session.
 *
 * The first rows are kept for the answer in both cases, and some that follow for the record. Memory
 * does not grow with the number of rows. Values come in the order of the columns, and each row ends
 * with sink_end_row.
 */
#ifndef SQL_SINK_H
#define SQL_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	SINK_COLUMNS_MAX = 2000,
	SINK_PREVIEW_ROWS = 10, /* in the answer when the file has all rows */
	SINK_RECORD_ROWS = 100, /* of these and those in "more", which the record has */
	SINK_NOTES_MAX = 12
};

struct sink_spec {
	int dir_fd;         /* the session's folder */
	const char *result; /* the file, relative to the folder */
	uint64_t inline_rows;
	uint64_t inline_bytes;
	uint64_t rows_max;
	uint64_t bytes_max;
	json_int_t query; /* its number, for progress */
};

struct sink;

/* Returns a sink. `spec` is borrowed until free. */
struct sink *sink_new(const struct sink_spec *spec);
/* Frees the sink, which may be NULL. */
void sink_free(struct sink *sink);
/*
 * Adds a column; all come before the first row. `type` may be NULL: the first value with a type
 * decides. Returns -1 and sets *err.
 */
int sink_column(struct sink *sink, const char *name, const char *type, struct err *err) MUST_CHECK;
/* Takes the next value of the row. Failures are reported by sink_end_row. */
void sink_null(struct sink *sink);
void sink_int(struct sink *sink, int64_t value);
void sink_bool(struct sink *sink, bool value);
void sink_real(struct sink *sink, double value);
void sink_text(struct sink *sink, const char *s, size_t len);
/* Takes a number as the database wrote it, NUL-terminated. */
void sink_integer(struct sink *sink, const char *s, size_t len);
/* Takes the shortest text of this number. */
void sink_exact_real(struct sink *sink, const char *s, size_t len);
void sink_number(struct sink *sink, const char *s, size_t len);
/*
 * Takes bytes. A large value becomes a file of its own, whose path is the value. sink_end_row
 * reports failures.
 */
void sink_blob(struct sink *sink, const void *data, size_t len);
/*
 * Ends a row. Sets *ret_full when no more rows are taken. Returns -1 and sets *err: ERR_CANCELLED
 * after a cancel.
 */
int sink_end_row(struct sink *sink, bool *ret_full, struct err *err) MUST_CHECK;
/* Adds a sentence about the rows to the answer: an assumption, or a possible mistake. */
void sink_note(struct sink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sends the server at once why the query takes so long. */
void sink_slow(const struct sink *sink, const char *why);
/*
 * Returns {"columns", "rows", "more", "row_count", "truncated", "cut", "bytes", "blobs", "notes"},
 * owned by the caller, or NULL and sets *err. "more": rows behind "rows" that are not for the
 * answer, if there are any: their first RESULT_RECORD_COLUMNS values, long ones shortened. "cut":
 * long values in "rows" are shortened. "bytes": of the file, if there is one. "blobs": how many
 * values are files. "notes": at most SINK_NOTES_MAX and one sentences, if there are any.
 *
 * Each of "columns" is {"name", "type", "nulls", "empties", "long", "nan"}. The flags say whether
 * any row has NULL, an empty text, a number that may not fit a double, or NaN.
 */
json_t *sink_finish(struct sink *sink, struct err *err) MUST_CHECK;

#endif
