/* SPDX-License-Identifier: MIT */
/*
 * tables.h - the CSV and TSV files of a session as tables of a database in memory.
 *
 * A file is looked through when a query first names it, and again when it has changed; which names
 * mean it, names.h says. Values are read of the columns that queries need, and kept while there is
 * memory.
 */
#ifndef SQL_CSV_TABLES_H
#define SQL_CSV_TABLES_H

#include <sqlite3.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"
#include "sql/guard.h"

struct csv_tables;

/* `dir_fd` is the session's folder, borrowed. */
struct csv_tables *csv_tables_new(int dir_fd, struct err *err) MUST_CHECK;
/*
 * Makes tables of what the statement names; of all files, when it asks for the schema. A file that
 * is no table is left out: whether the name means a table only the database knows.
 */
int csv_tables_load(struct csv_tables *tables, const char *sql, size_t len,
		    struct err *err) MUST_CHECK;
/* Reads what the query that was just prepared needs: a sqlite_prepared of lite.h, with the tables.
 */
int csv_tables_fetch(void *data, struct err *err) MUST_CHECK;
/* The database, sealed (lite.h). */
sqlite3 *csv_tables_db(const struct csv_tables *tables);
/* What was assumed about the files that the query read. */
void csv_tables_tell(struct csv_tables *tables, const struct query *query, struct sink *sink);
/* For "no such table" and "no such column": what there is instead. */
void csv_tables_explain(const struct csv_tables *tables, const char *sql, size_t len,
			struct err *err);

#endif
