/* SPDX-License-Identifier: MIT */
/* query_text.h - the text of exec_sql's answer: the table, and the notes below it. */
#ifndef QUERY_QUERY_TEXT_H
#define QUERY_QUERY_TEXT_H

#include <jansson.h>

#include "base/buf.h"

/*
 * Appends the text. `answer` is that of queries.h, with its secrets taken out; `file` has the rows
 * when they are too many. `max_chars` is that of result_table_put.
 */
void query_text_put(struct buf *out, const json_t *answer, const char *file, size_t max_chars);
/*
 * Returns the rows and the notes as a table of the journal (journal/table.h), with the rows that
 * are not in the answer, and of all the first RESULT_RECORD_COLUMNS columns. A new reference.
 */
json_t *query_text_table(const json_t *answer, const char *file);

#endif
