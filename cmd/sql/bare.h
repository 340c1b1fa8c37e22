/* SPDX-License-Identifier: MIT */
/* bare.h - finds columns beside aggregates that no GROUP BY reduces to one value. */
#ifndef SQL_BARE_H
#define SQL_BARE_H

#include "side.h"

/*
 * Marks with COLUMN_BARE the columns that the SELECT at `select` has beside its aggregates, when
 * nothing groups its rows: SQLite takes the value of an arbitrary row. Not marked are columns
 * beside one min() or max(), which take that row's value, and columns that a condition sets equal
 * to something.
 */
void bare_mark(const struct sides *sides, size_t select);

#endif
