/* SPDX-License-Identifier: MIT */
/*
 * module.h - files as tables of SQLite: a virtual table that reads a sheet's columns.
 *
 * Preparing a query marks the columns that it needs as `wanted`. They must be fetched before its
 * first row is read. The module finds rows by the values of columns, and returns rows in groups, so
 * that SQLite joins and groups without sorting.
 */
#ifndef SQL_MODULE_H
#define SQL_MODULE_H

#include <sqlite3.h>

#include "base/err.h"
#include "sheet.h"

enum {
	MODULE_SHOWN_COLUMNS = 1000, /* in the statement that sqlite_master shows */
	MODULE_SINGLE_COLUMNS = 63,  /* columns for which SQLite says whether a query needs them */
};

/* Returns the sheet that is the table `name`, borrowed; NULL for none. */
typedef struct sheet *module_find(void *data, const char *name);

/* Registers the module "csv", whose tables `find` knows. Returns -1 and sets *err. */
int module_register(sqlite3 *db, module_find *find, void *data, struct err *err) MUST_CHECK;
/* Creates the table. Returns -1 and sets *err. */
int module_create(sqlite3 *db, const char *table, const struct sheet *sheet,
		  struct err *err) MUST_CHECK;
/* Returns the file of the open table that EXPLAIN's VOpen gives this name; NULL for none. */
const struct sheet *module_opened(const char *name);
/* Drops the table, if it exists. */
void module_drop(sqlite3 *db, const char *table);

#endif
