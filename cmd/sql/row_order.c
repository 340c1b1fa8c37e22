/* SPDX-License-Identifier: MIT */
/*
 * row_order.c - counting sort of rows by columns.
 *
 * SQLite groups by sorting whole records. Columns with few different values can be ordered in
 * linear time: a stable counting sort by each column, the last one first. With too many values,
 * rows are sorted by comparison.
 */
#include "row_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { COLUMNS_MAX = 64 }; /* the maximum that SQLite orders by at once */

struct ordering {
	const struct sheet *sheet;
	const struct column *columns[COLUMNS_MAX];
	size_t count;
};

void row_order_free(struct row_order *order)
{
	while (order != NULL) {
		struct row_order *next = order->next;

		sqlite3_free(order->rows);
		free(order->columns);
		free(order);
		order = next;
	}
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct ordering *ordering = data;
	uint32_t first = *(const uint32_t *)a;
	uint32_t second = *(const uint32_t *)b;

	for (size_t i = 0; i < ordering->count; i++) {
		int result = column_compare(ordering->columns[i], first, second);

		if (result != 0)
			return result;
	}
	return (first > second) - (first < second);
}

/* Sorts stably by one column. Returns false when memory is exhausted. */
static bool count_ranks(const struct column *column, const uint32_t *ranks, size_t rank_count,
			size_t row_count, uint32_t *rows)
{
	uint32_t *before = sqlite3_malloc64((row_count + 1) * sizeof(*before));
	uint32_t *starts = sqlite3_malloc64((rank_count + 1) * sizeof(*starts));
	bool made = before != NULL && starts != NULL;

	if (made) {
		memcpy(before, rows, row_count * sizeof(*before));
		memset(starts, 0, (rank_count + 1) * sizeof(*starts));
		for (size_t i = 0; i < row_count; i++)
			starts[column_rank(column, ranks, i) + 1]++;
		for (size_t i = 0; i < rank_count; i++)
			starts[i + 1] += starts[i];
		for (size_t i = 0; i < row_count; i++)
			rows[starts[column_rank(column, ranks, before[i])]++] = before[i];
	}
	sqlite3_free(before);
	sqlite3_free(starts);
	return made;
}

/* Returns false when a column has too many values. */
static bool order_by_counting(const struct ordering *ordering, uint32_t *rows)
{
	for (size_t i = ordering->count; i-- > 0;) {
		uint32_t *ranks = NULL;
		size_t count = column_ranks(ordering->columns[i], &ranks);
		bool made = count > 0 && count_ranks(ordering->columns[i], ranks, count,
						     ordering->sheet->rows, rows);

		sqlite3_free(ranks);
		if (!made)
			return false;
	}
	return true;
}

static void order_rows(struct ordering *ordering, uint32_t *rows)
{
	for (size_t i = 0; i < ordering->sheet->rows; i++)
		rows[i] = (uint32_t)i;
	if (!order_by_counting(ordering, rows))
		qsort_r(rows, ordering->sheet->rows, sizeof(*rows), compare_rows, ordering);
}

static struct ordering parse(const struct sheet *sheet, const char *columns)
{
	struct ordering ordering = { .sheet = sheet };

	while (*columns != '\0' && ordering.count < COLUMNS_MAX) {
		char *end;

		ordering.columns[ordering.count++] = &sheet->columns[strtoul(columns, &end, 10)];
		columns = *end == ',' ? end + 1 : end;
	}
	return ordering;
}

const uint32_t *row_order_get(struct sheet *sheet, const char *columns)
{
	struct ordering ordering = parse(sheet, columns);
	struct row_order *order = sheet->orders;
	uint32_t *rows;

	for (; order != NULL; order = order->next)
		if (str_eq(order->columns, columns))
			return order->rows;
	rows = sqlite3_malloc64((sheet->rows + 1) * sizeof(*rows));
	if (rows == NULL)
		return NULL;
	order_rows(&ordering, rows);
	order = xcalloc(1, sizeof(*order));
	*order = (struct row_order){ .next = sheet->orders,
				     .columns = xstrdup(columns),
				     .rows = rows };
	sheet->orders = order;
	return rows;
}
