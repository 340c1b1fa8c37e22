/* SPDX-License-Identifier: MIT */
/* compound.h - what UNION and its like put into one column. */
#ifndef SQL_COMPOUND_H
#define SQL_COMPOUND_H

#include "side.h"

/*
 * Marks columns of texts (COLUMN_STACKED) that the operator at `at`, UNION, EXCEPT or INTERSECT,
 * puts into one column with numbers or booleans, and dates (COLUMN_SPELT) that it puts beside some
 * that are written otherwise.
 */
void compound_mark(const struct sides *sides, size_t at);

#endif
