/* SPDX-License-Identifier: MIT */
/* queried.h - the text of exec_sql's answer: the table, and what is said below it. */
#ifndef QUERY_QUERY_TEXT_H
#define QUERY_QUERY_TEXT_H

#include <jansson.h>

#include "base/buf.h"

/* `answer` is that of queries.h, without secrets; `file` has the rows when they are too many.
 * `max_chars` as in rows.h. */
void query_text_put(struct buf *out, const json_t *answer, const char *file, size_t max_chars);

#endif
