/* SPDX-License-Identifier: MIT */
/* bare.h - columns beside aggregates that no GROUP BY brings to one value. */
#ifndef SQL_BARE_H
#define SQL_BARE_H

#include "side.h"

/*
 * Marks (COLUMN_BARE) what the SELECT at `select` has beside its aggregates, when nothing groups
 * its rows: SQLite takes the value of an arbitrary one. Beside one min() or max() it is that row's
 * value, and what a condition holds equal to something has one value.
 */
void bare_mark(const struct sides *sides, size_t select);

#endif
