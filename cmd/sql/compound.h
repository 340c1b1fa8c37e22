/* SPDX-License-Identifier: MIT */
/* compound.h - inspects the columns that UNION, EXCEPT and INTERSECT combine. */
#ifndef SQL_COMPOUND_H
#define SQL_COMPOUND_H

#include "side.h"

/*
 * Marks what the operator at `at`, UNION, EXCEPT or INTERSECT, combines in one column: texts with
 * numbers or booleans (COLUMN_STACKED), and dates with dates in another form (COLUMN_SPELT).
 */
void compound_mark(const struct sides *sides, size_t at);

#endif
