/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - the rows of a column that may equal a value, however SQLite compares the two: numbers
 * with numbers, texts by their bytes, and numbers with texts either by their values or by the texts
 * that they are written as.
 */
#ifndef SQL_LOOKUP_H
#define SQL_LOOKUP_H

#include "column.h"

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

/* `flags`: enum lookup_flag. ERR_LIMIT without memory; *ret has all rows then. */
int lookup_find(struct column *column, sqlite3_value *value, unsigned flags,
		struct lookup_rows *ret, struct err *err) MUST_CHECK;
/* Gives memory back. */
void lookup_drop(struct column_lookup *lookup);

#endif
