/* SPDX-License-Identifier: MIT */
/*
 * module.h - files as tables of SQLite: a virtual table that reads a sheet's columns.
 *
 * Preparing a query marks the columns that it needs as `wanted`; they must have been fetched before
 * its first row is asked for. It finds rows by the values of columns, and gives rows that belong
 * together one after the other, so that SQLite joins and groups without sorting.
 */
#ifndef SQL_MODULE_H
#define SQL_MODULE_H

#include <sqlite3.h>

#include "base/err.h"
#include "sheet.h"

enum {
	MODULE_SHOWN_COLUMNS = 1000, /* in the statement that sqlite_master shows */
	MODULE_SINGLE_COLUMNS = 63,  /* of which SQLite says whether a query needs it */
};

/* The sheet that is to be the table `name`. */
typedef struct sheet *module_find(void *data, const char *name);

int module_register(sqlite3 *db, module_find *find, void *data, struct err *err) MUST_CHECK;
int module_create(sqlite3 *db, const char *table, const struct sheet *sheet,
		  struct err *err) MUST_CHECK;
/* The file of an open table that EXPLAIN's VOpen names so; NULL for none. */
const struct sheet *module_opened(const char *name);
void module_drop(sqlite3 *db, const char *table);

#endif
