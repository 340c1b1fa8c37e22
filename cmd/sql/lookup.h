/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - finds the rows whose columns may equal some values under SQLite's comparisons: numbers
 * with numbers, texts by their bytes, and numbers with texts by value or by text.
 */
#ifndef SQL_LOOKUP_H
#define SQL_LOOKUP_H

#include "sheet.h"

enum { LOOKUP_COLUMNS_MAX = 8 };

struct lookup;

struct lookup_rows {
	bool all;              /* any row may be equal; the other members say nothing then */
	uint32_t first;        /* plus one; 0 for none */
	uint32_t doubtful;     /* the first row of another chain, plus one */
	const uint32_t *nexts; /* for each row the next one, plus one; 0 at the end */
};

/* How a query compares. */
enum lookup_flag {
	LOOKUP_NULLS = 1 << 0,    /* by IS: NULL equals NULL */
	LOOKUP_CASELESS = 1 << 1, /* by COLLATE NOCASE */
};

/* A loaded column and the value that it must equal. */
struct lookup_want {
	unsigned column;
	unsigned flags; /* of enum lookup_flag */
	sqlite3_value *value;
};

/*
 * Finds rows that may equal all of up to LOOKUP_COLUMNS_MAX wants. Returns -1 and sets *err to
 * ERR_LIMIT when memory is exhausted; *ret then has all rows.
 */
int lookup_find(struct sheet *sheet, const struct lookup_want *wants, size_t count,
		struct lookup_rows *ret, struct err *err) MUST_CHECK;
void lookup_free(struct lookup *lookup);

#endif
