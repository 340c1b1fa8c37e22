/* SPDX-License-Identifier: MIT */
/*
 * sheet.h - one CSV file: its columns, what was assumed about them, and values once they are
 * needed.
 *
 * The file is read twice: all of it to find out what its columns are, and again for the values of
 * those columns that a query names.
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
	bool quotes;  /* in it mean something */
	bool escapes; /* a backslash stands before those within a field */
	bool plain;   /* that was tried, and is not so */
	bool trimmed; /* blanks stood around names of columns */
	bool counted; /* the names are numbers one after the other: 0, 1, 2 or years */
	bool shifted; /* the first column has no name in the first line: names of rows */
	bool commas;  /* or perhaps: a value of each row has one, and no quotes */
	bool used;    /* by the query that was prepared last */
	bool told;    /* what was assumed about it was in an answer */
	struct column *columns;
	size_t count;
	size_t rows;
	size_t short_rows;                         /* with fewer fields than columns */
	size_t blank_rows;                         /* blank lines of a file with one column */
	size_t long_rows;                          /* with more than the first line */
	size_t shifted_rows;                       /* with one field more, empty or not */
	size_t quoted_rows;                        /* whose first field has quotes */
	uint64_t first_fields[SHEET_FIRST_FIELDS]; /* hashes of the first rows' ones */
	uint64_t short_line;                       /* where the first one is */
	uint64_t long_line;
	uint64_t lost;                  /* characters that could not be read */
	char sample[COLUMN_SAMPLE_MAX]; /* a value beyond ASCII */
	struct row_order *orders;         /* made for earlier cursors */
	struct lookup *lookups;         /* the same */
};

/* `path` below `dir_fd`, which is borrowed. */
struct sheet *sheet_open(int dir_fd, const char *path, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void sheet_free(struct sheet *sheet);
/* Whether the file is still the one that was read. */
bool sheet_is_current(const struct sheet *sheet);
/* Reads the values of all columns that are `wanted`. */
int sheet_fetch(struct sheet *sheet, struct err *err) MUST_CHECK;
/* Gives the memory of values, orders and lookups back, while no cursor is open; `all`: of wanted
 * columns, too. False: there was none. */
bool sheet_drop(struct sheet *sheet, bool all);

#endif
