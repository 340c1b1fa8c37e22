/* SPDX-License-Identifier: MIT */
/*
 * csv_tables.h - the CSV and TSV files of a session as tables of a database in memory.
 *
 * A file is read through when a query first names it, and again when it has changed. names.h
 * decides which names mean a file. The values of a column are read when a query needs them, and
 * stay while memory lasts.
 */
#ifndef SQL_CSV_TABLES_H
#define SQL_CSV_TABLES_H

#include <sqlite3.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"

struct csv_tables;

/*
 * Returns the tables of the session's folder `dir_fd`, which is borrowed. Returns NULL and sets
 * *err.
 */
struct csv_tables *csv_tables_new(int dir_fd, struct err *err) MUST_CHECK;
/*
 * Creates tables for the files that the statement names, or for all files when it reads the schema.
 * A file that is not a table is left out: only the database knows whether the name means a table.
 * Returns -1 and sets *err.
 */
int csv_tables_load(struct csv_tables *tables, const char *sql, size_t len,
		    struct err *err) MUST_CHECK;
/*
 * Reads the columns that the prepared query needs. It is a sqlite_prepared (sqlite.h) with the
 * tables as data. Returns -1 and sets *err.
 */
int csv_tables_fetch(void *data, struct err *err) MUST_CHECK;
/* Returns the database, sealed (sqlite.h), borrowed. */
sqlite3 *csv_tables_db(const struct csv_tables *tables);
/* Reports what was assumed about the files that the query read. */
void csv_tables_report(struct csv_tables *tables, const struct query *query, struct sink *sink);
/* Extends the errors "no such table" and "no such column" by what there is instead. */
void csv_tables_explain(const struct csv_tables *tables, const char *sql, size_t len,
			struct err *err);

#endif
