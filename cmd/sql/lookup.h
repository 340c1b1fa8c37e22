/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - the rows whose columns may equal some values, however SQLite compares them: numbers
 * with numbers, texts by their bytes, and numbers with texts either by their values or by the texts
 * that they are written as.
 */
#ifndef SQL_LOOKUP_H
#define SQL_LOOKUP_H

#include "sheet.h"

enum { LOOKUP_COLUMNS_MAX = 8 };

struct lookup;

struct lookup_rows {
	bool all;              /* any row may; the rest says nothing then */
	uint32_t first;        /* plus one; 0 for none */
	uint32_t doubtful;     /* the first of another chain, plus one */
	const uint32_t *nexts; /* of each row the next one, plus one; 0 at the end */
};

/* How a query compares. */
enum lookup_flag {
	LOOKUP_NULLS = 1 << 0,    /* by IS: NULL is NULL */
	LOOKUP_CASELESS = 1 << 1, /* by COLLATE NOCASE */
};

/* A column, which is loaded, and what it is to equal. */
struct lookup_want {
	unsigned column;
	unsigned flags; /* enum lookup_flag */
	sqlite3_value *value;
};

/*
 * Rows that may equal all of up to LOOKUP_COLUMNS_MAX wants. ERR_LIMIT without memory; *ret has all
 * rows then.
 */
int lookup_find(struct sheet *sheet, const struct lookup_want *wants, size_t count,
		struct lookup_rows *ret, struct err *err) MUST_CHECK;
void lookup_free(struct lookup *lookup);

#endif
