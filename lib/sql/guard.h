/* SPDX-License-Identifier: MIT */
/*
 * guard.h - checks whether a text is one statement that only reads, as far as the text shows.
 *
 * It is the first of two levels: the database refuses writes too, in a read-only transaction or
 * similar. Accepted are SELECT, WITH, VALUES, these in parentheses, EXPLAIN that does not run its
 * query, and TABLE, SHOW and DESCRIBE where a server has them. Refused is everything that writes,
 * calls, locks, sleeps, reaches out or leaves the transaction.
 */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include <stddef.h>

#include "base/err.h"
#include "sql/sql_dialect.h"

enum { GUARD_QUERY_MAX = 256 << 10 };

/* The range of the statement within the text, without semicolons around it. */
struct guard_statement {
	size_t at;
	size_t len;
};

/*
 * Returns 0 and sets *ret. Returns -1 and sets ERR_DENIED for a statement that is not allowed,
 * ERR_INVALID for text that is no query, both with the place and the reason; ERR_LIMIT past
 * GUARD_QUERY_MAX bytes.
 */
int guard_check(enum sql_dialect dialect, const char *text, size_t len, struct guard_statement *ret,
		struct err *err) MUST_CHECK;

#endif
