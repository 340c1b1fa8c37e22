/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - the columns that (a, b) IN (SELECT ...) compares.
 *
 * SQLite gives a virtual table the values of such a SELECT one by one, and then compares them with
 * the column as texts, if it is one: '007' would not be 7.
 */
#ifndef SQL_PAIRS_H
#define SQL_PAIRS_H

#include "sheet.h"

/* Marks as `paired` the columns that a query may compare so with what is no text. */
void pairs_mark(struct sheet *const *sheets, size_t count, const char *sql, size_t len);

#endif
