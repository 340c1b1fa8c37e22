/* SPDX-License-Identifier: MIT */
/*
 * query_text.c - puts the table, the number of rows, the file of the rest with the line that reads
 * it, and the notes. Only the table has a budget, because the other parts are short.
 */
#include "query/query_text.h"

#include <stdbool.h>

#include "base/mem.h"
#include "json/make.h"
#include "query/readline.h"
#include "query/result_table.h"
#include "text/sanitize.h"

enum { NOTE_MAX = 500, KB = 1024 };

static void put_size(struct buf *out, json_int_t bytes)
{
	if (bytes < (json_int_t)KB * KB)
		buf_putf(out, "%.1f KB", (double)bytes / KB);
	else
		buf_putf(out, "%.1f MB", (double)bytes / KB / KB);
}

/* Appends how many of the rows the answer has. */
static void put_first(struct buf *out, const json_t *answer)
{
	buf_putf(out, "the first %zu rows%s; ", json_array_size(json_object_get(answer, "rows")),
		 json_is_true(json_object_get(answer, "cut")) ? ", long values cut" : "");
}

static void put_file(struct buf *out, const char *file, const json_t *answer)
{
	bool cut = json_is_true(json_object_get(answer, "truncated"));

	buf_putf(out, "%s%lld rows are in %s, ", cut ? "only the first " : "all ",
		 (long long)json_integer_value(json_object_get(answer, "row_count")), file);
	put_size(out, json_integer_value(json_object_get(answer, "bytes")));
	buf_puts(out, ")\n");
	readline_put(out, json_object_get(answer, "columns"), file);
}

static void put_notes(struct buf *out, const json_t *notes)
{
	size_t index;
	const json_t *note;

	json_array_foreach (notes, index, note) {
		buf_puts(out, "\nNote: ");
		sanitize_line(out, json_string_value(note), json_string_length(note), NOTE_MAX);
	}
}

/* Returns the text below the table. `first`: it says how many of the rows the answer has. */
static char *make_summary(const char *file, const json_t *answer, bool first)
{
	json_int_t rows = json_integer_value(json_object_get(answer, "row_count"));
	json_int_t blobs = json_integer_value(json_object_get(answer, "blobs"));
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (json_is_integer(json_object_get(answer, "bytes"))) {
		buf_puts(&out, "(");
		if (first)
			put_first(&out, answer);
		put_file(&out, file, answer);
	} else {
		buf_putf(&out, "(%lld row%s)", (long long)rows, rows == 1 ? "" : "s");
	}
	if (blobs > 0)
		buf_putf(&out, "\n%lld large binary value%s: path%s in the working folder",
			 (long long)blobs, blobs == 1 ? " is a file" : "s are files",
			 blobs == 1 ? "" : "s");
	put_notes(&out, json_object_get(answer, "notes"));
	return buf_steal(&out);
}

void query_text_put(struct buf *out, const json_t *answer, const char *file, size_t max_chars)
{
	cleanup_free char *summary = make_summary(file, answer, true);
	size_t chars;
	size_t cut = result_table_put(out, json_object_get(answer, "columns"),
				      json_object_get(answer, "rows"), max_chars, &chars);

	if (cut > 0)
		buf_putf(out,
			 "(%zu value%s cut to %zu characters here; substr(COLUMN, %zu) gives the "
			 "rest of one)\n",
			 cut, cut == 1 ? " is" : "s are", chars, chars + 1);
	buf_puts(out, summary);
}

json_t *query_text_table(const json_t *answer, const char *file)
{
	const json_t *columns = json_object_get(answer, "columns");
	cleanup_free char *below = make_summary(file, answer, false);
	json_t *rows = result_table_texts(json_object_get(answer, "rows"));
	json_t *more = result_table_texts(json_object_get(answer, "more"));
	json_t *table = json_object();

	(void)json_array_extend(rows, more);
	json_decref(more);
	json_put(table, "columns", result_table_names(columns));
	json_put(table, "rows", rows);
	json_put_int(table, "column_count", (json_int_t)json_array_size(columns));
	json_put(table, "row_count", json_incref(json_object_get(answer, "row_count")));
	json_put_str(table, "below", below);
	return table;
}
