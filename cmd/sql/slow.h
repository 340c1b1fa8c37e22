/* SPDX-License-Identifier: MIT */
/*
 * slow.h - explains why a query of SQLite was not finished in time: a table is read as a whole for
 * each row of another one. An index on a table within the query avoids that.
 */
#ifndef SQL_SLOW_H
#define SQL_SLOW_H

#include <sqlite3.h>

#include "base/buf.h"
#include "query.h"

/*
 * Appends a sentence about the stopped query and how to rewrite it; nothing when its plan has no
 * such table. Lifts the database's cancellation, so that the plan can be read.
 */
void slow_put(sqlite3 *db, const struct query *query, struct buf *out);

#endif
