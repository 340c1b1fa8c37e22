/* SPDX-License-Identifier: MIT */
/* series.h - generate_series(start, stop, step) as a table with one column, value. */
#ifndef SQL_SERIES_H
#define SQL_SERIES_H

#include <sqlite3.h>

/* Returns SQLITE_OK, or SQLite's error. */
int series_register(sqlite3 *db);

#endif
