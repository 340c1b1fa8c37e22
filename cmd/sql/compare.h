/* SPDX-License-Identifier: MIT */
/*
 * compare.h - what a query compares or orders that SQLite takes otherwise than it is meant.
 *
 * SQLite makes a text of a number beside a column of texts, and takes any text for more than a
 * number elsewhere: '9' is more than 10, '007' is not 7, and no number is '2026'. Dates that are
 * not written as ISO 8601 has them sort as texts. What xBestIndex is told of are constants beside a
 * plain column only, so the query's words are read: on either side of an operator stand columns,
 * and numbers, texts, parameters, or functions of them.
 */
#ifndef SQL_COMPARE_H
#define SQL_COMPARE_H

#include "query.h"
#include "side.h"
#include "sink.h"

/*
 * Sets the marks (column.h) of the wanted columns of those sheets that the query used, and tells
 * what needs no mark. `sides` has no clause yet. `db` is asked what its functions of dates give.
 */
void compare_tell(const struct query *query, struct sides sides, sqlite3 *db, struct sink *sink);

#endif
