/* SPDX-License-Identifier: MIT */
/* sorting.h - finds orders, least and greatest values of columns that do not sort as text. */
#ifndef SQL_SORTING_H
#define SQL_SORTING_H

#include "side.h"

/* Marks the columns of an ORDER BY; `at` is its BY. */
void sorting_mark(const struct sides *sides, size_t at);
/* Marks the arguments of the min() or max() at `at`. */
void sorting_mark_extreme(const struct sides *sides, size_t at);

#endif
