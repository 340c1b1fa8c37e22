/* SPDX-License-Identifier: MIT */
/*
 * result_table.c - writes values so that different ones look different.
 *
 * A text is shown bare only if cleaning does not change it and it cannot be taken for NULL, a
 * quoted value or two values. All others are JSON strings. Cuts count characters, not bytes.
 */
#include "query/result_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/write.h"
#include "sql/result_names.h"
#include "text/sanitize.h"
#include "text/utf8.h"

struct table {
	struct buf *out;
	size_t cell_max; /* characters */
	size_t cut;
};

static const char *name_of(const json_t *column)
{
	return json_string_value(json_object_get(column, "name"));
}

/* Blanks at an end, line ends and characters that cleaning removes are invisible. */
static bool shows_itself(const char *s, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&clean, s, len);
	sanitize_line(&line, s, len, SIZE_MAX);
	return clean.len == len && memcmp(buf_str(&clean), s, len) == 0 &&
	       strpbrk(s, "\n\t") == NULL && line.len > 0 && memcmp(buf_str(&line), s, 1) == 0 &&
	       buf_str(&line)[line.len - 1] == s[len - 1];
}

/* Returns whether the text reads as something else: "", NULL, two values, a quoted value. */
static bool is_ambiguous(const char *s)
{
	return *s == '\0' || *s == '"' || str_eq(s, "NULL") || strstr(s, " | ") != NULL;
}

static void put_text(struct table *table, const char *s, size_t len)
{
	size_t kept = utf8_offset(s, len, table->cell_max);
	cleanup_json json_t *text = json_make_text(s, kept);
	const char *shown = json_string_value(text);

	if (is_ambiguous(shown) || !shows_itself(shown, json_string_length(text))) {
		cleanup_free char *quoted = json_write_text(text);

		buf_puts(table->out, quoted);
	} else {
		buf_puts(table->out, shown);
	}
	if (kept == len)
		return;
	buf_puts(table->out, "\u2026");
	table->cut++;
}

static void put_cell(struct table *table, const json_t *value)
{
	cleanup_free char *text = NULL;

	if (json_is_null(value)) {
		buf_puts(table->out, "NULL");
	} else if (json_is_string(value)) {
		put_text(table, json_string_value(value), json_string_length(value));
	} else {
		text = json_write_text(value);
		buf_puts(table->out, text);
	}
}

/* Returns the characters of a long value: a share of `max_chars` if the values exceed it. */
static size_t cell_max(const json_t *rows, size_t max_chars)
{
	size_t least = size_min(RESULT_TABLE_CELL_MIN, max_chars / RESULT_TABLE_SHARES);
	size_t chars = 0;
	size_t longer = 0;
	size_t index;
	size_t column;
	const json_t *row;
	const json_t *value;

	json_array_foreach (rows, index, row) {
		json_array_foreach (row, column, value) {
			size_t len = json_is_string(value) ? utf8_count(json_string_value(value),
									json_string_length(value))
							   : 0;

			chars += len;
			longer += len > least;
		}
	}
	if (chars <= max_chars || longer == 0)
		return SIZE_MAX;
	return max_chars / longer > least ? max_chars / longer : least;
}

size_t result_table_put(struct buf *out, const json_t *columns, const json_t *rows,
			size_t max_chars, size_t *ret_chars)
{
	struct table table = { .out = out, .cell_max = cell_max(rows, max_chars) };
	size_t index;
	size_t column;
	const json_t *item;
	const json_t *value;

	json_array_foreach (columns, index, item) {
		buf_puts(out, index > 0 ? " | " : "");
		sanitize_line(out, name_of(item), strlen(name_of(item)), RESULT_TABLE_CELL_MIN);
	}
	buf_puts(out, "\n");
	json_array_foreach (rows, index, item) {
		json_array_foreach (item, column, value) {
			buf_puts(out, column > 0 ? " | " : "");
			put_cell(&table, value);
		}
		buf_puts(out, "\n");
	}
	*ret_chars = table.cell_max;
	return table.cut;
}

json_t *result_table_copy_columns(const json_t *columns)
{
	json_t *out = json_array();
	size_t index;
	const json_t *item;

	json_array_foreach (columns, index, item) {
		json_t *column = json_object();
		const char *type = json_string_value(json_object_get(item, "type"));

		json_put_str(column, "name", name_of(item));
		json_put_str(column, "type", type != NULL ? type : "text");
		json_append(out, column);
	}
	return out;
}

/* A helper that was taken over may send objects and arrays, which no value is. */
static json_t *copy_value(const json_t *value)
{
	if (json_is_object(value) || json_is_array(value))
		return json_null();
	return json_deep_copy(value);
}

json_t *result_table_copy_values(const json_t *rows)
{
	json_t *out = json_array();
	size_t index;
	size_t column;
	const json_t *item;
	const json_t *value;

	json_array_foreach (rows, index, item) {
		json_t *row = json_array();

		json_array_foreach (item, column, value)
			json_append(row, copy_value(value));
		json_append(out, row);
	}
	return out;
}

/* Returns how many values of a row, or columns, are for the record. */
static size_t recorded(const json_t *values)
{
	return size_min(json_array_size(values), RESULT_RECORD_COLUMNS);
}

json_t *result_table_names(const json_t *columns)
{
	json_t *names = json_array();

	for (size_t i = 0; i < recorded(columns); i++)
		json_append(names,
			    json_incref(json_object_get(json_array_get(columns, i), "name")));
	return names;
}

static json_t *text_of(const json_t *value)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct table table = { .out = &out, .cell_max = SIZE_MAX };

	if (json_is_null(value))
		return json_null();
	put_cell(&table, value);
	return json_make_text(buf_str(&out), out.len);
}

json_t *result_table_texts(const json_t *rows)
{
	json_t *out = json_array();
	size_t index;
	const json_t *item;

	json_array_foreach (rows, index, item) {
		json_t *row = json_array();

		for (size_t i = 0; i < recorded(item); i++)
			json_append(row, text_of(json_array_get(item, i)));
		json_append(out, row);
	}
	return out;
}

static json_t *clean_text(const json_t *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&clean, json_string_value(text), json_string_length(text));
	return json_make_text(buf_str(&clean), clean.len);
}

json_t *result_table_clean_texts(const json_t *texts)
{
	json_t *out = json_array();
	size_t index;
	const json_t *text;

	json_array_foreach (texts, index, text)
		json_append(out, clean_text(text));
	return out;
}
