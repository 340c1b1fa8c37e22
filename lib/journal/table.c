/* SPDX-License-Identifier: MIT */
/*
 * table.c - checks, cleans and bounds a table. Secrets are removed from cleaned texts, because
 * cleaning can join the parts of one, and before texts are cut, because a part of one stays then.
 */
#include "journal/table.h"

#include <stdbool.h>

#include "base/buf.h"
#include "base/util.h"
#include "json/make.h"
#include "json/parse.h"
#include "redact/redact_json.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum { CHAR_BYTES_MAX = 4 };

static const char cut_mark[] = "\u2026";

/* Returns whether the value is an array of texts, or of texts and nulls. */
static bool are_texts(const json_t *texts, bool nulls)
{
	size_t index;
	const json_t *text;

	if (!json_is_array(texts))
		return false;
	json_array_foreach (texts, index, text)
		if (!json_is_string(text) && !(nulls && json_is_null(text)))
			return false;
	return true;
}

static bool are_rows(const json_t *rows, size_t columns)
{
	size_t index;
	const json_t *row;

	if (!json_is_array(rows))
		return false;
	json_array_foreach (rows, index, row)
		if (!are_texts(row, true) || json_array_size(row) != columns)
			return false;
	return true;
}

/* Returns whether the member is a count of at least `min`, or missing. */
static bool is_count(const json_t *raw, const char *key, size_t min)
{
	const json_t *count = json_object_get(raw, key);

	return count == NULL ||
	       (json_is_integer(count) && json_integer_value(count) >= (json_int_t)min);
}

static size_t count_of(const json_t *raw, const char *key, size_t otherwise)
{
	const json_t *count = json_object_get(raw, key);

	return count != NULL ? (size_t)json_integer_value(count) : otherwise;
}

static bool is_table(const json_t *raw)
{
	const json_t *columns = json_object_get(raw, "columns");
	const json_t *rows = json_object_get(raw, "rows");
	const json_t *below = json_object_get(raw, "below");
	size_t labels;

	if (!are_texts(columns, false) || !are_rows(rows, json_array_size(columns)) ||
	    !is_count(raw, "labels", 0) || !is_count(raw, "row_count", json_array_size(rows)))
		return false;
	labels = count_of(raw, "labels", 0);
	return labels < json_array_size(columns) &&
	       is_count(raw, "column_count", json_array_size(columns) - labels) &&
	       (below == NULL || json_is_string(below));
}

static json_t *clean_text(const json_t *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	if (!json_is_string(text))
		return json_null();
	sanitize_block(&clean, json_string_value(text), json_string_length(text));
	return json_make_text(buf_str(&clean), clean.len);
}

/* Returns the first `count` texts, cleaned. */
static json_t *clean_texts(const json_t *texts, size_t count)
{
	json_t *clean = json_array();

	for (size_t i = 0; i < count; i++)
		json_append(clean, clean_text(json_array_get(texts, i)));
	return clean;
}

static json_t *clean_rows(const json_t *rows, size_t columns)
{
	size_t count = size_min(json_array_size(rows), TABLE_ROWS_MAX);
	json_t *clean = json_array();

	for (size_t i = 0; i < count; i++)
		json_append(clean, clean_texts(json_array_get(rows, i), columns));
	return clean;
}

/* Cuts long texts. Returns the bytes of all. */
static size_t cut_texts(json_t *texts, size_t chars)
{
	size_t bytes = 0;
	size_t index;
	json_t *text;

	json_array_foreach (texts, index, text) {
		size_t len = json_string_length(text);
		size_t kept = json_is_string(text)
				      ? utf8_offset(json_string_value(text), len, chars)
				      : len;

		if (kept < len)
			(void)json_array_set_new(texts, index,
						 json_make_fmt("%.*s%s", (int)kept,
							       json_string_value(text), cut_mark));
		bytes += size_min(kept, len) + 1;
	}
	return bytes;
}

static void cut_rows(json_t *rows, size_t count)
{
	while (json_array_size(rows) > count)
		(void)json_array_remove(rows, json_array_size(rows) - 1);
}

/* Cuts long texts, and leaves out the rows for which there is no room. */
static void bound(json_t *table)
{
	json_t *columns = json_object_get(table, "columns");
	json_t *rows = json_object_get(table, "rows");
	size_t texts = json_array_size(columns) * (json_array_size(rows) + 1);
	size_t share = TABLE_BYTES_MAX / CHAR_BYTES_MAX / texts;
	size_t chars = share > TABLE_CELL_CHARS_MIN ? share : TABLE_CELL_CHARS_MIN;
	size_t bytes = cut_texts(columns, chars);

	for (size_t i = 0; i < json_array_size(rows); i++) {
		bytes += cut_texts(json_array_get(rows, i), chars);
		if (bytes > TABLE_BYTES_MAX)
			cut_rows(rows, i);
	}
}

json_t *table_make(const json_t *raw, const struct redact *redact)
{
	const json_t *columns = json_object_get(raw, "columns");
	size_t count = size_min(json_array_size(columns), TABLE_COLUMNS_MAX);
	json_t *table;
	size_t labels;

	if (!is_table(raw) || count_of(raw, "labels", 0) >= count)
		return NULL;
	labels = count_of(raw, "labels", 0);
	table = json_object();
	json_put(table, "columns", clean_texts(columns, count));
	json_put(table, "rows", clean_rows(json_object_get(raw, "rows"), count));
	if (json_object_get(raw, "below") != NULL)
		json_put(table, "below", clean_text(json_object_get(raw, "below")));
	redact_json(table, redact);
	bound(table);
	json_put_int(table, "labels", (json_int_t)labels);
	json_put_int(table, "row_count",
		     (json_int_t)count_of(raw, "row_count",
					  json_array_size(json_object_get(raw, "rows"))));
	json_put_int(table, "column_count",
		     (json_int_t)count_of(raw, "column_count", json_array_size(columns) - labels));
	return table;
}

json_t *table_parse(const char *text, size_t len, const struct redact *redact)
{
	struct err ignored;
	json_t *raw = json_parse(text, len, &ignored);
	json_t *table = table_make(raw, redact);

	json_decref(raw);
	return table;
}
