/* SPDX-License-Identifier: MIT */
/* database.h - replaces a database, with its logs, that session code may have open. */
#ifndef FILES_DATABASE_H
#define FILES_DATABASE_H

#include <stdbool.h>

#include "base/util.h"

/* Returns true for a file that begins as a database of SQLite or DuckDB does. */
bool database_is(int dir_fd, const char *name);
/* Returns true if a database and its logs have the same bytes in both folders. */
bool database_is_same(int dir_fd, int other_fd, const char *name);
/*
 * Returns true if connections that are open now would damage a database that takes the place of
 * theirs: they remove or use its logs by name. With SQLite they do if there is a log that is not
 * empty, with DuckDB always.
 */
bool database_is_bound(int dir_fd, const char *name);
/*
 * Removes a database and its logs. A connection that has them open could otherwise write what it
 * has read into a database of the same name. From now on it finds no database in its file. Within a
 * transaction it goes on with what it has read, which reaches no file. Maps of the files stay
 * valid.
 * Returns -1 and sets errno if that could not be done.
 */
int database_remove(int dir_fd, const char *name) MUST_CHECK;

#endif
