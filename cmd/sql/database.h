/* SPDX-License-Identifier: MIT */
/*
 * database.h - the one database that this process serves.
 *
 *   {"kind": "files"}                       CSV files of the session
 *   {"kind": "file", "path": "input/a.db"}  a SQLite file of the session
 *   {"kind": "sqlite", "path": "/a.db"}     a SQLite file of the machine
 *   {"kind": "odbc", "string": "Driver=...", "ini": "/home/me/.odbc.ini", "folder": "/opt/odbc"}
 *
 * "ini" and "folder" are unixODBC's ODBCINI and ODBCSYSINI; each may be missing. The three kinds
 * that SQLite reads may have "zone", a time zone as in TZ.
 */
#ifndef SQL_DATABASE_H
#define SQL_DATABASE_H

#include <jansson.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"

struct database;

/*
 * Locks the process down to what this database needs. Opens nothing yet. Returns NULL and sets
 * *err.
 */
struct database *database_new(int dir_fd, const json_t *about, struct err *err) MUST_CHECK;
/* Checks the query (sql/guard.h) and runs it. Returns -1 and sets *err. */
int database_run(struct database *database, const struct query *query, struct sink *sink,
		 struct err *err) MUST_CHECK;

/* Cleans up the kept connection after an answer, or closes it. */
void database_rest(struct database *database);

#endif
