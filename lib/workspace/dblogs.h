/* SPDX-License-Identifier: MIT */
/* dblogs.h - the names of the files that SQLite and DuckDB have beside an open database. */
#ifndef WORKSPACE_DBLOGS_H
#define WORKSPACE_DBLOGS_H

#include <stddef.h>

enum { DBLOGS_COUNT = 4 };

/* Returns the path of the database if `path` is that of a log, else NULL. The caller frees it. */
char *dblogs_database(const char *path);
/* Returns the path of a database's log; `index` is below DBLOGS_COUNT. The caller frees it. */
char *dblogs_name(const char *database, size_t index);

#endif
