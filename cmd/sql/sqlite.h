/* SPDX-License-Identifier: MIT */
/*
 * lite.h - queries on SQLite: a database in memory, a file of the session, a file of the person.
 *
 * Besides the level-1 check, SQLite itself refuses: files are opened read-only, an authorizer lets
 * only reading through, defensive mode and query_only are on, schemas are not trusted, there are
 * no extensions and nothing is attached. ERR_CANCELLED when stop.h says so.
 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"

/* Bytes of SQLite's memory, and of what is put into its tables. */
enum { SQLITE_HEAP_MAX = 1 << 30 };

/* A query was prepared and is about to run. */
typedef int sqlite_prepared(void *data, struct err *err);

/* First of all. A name is a name, also one that begins with "file:". */
int sqlite_start(struct err *err) MUST_CHECK;
/* In memory, for tables to be put in. */
sqlite3 *sqlite_open_memory(struct err *err) MUST_CHECK;
/* `path` below the folder of vfs.h. */
sqlite3 *sqlite_open_file(const char *path, struct err *err) MUST_CHECK;
/* An absolute path of the machine. *ret_still: as if nobody wrote to it, which the caller checks.
 */
sqlite3 *sqlite_open_host(const char *path, bool *ret_still, struct err *err) MUST_CHECK;
/* From here on only reading, and no change of that. */
int sqlite_seal(sqlite3 *db, struct err *err) MUST_CHECK;
/* Our own statements again, for a database in memory. */
void sqlite_unseal(sqlite3 *db);
/* One statement. `prepared` may be NULL. */
int sqlite_run(sqlite3 *db, const struct query *query, sqlite_prepared *prepared, void *data,
	       struct sink *sink, struct err *err) MUST_CHECK;
/* What SQLite says is wrong. */
int sqlite_fail(sqlite3 *db, struct err *err);

#endif
