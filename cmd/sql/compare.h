/* SPDX-License-Identifier: MIT */
/*
 * compare.h - finds comparisons and orders that SQLite evaluates otherwise than the query means.
 *
 * Beside a column of texts SQLite converts a number to text; elsewhere any text is greater than a
 * number. So '9' is greater than 10, '007' is not 7, and no number equals '2026'. Dates that are
 * not written as ISO 8601 sort as texts. xBestIndex receives only constants beside a plain column.
 * The query's tokens are therefore read: on either side of an operator are columns, numbers, texts,
 * parameters or functions of them.
 */
#ifndef SQL_COMPARE_H
#define SQL_COMPARE_H

#include "query.h"
#include "side.h"
#include "sink.h"

/*
 * Sets the marks (column.h) of the wanted columns of the sheets that the query used, and reports
 * the findings that need no mark. `sides` has no clause yet. `db` evaluates date functions.
 */
void compare_report(const struct query *query, struct sides sides, sqlite3 *db, struct sink *sink);

#endif
