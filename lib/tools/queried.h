/* SPDX-License-Identifier: MIT */
/* queried.h - the text of exec_sql's answer: the table, and what is said below it. */
#ifndef TOOLS_QUERIED_H
#define TOOLS_QUERIED_H

#include <jansson.h>

#include "base/buf.h"

/* `answer` is that of queries.h, without secrets; `file` has the rows when they are too many.
 * `max_chars` as in rows.h. */
void queried_put(struct buf *out, const json_t *answer, const char *file, size_t max_chars);

#endif
