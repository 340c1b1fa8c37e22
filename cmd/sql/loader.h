/* SPDX-License-Identifier: MIT */
/*
 * loader.h - one CSV file into one table.
 *
 * The first line names the columns. A column is INTEGER or REAL when every value in it is one and
 * comes back as it was written (007 does not), else TEXT; an empty field is NULL.
 */
#ifndef SQL_LOADER_H
#define SQL_LOADER_H

#include <sqlite3.h>

#include "base/err.h"

/* `fd` is the open file, `path` is for messages. */
int loader_load(sqlite3 *db, const char *table, int fd, const char *path,
		struct err *err) MUST_CHECK;

#endif
