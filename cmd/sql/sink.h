/* SPDX-License-Identifier: MIT */
/*
 * sink.h - where rows go: into the answer while they are few, else into a CSV file of the session.
 *
 * The first rows are kept for the answer in both cases. Memory does not grow with the number of
 * rows. Values come in the order of the columns; each row ends with sink_end_row.
 */
#ifndef SQL_SINK_H
#define SQL_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { SINK_COLUMNS_MAX = 2000, SINK_PREVIEW_ROWS = 10, SINK_NOTES_MAX = 12 };

struct sink_spec {
	int dir_fd;         /* the session's folder */
	const char *result; /* the file, relative to it */
	uint64_t inline_rows;
	uint64_t inline_bytes;
	uint64_t rows_max;
	uint64_t bytes_max;
	json_int_t query; /* its number, for progress */
};

struct sink;

/* `spec` is borrowed until free. */
struct sink *sink_new(const struct sink_spec *spec);
/* NULL is allowed. */
void sink_free(struct sink *sink);
/* All columns before the first row. `type` may be NULL: told by the first value that has one. */
int sink_column(struct sink *sink, const char *name, const char *type, struct err *err) MUST_CHECK;
void sink_null(struct sink *sink);
void sink_int(struct sink *sink, int64_t value);
void sink_bool(struct sink *sink, bool value);
void sink_real(struct sink *sink, double value);
void sink_text(struct sink *sink, const char *s, size_t len);
/* Numbers as the database wrote them, NUL-terminated. */
void sink_integer(struct sink *sink, const char *s, size_t len);
/* The shortest text for this number. */
void sink_exact_real(struct sink *sink, const char *s, size_t len);
void sink_number(struct sink *sink, const char *s, size_t len);
/* A large one becomes a file of its own, its path the value. What fails, sink_end_row tells. */
void sink_blob(struct sink *sink, const void *data, size_t len);
/* Sets *ret_full when no more rows are taken; ERR_CANCELLED when somebody asked to stop. */
int sink_end_row(struct sink *sink, bool *ret_full, struct err *err) MUST_CHECK;
/* A sentence about the rows for the answer: what was assumed, or what may be wrong with them. */
void sink_note(struct sink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Tells the server at once why the query takes so long. */
void sink_slow(const struct sink *sink, const char *why);
/*
 * {"columns", "rows", "schema_count", "truncated", "cut", "bytes", "blobs", "notes"}, the caller's.
 * "cut": long values in "rows" are not whole; "bytes": of the file, when there is one; "blobs": how
 * many values are files; "notes": at most SINK_NOTES_MAX and one sentences, when there are any.
 * Each of "columns" is {"name", "type", "nulls", "empties", "long", "nan"}: whether there is a
 * NULL, an empty text, a number that no double holds for sure, a NaN in all rows.
 */
json_t *sink_finish(struct sink *sink, struct err *err) MUST_CHECK;

#endif
