/* SPDX-License-Identifier: MIT */
/*
 * bytecode.h - finds texts that a query compares or combines with numbers although neither is
 * converted.
 *
 * SQLite converts one side of a comparison only beside a column that is declared with the other
 * type. The result of a function, an aggregate or a derived table may have no type, and then no
 * text equals a number. The words of a query hardly show that, but SQLite's program for it does.
 * Each comparison names its conversion, and each register has a path by which values get there.
 */
#ifndef SQL_BYTECODE_H
#define SQL_BYTECODE_H

#include <sqlite3.h>

#include "query.h"
#include "sink.h"

/*
 * Reports one comparison of a text with a number, if it is one for every row, and one UNION, EXCEPT
 * or INTERSECT that combines them.
 */
void bytecode_report(sqlite3 *db, const struct query *query, struct sink *sink);

#endif
