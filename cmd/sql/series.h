/* SPDX-License-Identifier: MIT */
/* series.h - generate_series(start, stop, step) as a table with one column, value. */
#ifndef SQL_SERIES_H
#define SQL_SERIES_H

#include <sqlite3.h>

/* SQLITE_OK, or what SQLite says. */
int series_register(sqlite3 *db);

#endif
