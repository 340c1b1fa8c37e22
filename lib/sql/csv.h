/* SPDX-License-Identifier: MIT */
/*
 * csv.h - delimited text (RFC 4180), read a row at a time and written a field at a time.
 *
 * Reading is as lenient as users' files need: any line end, a chosen separator, quotes within plain
 * fields. Empty lines are no rows.
 */
#ifndef SQL_CSV_H
#define SQL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { CSV_ROW_MAX = 64 << 20, CSV_LOOK_LINES = 20 };

struct csv_field {
	char *s; /* not NUL-terminated */
	size_t len;
	bool quoted;
	bool raw; /* while the row is read: the field still contains its quotes */
};

/* Reads up to `size` bytes into `out`; sets *ret_len to 0 at the end. Returns -1 and sets *err. */
typedef int csv_read(void *data, char *out, size_t size, size_t *ret_len, struct err *err);

struct csv_reader {
	csv_read *read;
	void *data;
	char *text; /* bytes read but not yet returned: from `at` to `end` */
	size_t cap;
	size_t at;
	size_t end;
	bool ended;
	struct csv_field *fields; /* of the row that csv_next returned */
	size_t count;
	size_t fields_cap;
	uint64_t line;   /* where that row begins, from 1 */
	uint64_t breaks; /* line ends in it */
	bool quotes;     /* a quote at a field's start has a meaning */
	bool escapes;    /* so has a backslash before a quote within the field */
	bool slashed;    /* such a backslash was seen */
	bool loose;      /* text followed a field's last quote */
	bool begun;      /* the first row was returned */
	bool single; /* the file has one column, where a blank line is a row with a missing value */
	bool border[256];
};

/* Prepares a reader. `data` is borrowed until csv_release. */
void csv_start(struct csv_reader *reader, csv_read *read, void *data);
void csv_release(struct csv_reader *reader);
/*
 * Sets *ret_text to the first bytes, which stay to be read: a few lines, or all of them. Borrowed
 * until the next call. Returns -1 and sets *err.
 */
int csv_peek(struct csv_reader *reader, const char **ret_text, size_t *ret_len,
	     struct err *err) MUST_CHECK;
/*
 * Sets the separator; must be called before the first row. `quotes`: false for text in which quotes
 * are plain characters.
 */
void csv_set(struct csv_reader *reader, char separator, bool quotes);
/* Lets a backslash escape quotes and backslashes within quoted fields, besides doubled quotes. */
void csv_escape(struct csv_reader *reader);
/* Skips `len` bytes that csv_peek returned. */
void csv_skip(struct csv_reader *reader, size_t len);
/*
 * Returns 1 with a row, whose fields are valid until the next call; 0 at the end. Blank lines are
 * skipped, except in a file with one column. Returns -1 and sets ERR_LIMIT for a row past
 * CSV_ROW_MAX, ERR_INVALID for a quote that is never closed, with their lines; or the error of
 * `read`.
 */
int csv_next(struct csv_reader *reader, struct err *err) MUST_CHECK;

/*
 * Returns the separator of a file that begins so: the one of , ; tab | by which most of its first
 * lines have as many fields as the first one. A separator followed by a blank in the first line is
 * chosen last.
 */
char csv_separator(const char *head, size_t len);
/*
 * Returns the length of a first line "sep=;" with its end, and sets its separator; 0 if there is
 * none.
 */
size_t csv_declared(const char *head, size_t len, char *ret_separator);

/* Appends one field, quoted if needed. `s` NULL is a missing value, "" an empty text. */
void csv_put(struct buf *out, const char *s, size_t len);

#endif
