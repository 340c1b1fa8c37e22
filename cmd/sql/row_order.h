/* SPDX-License-Identifier: MIT */
/* order.h - the rows of a file ordered by the values of some of its columns, for GROUP BY. */
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
 * The rows by the columns whose numbers `columns` lists, separated by commas; as they come in the
 * file where these are equal. Kept and owned by the sheet. NULL without memory.
 */
const uint32_t *row_order_get(struct sheet *sheet, const char *columns);
/* With all that follow it. NULL is allowed. */
void row_order_free(struct row_order *order);

#endif
