/* SPDX-License-Identifier: MIT */
/*
 * slow.h - why a query of SQLite was not done in time: a table that is read whole for each row of
 * another, which an index on a table of the query's own avoids.
 */
#ifndef SQL_SLOW_H
#define SQL_SLOW_H

#include <sqlite3.h>

#include "base/buf.h"
#include "query.h"

/* Puts a sentence about the query that was stopped, and how to write it; nothing when its plan has
 * no such table. Stops are no longer looked at by the database. */
void slow_put(sqlite3 *db, const struct query *query, struct buf *out);

#endif
