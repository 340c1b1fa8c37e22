/* SPDX-License-Identifier: MIT */
/*
 * table.h - the rows of a query, or of a value that is a table, as the journal has them.
 *
 *   {"columns": [NAME, ...], "labels": COUNT, "rows": [[TEXT or null, ...], ...],
 *    "row_count": COUNT, "column_count": COUNT, "below": TEXT}
 *
 * The first "labels" columns name the rows. "row_count" and "column_count" are those of the whole
 * table; labels are no columns there. "below" is what an answer says of a query under its rows.
 */
#ifndef JOURNAL_TABLE_H
#define JOURNAL_TABLE_H

#include <jansson.h>
#include <stddef.h>

struct redact;

enum {
	TABLE_ROWS_MAX = 100, /* more rows make a page slow and long */
	TABLE_COLUMNS_MAX = 100,
	TABLE_BYTES_MAX = 128 << 10, /* of all texts: rows beyond it are left out */
	TABLE_CELL_CHARS_MIN = 100,  /* that each text keeps: a share of the bytes, or these */
};

/*
 * Makes the table of `raw`, which has its shape and which session code chose: texts are cleaned,
 * secrets are removed, and then long texts are cut and rows and columns beyond the limits left out.
 * `redact` may be NULL. Returns a new reference, or NULL if `raw` is no table.
 */
json_t *table_make(const json_t *raw, const struct redact *redact);
/* Does the same for JSON text. */
json_t *table_parse(const char *text, size_t len, const struct redact *redact);

#endif
