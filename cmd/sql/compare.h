/* SPDX-License-Identifier: MIT */
/*
 * compare.h - which texts of files a query compares with numbers.
 *
 * SQLite makes a text of the number then, or takes any text for more than it: '9' is more than 10,
 * and '007' is not 7. What xBestIndex is told of are constants beside a plain column only, so the
 * query's words are read: on either side of an operator stand columns, and numbers, parameters, or
 * functions of them.
 */
#ifndef SQL_COMPARE_H
#define SQL_COMPARE_H

#include "query.h"
#include "sheet.h"

/*
 * Marks what is `compared`, and what is a `condition` by itself, which a text like 'yes' never
 * fulfils, among the wanted columns of those sheets that the query used.
 */
void compare_mark(const struct query *query, struct sheet *const *sheets, size_t count);

#endif
