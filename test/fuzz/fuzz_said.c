/* SPDX-License-Identifier: MIT */
/* layers: tools helper */
#include <stdint.h>
#include <stdlib.h>

#include "helper/reply.h"
#include "query/reply.h"
#include "query/result_table.h"
#include "text/sanitize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An answer becomes a table: a line for the names, one for each row, and nothing that is not text.
 */
static void render(const json_t *answer)
{
	const json_t *columns = json_object_get(answer, "columns");
	const json_t *rows = json_object_get(answer, "rows");
	json_t *copied_columns = result_table_copy_columns(columns);
	json_t *copied_values = result_table_copy_values(rows);
	cleanup_buf struct buf table = BUF_INIT(BUF_UNBOUNDED);
	size_t lines = 0;
	size_t chars;

	(void)result_table_put(&table, columns, rows, 20000, &chars);
	for (size_t i = 0; i < table.len; i++)
		lines += table.data[i] == '\n';
	if (lines != json_array_size(rows) + 1 ||
	    json_array_size(copied_columns) != json_array_size(columns) ||
	    json_array_size(copied_values) != json_array_size(rows))
		abort();
	json_decref(copied_columns);
	json_decref(copied_values);
}

static void on_progress(struct reply *reply, const json_t *progress)
{
	struct query_reply said;

	(void)reply;
	query_reply_read(progress, 1, &said);
	if (said.kind == QUERY_REPLY_ANSWER)
		render(said.answer);
}

/* What ptycell-sql writes to the server, from its bytes to what a model reads. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply reply;
	struct err err;

	reply_init(&reply, on_progress);
	(void)!reply_feed(&reply, (const char *)data, size, &err);
	reply_release(&reply);
	return 0;
}
