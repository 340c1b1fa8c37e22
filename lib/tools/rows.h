/* SPDX-License-Identifier: MIT */
/*
 * rows.h - the rows of a query as people and models read them.
 *
 * Everything in them is foreign and is cleaned here. Secrets are not in them any more: cleaning and
 * cutting would hide them from whom looks for them.
 */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include <jansson.h>

#include "base/buf.h"

enum { ROWS_CELL_MAX = 200 }; /* characters of a value in the table */

/* Names, then a line a row, values separated by " | "; NULL is NULL. */
void rows_put_table(struct buf *out, const json_t *columns, const json_t *rows);
/* [{"name", "type"}] and [[...]] with clean texts; new references. */
json_t *rows_clean_columns(const json_t *columns);
json_t *rows_clean_values(const json_t *rows);

#endif
