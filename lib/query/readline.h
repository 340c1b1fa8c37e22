/* SPDX-License-Identifier: MIT */
/*
 * readline.h - the line of Python that reads a query's file back with the types of the database.
 *
 * Without the types, pandas reads '007' as 7, 'NA' as a missing value and large integers beside
 * NULL as doubles. It reads an empty field and "" alike.
 */
#ifndef QUERY_READLINE_H
#define QUERY_READLINE_H

#include <jansson.h>

#include "base/buf.h"

/* Appends the line. `columns` are those of ptycell-sql's sink_finish; `file` needs no quoting. */
void readline_put(struct buf *out, const json_t *columns, const char *file);

#endif
