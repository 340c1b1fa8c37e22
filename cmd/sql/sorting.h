/* SPDX-License-Identifier: MIT */
/* sorting.h - what a query orders, or takes the least or the most of, that does not sort as text.
 */
#ifndef SQL_SORTING_H
#define SQL_SORTING_H

#include "side.h"

/* Marks what is ordered by; `at` is the BY of ORDER BY. */
void sorting_mark(const struct sides *sides, size_t at);
/* The same of the arguments of min() or max() at `at`. */
void sorting_mark_extreme(const struct sides *sides, size_t at);

#endif
