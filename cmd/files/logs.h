/* SPDX-License-Identifier: MIT */
/* logs.h - sets aside copies of a database's logs that no longer belong to the database. */
#ifndef FILES_LOGS_H
#define FILES_LOGS_H

/*
 * SQLite and DuckDB have a log beside an open database. They remove it at a commit, or when they
 * close the database. If the log's copy stayed beside a newer copy of the database, opening that
 * would bring the log's state back.
 *
 * `fd` is a session's file, `from` its path below `data_fd`, and `name` its copy in `dir_fd`. If it
 * is a database, the copies of logs that the session no longer has are renamed, as "name-wal.old".
 */
void logs_set_aside(int fd, int data_fd, const char *from, int dir_fd, const char *name);

#endif
