/* SPDX-License-Identifier: MIT */
/*
 * guard.h - whether a text is one statement that only reads, as far as the text tells.
 *
 * The first of two levels: the database refuses too, by a read-only transaction or its like. What
 * is accepted is SELECT, WITH, VALUES, these in parentheses, EXPLAIN that does not run what it
 * explains, and TABLE, SHOW and DESCRIBE where a server has them. Refused is what writes, calls,
 * locks, sleeps, reaches out or leaves the transaction.
 */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include <stddef.h>

#include "base/err.h"
#include "sql/dialect.h"

enum { GUARD_QUERY_MAX = 256 << 10 };

/* The statement within the text, without semicolons around it. */
struct guard_statement {
	size_t at;
	size_t len;
};

/*
 * ERR_DENIED for what is not allowed, ERR_INVALID for what is no query, both with the place and
 * the reason; ERR_LIMIT past GUARD_QUERY_MAX bytes.
 */
int guard_check(enum sql_dialect dialect, const char *text, size_t len, struct guard_statement *ret,
		struct err *err) MUST_CHECK;

#endif
