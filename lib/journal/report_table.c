/* SPDX-License-Identifier: MIT */
/*
 * report_table.c - writes a table. A column is aligned to the right if all of its texts are numbers
 * or words that stand for a missing one.
 */
#include "journal/report_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"
#include "journal/html.h"

struct table {
	const json_t *columns;
	const json_t *rows;
	size_t labels;
	bool *numbers; /* of each column */
};

static bool is_number(const json_t *text)
{
	const char *s = json_string_value(text);
	bool digit = false;

	for (; *s != '\0'; s++) {
		digit = digit || char_is_digit(*s);
		if (!char_is_digit(*s) && strchr("+-.,eE%", *s) == NULL)
			return false;
	}
	return digit;
}

static bool is_missing(const json_t *text)
{
	static const char *const words[] = { "NaN", "<NA>", "None", "null", "inf", "-inf" };

	if (json_is_null(text))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(json_string_value(text), words[i]))
			return true;
	return false;
}

static bool has_numbers(const json_t *rows, size_t column)
{
	bool any = false;
	size_t index;
	const json_t *row;

	json_array_foreach (rows, index, row) {
		const json_t *text = json_array_get(row, column);
		bool missing = is_missing(text);

		if (!missing && !is_number(text))
			return false;
		any = any || !missing;
	}
	return any;
}

static void put_text(struct buf *out, const json_t *text)
{
	html_block(out, json_string_value(text), json_string_length(text));
}

/* A head without a name says nothing to a screen reader, so an empty name is an empty cell. */
static void put_name(struct buf *out, const struct table *table, size_t column)
{
	const json_t *name = json_array_get(table->columns, column);
	const char *kind = table->numbers[column] ? " class=\"number\"" : "";

	if (json_string_length(name) == 0) {
		buf_puts(out, "<td></td>");
		return;
	}
	buf_putf(out, "<th scope=\"col\"%s>", kind);
	put_text(out, name);
	buf_puts(out, "</th>");
}

static void put_value(struct buf *out, const struct table *table, const json_t *row, size_t column)
{
	const json_t *text = json_array_get(row, column);
	const char *kind = table->numbers[column] ? "number" : "";

	if (json_is_null(text)) {
		buf_putf(out, "<td class=\"null%s%s\">NULL</td>", *kind != '\0' ? " " : "", kind);
		return;
	}
	buf_puts(out, column < table->labels ? "<th scope=\"row\"" : "<td");
	if (*kind != '\0')
		buf_putf(out, " class=\"%s\"", kind);
	buf_puts(out, ">");
	put_text(out, text);
	buf_puts(out, column < table->labels ? "</th>" : "</td>");
}

static void put_table(struct buf *out, const struct table *table)
{
	size_t columns = json_array_size(table->columns);
	size_t index;
	const json_t *row;

	buf_puts(out, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Rows\">\n"
		      "<table>\n<thead><tr>");
	for (size_t i = 0; i < columns; i++)
		put_name(out, table, i);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	json_array_foreach (table->rows, index, row) {
		buf_puts(out, "<tr>");
		for (size_t i = 0; i < columns; i++)
			put_value(out, table, row, i);
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody>\n</table>\n</div>\n");
}

/* Appends "the first 100 of 250 rows". */
static void put_part(struct buf *out, const char *lead, size_t shown, uint64_t all,
		     const char *what)
{
	buf_putf(out, "%s first %zu of %" PRIu64 " %s", lead, shown, all, what);
}

static void put_note(struct buf *out, const struct table *table, uint64_t all_rows,
		     uint64_t all_columns)
{
	size_t rows = json_array_size(table->rows);
	size_t columns = json_array_size(table->columns) - table->labels;

	if (rows >= all_rows && columns >= all_columns)
		return;
	buf_puts(out, "<p class=\"note\">");
	if (rows < all_rows)
		put_part(out, "The", rows, all_rows, "rows");
	if (columns < all_columns)
		put_part(out, rows < all_rows ? ", and the" : "The", columns, all_columns,
			 "columns");
	buf_puts(out, " are shown.</p>\n");
}

static uint64_t count_of(const json_t *table, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(table, key));
}

void report_table_put(struct buf *out, const json_t *table)
{
	struct table shown = { .columns = json_object_get(table, "columns"),
			       .rows = json_object_get(table, "rows"),
			       .labels = (size_t)count_of(table, "labels") };
	size_t columns = json_array_size(shown.columns);

	shown.numbers = xcalloc(columns, sizeof(*shown.numbers));
	for (size_t i = 0; i < columns; i++)
		shown.numbers[i] = has_numbers(shown.rows, i);
	put_table(out, &shown);
	if (count_of(table, "row_count") == 0 && json_object_get(table, "below") == NULL)
		buf_puts(out, "<p class=\"note\">The table has no rows.</p>\n");
	put_note(out, &shown, count_of(table, "row_count"), count_of(table, "column_count"));
	free(shown.numbers);
}
