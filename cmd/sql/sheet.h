/* SPDX-License-Identifier: MIT */
/*
 * sheet.h - one CSV file: its columns, what was assumed about them, and values once they are
 * needed.
 *
 * The file is read twice: as a whole to find out the types of its columns, and again for the values
 * of the columns that a query names.
 */
#ifndef SQL_SHEET_H
#define SQL_SHEET_H

#include <sys/stat.h>

#include "base/err.h"
#include "column.h"
#include "encoding.h"

struct row_order;
struct lookup;

enum { SHEET_FIRST_FIELDS = 64 };

struct sheet {
	int dir_fd; /* borrowed */
	char *path;
	struct stat stat;
	struct encoding encoding;
	char separator;
	bool quotes;   /* quotes enclose fields in it */
	bool escapes;  /* a backslash escapes quotes within a field */
	bool plain;    /* a reading with quotes was tried and failed */
	bool trimmed;  /* blanks were around names of columns */
	bool counted;  /* the names are consecutive numbers: 0, 1, 2 or years */
	bool shifted;  /* the first column has no name in the first line: it names the rows */
	bool commas;   /* maybe decimal commas: a value of each row has one, and no quotes */
	bool used;     /* by the query that was prepared last */
	bool reported; /* an answer has reported what was assumed about it */
	struct column *columns;
	size_t count;
	size_t rows;
	size_t short_rows;                         /* with fewer fields than columns */
	size_t blank_rows;                         /* blank lines of a file with one column */
	size_t long_rows;                          /* with more fields than the first line */
	size_t shifted_rows;                       /* with one field more, empty or not */
	size_t quoted_rows;                        /* whose first field has quotes */
	uint64_t first_fields[SHEET_FIRST_FIELDS]; /* hashes of the first rows' first fields */
	uint64_t short_line;                       /* the line of the first of them */
	uint64_t long_line;
	uint64_t lost;                  /* characters that could not be read */
	char sample[COLUMN_SAMPLE_MAX]; /* a value beyond ASCII */
	struct row_order *orders;       /* made for earlier cursors */
	struct lookup *lookups;         /* made for earlier cursors */
};

/*
 * Opens `path` below `dir_fd`, which is borrowed, and reads it through. Returns NULL and sets *err.
 */
struct sheet *sheet_open(int dir_fd, const char *path, struct err *err) MUST_CHECK;
/* Frees the sheet, which may be NULL. */
void sheet_free(struct sheet *sheet);
/* Returns true while the file is unchanged since it was read. */
bool sheet_is_current(const struct sheet *sheet);
/* Reads the values of all `wanted` columns. Returns -1 and sets *err. */
int sheet_fetch(struct sheet *sheet, struct err *err) MUST_CHECK;
/*
 * Frees values, orders and lookups; no cursor may be open. With `all`, also of wanted columns.
 * Returns false when there was nothing to free.
 */
bool sheet_drop(struct sheet *sheet, bool all);

#endif
