/* SPDX-License-Identifier: MIT */
/*
 * readline.h - the line of Python that reads a query's file back as what the database gave.
 *
 * pandas takes '007' for 7, 'NA' for nothing and large integers beside NULL for doubles, unless it
 * is told the types. It reads an empty field and "" alike.
 */
#ifndef QUERY_READLINE_H
#define QUERY_READLINE_H

#include <jansson.h>

#include "base/buf.h"

/* `columns` as sink_finish of ptycell-sql has them; `file` needs no quoting. */
void readline_put(struct buf *out, const json_t *columns, const char *file);

#endif
