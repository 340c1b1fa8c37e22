/* SPDX-License-Identifier: MIT */
/*
 * csv.h - delimited text (RFC 4180), read a row at a time and written a field at a time.
 *
 * Reading is lenient where users' files are: any line end, a separator of choice, quotes within
 * plain fields. Empty lines are no rows.
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
	bool raw; /* while the row is read: its quotes are still in it */
};

/* Puts up to `size` bytes into `out`; *ret_len is 0 at the end. */
typedef int csv_read(void *data, char *out, size_t size, size_t *ret_len, struct err *err);

struct csv_reader {
	csv_read *read;
	void *data;
	char *text; /* what was read and is not given out yet: from `at` to `end` */
	size_t cap;
	size_t at;
	size_t end;
	bool ended;
	struct csv_field *fields; /* of the row that csv_next gave */
	size_t count;
	size_t fields_cap;
	uint64_t line;   /* where that row begins, from 1 */
	uint64_t breaks; /* line ends in it */
	bool quotes;     /* a quote at a field's start means something */
	bool escapes;    /* and a backslash before one within the field */
	bool slashed;    /* such a backslash was seen */
	bool loose;      /* something stood between a field's last quote and its end */
	bool begun;      /* the first row was given out */
	bool single;     /* with one field: blank lines are rows, too, of one that is missing */
	bool border[256];
};

void csv_start(struct csv_reader *reader, csv_read *read, void *data);
void csv_release(struct csv_reader *reader);
/*
 * The first bytes, which stay to be read: a few lines, or all that there are. Borrowed until the
 * next call.
 */
int csv_look(struct csv_reader *reader, const char **ret_text, size_t *ret_len,
	     struct err *err) MUST_CHECK;
/* Before the first row. `quotes`: false for text in which a quote is a character like others. */
void csv_set(struct csv_reader *reader, char separator, bool quotes);
/* Quotes within quoted fields, and backslashes, have a backslash before them; or doubled quotes. */
void csv_escape(struct csv_reader *reader);
/* Passes over `len` bytes that csv_look gave. */
void csv_skip(struct csv_reader *reader, size_t len);
/*
 * 1 with a row, whose fields are valid until the next call; 0 at the end. Blank lines are passed
 * over, but for those of a file with one column. -1: ERR_LIMIT for a row
 * past CSV_ROW_MAX, ERR_INVALID for a quote that nothing ends, with their lines; or what `read`
 * failed with.
 */
int csv_next(struct csv_reader *reader, struct err *err) MUST_CHECK;

/*
 * The separator of a file that begins so: the one of , ; tab | by which most of its first lines
 * have as many fields as the first one. One that a blank follows in the first line comes last.
 */
char csv_separator(const char *head, size_t len);
/* The length of a first line "sep=;" with its end, and its separator; 0 when there is none. */
size_t csv_declared(const char *head, size_t len, char *ret_separator);

/* Adds one field, quoted where it must be; `s` NULL is a missing one, "" an empty text. */
void csv_put(struct buf *out, const char *s, size_t len);

#endif
