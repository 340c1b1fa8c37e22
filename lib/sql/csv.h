/* SPDX-License-Identifier: MIT */
/*
 * csv.h - comma-separated values (RFC 4180), read in pieces and written a field at a time.
 *
 * Reading is lenient where people's files are: any line end, a separator of choice, quotes
 * within plain fields. Lines that are empty are no rows.
 */
#ifndef SQL_CSV_H
#define SQL_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { CSV_FIELD_MAX = 16 << 20 };

enum csv_state { CSV_FIELD_START, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE_SEEN };

struct csv_handlers {
	/* The bytes are valid for the call. An empty field that was quoted is not `missing`. */
	int (*field)(void *data, const char *s, size_t len, bool missing, struct err *err);
	int (*row)(void *data, struct err *err);
};

struct csv_reader {
	const struct csv_handlers *handlers;
	void *data;
	struct buf field;
	size_t line; /* for messages, from 1 */
	enum csv_state state;
	char separator;
	bool was_quoted;
	bool in_row; /* something of this row was read */
	bool after_cr;
};

void csv_start(struct csv_reader *reader, char separator, const struct csv_handlers *handlers,
	       void *data);
/* ERR_LIMIT for a field past CSV_FIELD_MAX; what a handler fails with stops it. */
int csv_feed(struct csv_reader *reader, const char *s, size_t len, struct err *err) MUST_CHECK;
/* The end of the text: a last row needs no line end. ERR_INVALID within quotes. */
int csv_finish(struct csv_reader *reader, struct err *err) MUST_CHECK;
void csv_release(struct csv_reader *reader);

/* The separator of a file whose first bytes these are: a comma, a semicolon or a tab. */
char csv_separator(const char *head, size_t len);

/* Adds one field, quoted where it must be; `s` NULL is a missing one, "" an empty text. */
void csv_put(struct buf *out, const char *s, size_t len);

#endif
