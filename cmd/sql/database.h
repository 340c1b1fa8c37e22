/* SPDX-License-Identifier: MIT */
/*
 * database.h - the one database that this process is for.
 *
 * {"kind": "files"}                       CSV files of the session
 * {"kind": "file", "path": "input/a.db"}  a SQLite file of the session
 * {"kind": "sqlite", "path": "/a.db"}     one of the machine
 * {"kind": "odbc", "string": "Driver=...", "ini": "/home/me/.odbc.ini", "folder": "/opt/odbc"}
 *
 * "ini" and "folder" are unixODBC's ODBCINI and ODBCSYSINI; each may be left out. So may "zone", a
 * time zone as in TZ, of the three kinds that SQLite reads.
 */
#ifndef SQL_DATABASE_H
#define SQL_DATABASE_H

#include <jansson.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"

struct database;

/* Confines the process to what this database needs. Nothing is opened yet. */
struct database *database_new(int dir_fd, const json_t *about, struct err *err) MUST_CHECK;
/* Checks the query (sql/guard.h) and runs it. */
int database_run(struct database *database, const struct query *query, struct sink *sink,
		 struct err *err) MUST_CHECK;

/* After an answer: leaves nothing in a connection that is kept. */
void database_rest(struct database *database);

#endif
