/* SPDX-License-Identifier: MIT */
/* row_order.h - the rows of a file ordered by the values of some of its columns, for GROUP BY. */
#ifndef SQL_ROW_ORDER_H
#define SQL_ROW_ORDER_H

#include <stdint.h>

#include "sheet.h"

struct row_order {
	struct row_order *next;
	char *columns;
	uint32_t *rows;
};

/*
 * Returns the rows ordered by the columns whose numbers `columns` lists, separated by commas, and
 * in file order where these are equal. The sheet owns and keeps the result. Returns NULL when
 * memory is exhausted.
 */
const uint32_t *row_order_get(struct sheet *sheet, const char *columns);
/* Frees it and all that follow it. `order` may be NULL. */
void row_order_free(struct row_order *order);

#endif
