/* SPDX-License-Identifier: MIT */
/*
 * letters.h - lower(x), upper(x) and LIKE of all letters: SQLite knows only those of ASCII.
 *
 * Not for a database that may have indexes by them.
 */
#ifndef SQL_LETTERS_H
#define SQL_LETTERS_H

#include <sqlite3.h>

#include "base/err.h"

int letters_register(sqlite3 *db, struct err *err) MUST_CHECK;

#endif
