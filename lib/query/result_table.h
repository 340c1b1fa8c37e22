/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the rows of a query as people and models read them.
 *
 * Everything in them is foreign. In the table nothing is hidden: what plain text would not show (a
 * blank at an end, a line end, "" beside NULL, characters that nobody sees) stands in quotes, as a
 * string of JSON. As values of JSON rows are what the database gave. Secrets are not in them any
 * more: quoting and cutting would hide them from whom looks for them.
 */
#ifndef QUERY_RESULT_TABLE_H
#define QUERY_RESULT_TABLE_H

#include <jansson.h>

#include "base/buf.h"

enum {
	RESULT_TABLE_CELL_MIN =
		200, /* characters of a value that a table of usual size always shows */
	RESULT_TABLE_SHARES = 50, /* of `max_chars`: so few are shown of each value at least */
};

/*
 * Names, then a line a row, values separated by " | "; NULL is NULL. Returns how many values are
 * cut, each of which ends in U+2026, and in *ret_chars behind how many characters: long ones share
 * what is left when all values have more than `max_chars`.
 */
size_t result_table_put(struct buf *out, const json_t *columns, const json_t *rows,
			size_t max_chars, size_t *ret_chars);
/* [{"name", "type"}] and [[...]]: only what they can be; new references. */
json_t *result_table_copy_columns(const json_t *columns);
json_t *result_table_copy_values(const json_t *rows);
/* Sentences of the helper, cleaned as blocks; a new reference. */
json_t *result_table_clean_texts(const json_t *texts);

#endif
