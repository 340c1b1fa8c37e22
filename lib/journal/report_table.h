/* SPDX-License-Identifier: MIT */
/* report_table.h - a table of a cell (table.h) as a table of HTML. */
#ifndef JOURNAL_REPORT_TABLE_H
#define JOURNAL_REPORT_TABLE_H

#include <jansson.h>

#include "base/buf.h"

/*
 * Appends the table, with a note if it has no rows, or rows or columns that are not shown. `table`
 * is one of table_make().
 */
void report_table_put(struct buf *out, const json_t *table);

#endif
