/* SPDX-License-Identifier: MIT */
/*
 * tables.h - the CSV and TSV files of a session as tables of a database in memory.
 *
 * A table is loaded when a query first names it, and again when its file has changed. Names that
 * mean input/sales 2026.csv: its path, sales 2026.csv, sales 2026, sales_2026.
 */
#ifndef SQL_TABLES_H
#define SQL_TABLES_H

#include <sqlite3.h>

#include "base/err.h"
#include "sql/guard.h"

enum { TABLES_FILES_MAX = 2000, TABLES_DEPTH_MAX = 8 };

struct tables;

/* `dir_fd` is the session's folder, borrowed. */
struct tables *tables_new(int dir_fd, struct err *err) MUST_CHECK;
/*
 * Loads what the statement names; all, when it asks for the schema. A file that cannot be loaded is
 * left out: whether the name means a table only the database knows.
 */
int tables_load(struct tables *tables, const char *sql, size_t len, struct err *err) MUST_CHECK;
/* The database, sealed (lite.h). */
sqlite3 *tables_db(const struct tables *tables);
/* For "no such table": why that one could not be loaded, or which there are. */
void tables_explain(const struct tables *tables, struct err *err);

#endif
