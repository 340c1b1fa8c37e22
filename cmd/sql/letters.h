/* SPDX-License-Identifier: MIT */
/*
 * letters.h - lower(x), upper(x) and LIKE for all letters: SQLite's own know only ASCII.
 *
 * Must not be used for a database that may have indexes by them. Returns -1 and sets *err.
 */
#ifndef SQL_LETTERS_H
#define SQL_LETTERS_H

#include <sqlite3.h>

#include "base/err.h"

int letters_register(sqlite3 *db, struct err *err) MUST_CHECK;

#endif
