/* SPDX-License-Identifier: MIT */
/* columns.h - the columns that well-formed UTF-8 text takes on a terminal. */
#ifndef TEXT_COLUMNS_H
#define TEXT_COLUMNS_H

#include <stddef.h>

/* Returns the number of columns of a line. A Chinese character has two, a combining mark none. */
size_t columns_count(const char *s, size_t len);
/* Returns the length of the longest beginning that has at most `columns` columns. */
size_t columns_head(const char *s, size_t len, size_t columns);
/* Returns the offset of the longest end that has at most `columns` columns. */
size_t columns_tail(const char *s, size_t len, size_t columns);

#endif
