/* SPDX-License-Identifier: MIT */
/*
 * result_table.h - the rows of a query, as a table for a text and as values of JSON.
 *
 * Every value is untrusted. The table hides nothing: a value that plain text would not show (a
 * blank at an end, a line end, "" beside NULL, invisible characters) is quoted as a string of JSON.
 * JSON values are those that the database returned. Secrets must be taken out before, because
 * quoting and cutting would hide them from the search.
 */
#ifndef QUERY_RESULT_TABLE_H
#define QUERY_RESULT_TABLE_H

#include <jansson.h>

#include "base/buf.h"

enum {
	/* Characters of each value that are always shown: a share of `max_chars`, or these. */
	RESULT_TABLE_CELL_MIN = 200,
	RESULT_TABLE_SHARES = 50,
};

/*
 * Appends the names, then a line a row, values separated by " | "; NULL is written NULL. Long
 * values are cut, and end in U+2026, when all values together have more than `max_chars`. Returns
 * the number of cut values and sets *ret_chars to the characters that each has kept.
 */
size_t result_table_put(struct buf *out, const json_t *columns, const json_t *rows,
			size_t max_chars, size_t *ret_chars);
/*
 * Return the columns as [{"name", "type"}] and the rows as [[...]], as new references. Members and
 * values of other kinds are left out.
 */
json_t *result_table_copy_columns(const json_t *columns);
json_t *result_table_copy_values(const json_t *rows);
/*
 * Return the names of the first RESULT_RECORD_COLUMNS columns, and the rows with these as arrays of
 * texts as the table has them, and of null. New references. `rows` may be NULL.
 */
json_t *result_table_names(const json_t *columns);
json_t *result_table_texts(const json_t *rows);
/* Returns sentences of the helper, each cleaned as a block, as a new reference. */
json_t *result_table_clean_texts(const json_t *texts);

#endif
