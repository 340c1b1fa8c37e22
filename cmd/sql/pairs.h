/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - finds the columns that (a, b) IN (SELECT ...) compares.
 *
 * SQLite passes a virtual table the values of such a SELECT one by one. It then compares them with
 * a text column as texts: '007' would not equal 7.
 */
#ifndef SQL_PAIRS_H
#define SQL_PAIRS_H

#include "sheet.h"

/*
 * Marks as `paired` the columns that a query may compare in this way with values that are not text.
 */
void pairs_mark(struct sheet *const *sheets, size_t count, const char *sql, size_t len);

#endif
