/* SPDX-License-Identifier: MIT */
/*
 * bytecode.h - texts that a query compares with numbers which neither is converted for, or brings
 * together with them.
 *
 * SQLite converts one side of a comparison only beside a column that is declared as the other. What
 * a function, an aggregate or a derived table gives may have no such type, and then no text equals
 * a number. Whether that happens, the words of a query hardly say, but SQLite's program for it
 * does: each comparison in it has its conversion, and each register a way that values come there.
 */
#ifndef SQL_BYTECODE_H
#define SQL_BYTECODE_H

#include <sqlite3.h>

#include "query.h"
#include "sink.h"

/* Tells of one comparison whose one side is a text and whose other one is a number, whatever rows
 * there are, and of one UNION, EXCEPT or INTERSECT. */
void bytecode_tell(sqlite3 *db, const struct query *query, struct sink *sink);

#endif
