/* SPDX-License-Identifier: MIT */
/*
 * sqlite.h - queries on SQLite: a database in memory, a file of the session, a file of the user.
 *
 * Beside the check of sql/guard.h, SQLite itself refuses. Files are opened read-only. An authorizer
 * allows only reading. Defensive mode and query_only are on, schemas are not trusted, there are no
 * extensions, and nothing can be attached. A query ends with ERR_CANCELLED when cancel.h says so.
 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "query.h"
#include "sink.h"

/* The limit of SQLite's memory, and of what is put into its tables, in bytes. */
enum { SQLITE_HEAP_MAX = 1 << 30 };

/* Called when a query is prepared and about to run. Returns -1 and sets *err. */
typedef int sqlite_prepared(void *data, struct err *err);

/*
 * Configures SQLite; must be called first. A name is never a URI, even if it begins with "file:".
 * Returns -1 and sets *err.
 */
int sqlite_start(struct err *err) MUST_CHECK;
/* Opens a database in memory, for tables of our own. Returns NULL and sets *err. */
sqlite3 *sqlite_open_memory(struct err *err) MUST_CHECK;
/* Opens `path` below the folder of vfs.h. Returns NULL and sets *err. */
sqlite3 *sqlite_open_file(const char *path, struct err *err) MUST_CHECK;
/*
 * Opens an absolute path of the machine. Sets *ret_still when it is opened as if no process wrote
 * to it, which the caller must check. Returns NULL and sets *err.
 */
sqlite3 *sqlite_open_host(const char *path, bool *ret_still, struct err *err) MUST_CHECK;
/* Allows only reading from here on, and no change of that. Returns -1 and sets *err. */
int sqlite_seal(sqlite3 *db, struct err *err) MUST_CHECK;
/* Allows our own statements again, for a database in memory. */
void sqlite_unseal(sqlite3 *db);
/* Runs one statement. `prepared` may be NULL. Returns -1 and sets *err. */
int sqlite_run(sqlite3 *db, const struct query *query, sqlite_prepared *prepared, void *data,
	       struct sink *sink, struct err *err) MUST_CHECK;
/* Sets *err to SQLite's message. Always returns -1. */
int sqlite_fail(sqlite3 *db, struct err *err);

#endif
