/* SPDX-License-Identifier: MIT */
#include "tools/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"
#include "text/clean.h"

static const char *name_of(const json_t *column)
{
	return json_string_value(json_object_get(column, "name"));
}

static void put_cell(struct buf *out, const json_t *value)
{
	cleanup_free char *text = NULL;

	if (json_is_null(value)) {
		buf_puts(out, "NULL");
	} else if (json_is_string(value)) {
		clean_line(out, json_string_value(value), json_string_length(value), ROWS_CELL_MAX);
	} else {
		text = json_write_text(value);
		clean_line(out, text, strlen(text), ROWS_CELL_MAX);
	}
}

void rows_put_table(struct buf *out, const json_t *columns, const json_t *rows)
{
	size_t index;
	size_t column;
	const json_t *item;
	const json_t *value;

	json_array_foreach (columns, index, item) {
		buf_puts(out, index > 0 ? " | " : "");
		clean_line(out, name_of(item), strlen(name_of(item)), ROWS_CELL_MAX);
	}
	buf_puts(out, "\n");
	json_array_foreach (rows, index, item) {
		json_array_foreach (item, column, value) {
			buf_puts(out, column > 0 ? " | " : "");
			put_cell(out, value);
		}
		buf_puts(out, "\n");
	}
}

static json_t *clean_text(const json_t *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	clean_block(&clean, json_string_value(text), json_string_length(text));
	return json_make_text(buf_str(&clean), clean.len);
}

json_t *rows_clean_columns(const json_t *columns)
{
	json_t *out = json_array();
	size_t index;
	const json_t *item;

	json_array_foreach (columns, index, item) {
		json_t *column = json_object();
		const json_t *type = json_object_get(item, "type");

		json_put(column, "name", clean_text(json_object_get(item, "name")));
		json_put(column, "type",
			 json_is_string(type) ? clean_text(type) : json_make_str("text"));
		json_append(out, column);
	}
	return out;
}

/* Only what a value can be: a program that was taken over may say more. */
static json_t *clean_value(const json_t *value)
{
	if (json_is_string(value))
		return clean_text(value);
	if (json_is_object(value) || json_is_array(value))
		return json_null();
	return json_deep_copy(value);
}

json_t *rows_clean_values(const json_t *rows)
{
	json_t *out = json_array();
	size_t index;
	size_t column;
	const json_t *item;
	const json_t *value;

	json_array_foreach (rows, index, item) {
		json_t *row = json_array();

		json_array_foreach (item, column, value)
			json_append(row, clean_value(value));
		json_append(out, row);
	}
	return out;
}
