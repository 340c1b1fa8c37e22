/* SPDX-License-Identifier: MIT */
/* logs.h - decides where the copies of a database's logs belong. */
#ifndef FILES_LOGS_H
#define FILES_LOGS_H

#include <stdbool.h>

#include "base/list.h"

/*
 * SQLite and DuckDB have a log beside an open database. They remove it at a commit, or when they
 * close the database. If the log's copy stayed beside a newer copy of the database, opening that
 * would bring the log's state back.
 *
 * `fd` is a session's file, `from` its path below `data_fd`, and `name` its copy in `dir_fd`. If it
 * is a database, the copies of logs that the session no longer has are renamed, as "name-wal.old".
 */
void logs_set_aside(int fd, int data_fd, const char *from, int dir_fd, const char *name);

/* Returns true if an open file begins as a database of DuckDB does. */
bool logs_is_duckdb(int fd);
/* Returns true if one begins as a database of SQLite or DuckDB does. */
bool logs_is_database(int fd);
/* Returns true if the path is that of a log, by its name. */
bool logs_is_log(const char *path);
/*
 * A database and its logs are of one state, so their copies have one name. A copy that has changed
 * is left alone, and the next copy gets a name beside it. For example, SQLite changes a copy with a
 * log when the user opens it. The log's next copy must go beside the database's next copy, because
 * it would damage a database of another state. If the database is not copied, its log is not.
 *
 * Notes in `placed` where the copy of `from` is; `to` is NULL if it could not be copied.
 */
void logs_note(struct list *placed, const char *from, const char *to);
/*
 * Returns the path for the copy of `from`, if that is a log of a database that was noted, and `to`
 * is another path; else NULL. The caller frees it.
 */
char *logs_follow(const struct list *placed, const char *from, const char *to);
/* Returns true if `from` is the log of a database that was noted with a copy. */
bool logs_has_place(const struct list *placed, const char *from);
/* Returns true if `from` is the log of a database that could not be copied. */
bool logs_is_stranded(const struct list *placed, const char *from);
void logs_forget(struct list *placed);

#endif
