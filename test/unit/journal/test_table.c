/* SPDX-License-Identifier: MIT */
/* Tables of values and queries: what is none, what is cleaned and redacted, and the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "journal/report_table.h"
#include "journal/table.h"
#include "json/make.h"
#include "json/parse.h"
#include "redact/redact.h"
#include "text/utf8.h"

static json_t *parse(const char *text)
{
	return table_parse(text, strlen(text), NULL);
}

static json_t *new_row(size_t columns, const char *text)
{
	json_t *row = json_array();

	for (size_t i = 0; i < columns; i++)
		json_append(row, json_make_str(text));
	return row;
}

static json_t *new_raw(size_t columns, size_t rows, const char *text)
{
	json_t *raw = json_object();
	json_t *all = json_array();

	for (size_t i = 0; i < rows; i++)
		json_append(all, new_row(columns, text));
	json_put(raw, "columns", new_row(columns, "c"));
	json_put(raw, "rows", all);
	return raw;
}

static size_t rows_of(const json_t *table)
{
	return json_array_size(json_object_get(table, "rows"));
}

static json_int_t count_of(const json_t *table, const char *key)
{
	return json_integer_value(json_object_get(table, key));
}

static const char *cell_of(const json_t *table, size_t row, size_t column)
{
	const json_t *rows = json_object_get(table, "rows");

	return json_string_value(json_array_get(json_array_get(rows, row), column));
}

static void what_is_no_table_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"columns\":[\"a\"]}",
		"{\"columns\":[],\"rows\":[]}",
		"{\"columns\":[1],\"rows\":[]}",
		"{\"columns\":[null],\"rows\":[]}",
		"{\"columns\":[\"a\"],\"rows\":{}}",
		"{\"columns\":[\"a\"],\"rows\":[\"x\"]}",
		"{\"columns\":[\"a\"],\"rows\":[[1]]}",
		"{\"columns\":[\"a\"],\"rows\":[[\"1\"],[]]}",
		"{\"columns\":[\"a\"],\"rows\":[[\"1\",\"2\"]]}",
		"{\"columns\":[\"a\"],\"rows\":[[[\"1\"]]]}",
		"{\"columns\":[\"a\"],\"rows\":[],\"labels\":1}",
		"{\"columns\":[\"a\"],\"rows\":[],\"labels\":-1}",
		"{\"columns\":[\"a\"],\"rows\":[],\"labels\":\"0\"}",
		"{\"columns\":[\"a\"],\"rows\":[[\"1\"]],\"row_count\":0}",
		"{\"columns\":[\"a\"],\"rows\":[[\"1\"]],\"row_count\":1.5}",
		"{\"columns\":[\"a\"],\"rows\":[],\"column_count\":0}",
		"{\"columns\":[\"a\"],\"rows\":[],\"below\":1}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_json json_t *table = parse(texts[i]);

		if (table != NULL)
			fail_msg("%s", texts[i]);
	}
}

static void counts_that_are_missing_are_those_shown(void **state)
{
	cleanup_json json_t *table =
		parse("{\"columns\":[\"i\",\"a\"],\"labels\":1,\"rows\":[[\"0\",null]],\"x\":1}");

	(void)state;
	assert_int_equal(count_of(table, "row_count"), 1);
	assert_int_equal(count_of(table, "column_count"), 1);
	assert_null(cell_of(table, 0, 1));
	assert_null(json_object_get(table, "x"));
	assert_null(json_object_get(table, "below"));
}

static void rows_and_columns_beyond_the_limits_are_left_out(void **state)
{
	static const size_t rows[] = { 0, 10, TABLE_ROWS_MAX, TABLE_ROWS_MAX + 1 };
	cleanup_json json_t *wide = new_raw(TABLE_COLUMNS_MAX + 1, 1, "x");
	json_t *table;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *raw = new_raw(2, rows[i], "x");

		table = table_make(raw, NULL);
		assert_int_equal(rows_of(table), size_min(rows[i], TABLE_ROWS_MAX));
		assert_int_equal(count_of(table, "row_count"), rows[i]);
		json_decref(table);
		json_decref(raw);
	}
	table = table_make(wide, NULL);
	assert_int_equal(json_array_size(json_object_get(table, "columns")), TABLE_COLUMNS_MAX);
	assert_int_equal(json_array_size(json_array_get(json_object_get(table, "rows"), 0)),
			 TABLE_COLUMNS_MAX);
	assert_int_equal(count_of(table, "column_count"), TABLE_COLUMNS_MAX + 1);
	json_decref(table);
	json_put_int(wide, "labels", TABLE_COLUMNS_MAX);
	assert_null(table_make(wide, NULL));
}

/* Returns a text of so many characters of two bytes. */
static char *new_text(size_t chars)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);

	while (text.len < 2 * chars)
		buf_puts(&text, "\u00e4");
	return buf_steal(&text);
}

static void long_texts_are_cut_to_their_share(void **state)
{
	cleanup_free char *text = new_text(TABLE_BYTES_MAX);
	cleanup_json json_t *one = new_raw(1, 1, text);
	cleanup_free char *shorter = new_text(TABLE_CELL_CHARS_MIN * 10);
	cleanup_json json_t *many = new_raw(10, TABLE_ROWS_MAX, shorter);
	json_t *table = table_make(one, NULL);
	const char *cell = cell_of(table, 0, 0);

	(void)state;
	assert_int_equal(utf8_count(cell, strlen(cell)), TABLE_BYTES_MAX / 4 / 2 + 1);
	assert_string_equal(cell + strlen(cell) - 3, "\u2026");
	json_decref(table);
	table = table_make(many, NULL);
	cell = cell_of(table, 0, 0);
	assert_int_equal(utf8_count(cell, strlen(cell)), TABLE_CELL_CHARS_MIN + 1);
	assert_int_equal(rows_of(table), TABLE_BYTES_MAX / (10 * (2 * TABLE_CELL_CHARS_MIN + 1)));
	assert_int_equal(count_of(table, "row_count"), TABLE_ROWS_MAX);
	json_decref(table);
}

static void texts_are_cleaned_and_secrets_removed_before_they_are_cut(void **state)
{
	struct redact *redact = redact_new();
	cleanup_free char *lead = new_text(TABLE_BYTES_MAX / 4 / 2 - 4);
	cleanup_free char *cut = xasprintf("%shunter2-hunter2", lead);
	cleanup_json json_t *raw =
		json_parse_const("{\"columns\":[\"hunter2-hunter2\"],"
				 "\"rows\":[[\"hunt\\u001b[31mer2-hunter2\"],[\"a\\u0007b\"]],"
				 "\"below\":\"in hunter2-hunter2\\n\"}");
	cleanup_json json_t *long_one = new_raw(1, 1, cut);
	json_t *table;

	(void)state;
	redact_add(redact, "KEY", "hunter2-hunter2");
	redact_finish(redact);
	table = table_make(raw, redact);
	assert_string_equal(cell_of(table, 0, 0), "[secret KEY]");
	assert_string_equal(cell_of(table, 1, 0), "ab");
	assert_string_equal(json_string_value(json_array_get(json_object_get(table, "columns"), 0)),
			    "[secret KEY]");
	assert_string_equal(json_string_value(json_object_get(table, "below")),
			    "in [secret KEY]\n");
	json_decref(table);
	table = table_make(long_one, redact);
	assert_null(strstr(cell_of(table, 0, 0), "hunt"));
	json_decref(table);
	redact_free(redact);
}

static char *draw(const char *text)
{
	cleanup_json json_t *table = parse(text);
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	assert_non_null(table);
	report_table_put(&out, table);
	return buf_steal(&out);
}

static void assert_drawn(const char *text, const char *expected)
{
	cleanup_free char *page = draw(text);

	if (strstr(page, expected) == NULL)
		fail_msg("%s\n%s", text, page);
}

static void what_is_not_shown_is_counted(void **state)
{
	cleanup_free char *whole = draw("{\"columns\":[\"a\"],\"rows\":[[\"1\"]]}");

	(void)state;
	assert_null(strstr(whole, "note"));
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"1\"]],\"row_count\":2}",
		     "<p class=\"note\">The first 1 of 2 rows are shown.</p>\n");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"1\"]],\"column_count\":30}",
		     "<p class=\"note\">The first 1 of 30 columns are shown.</p>\n");
	assert_drawn("{\"columns\":[\"i\",\"a\"],\"labels\":1,\"rows\":[[\"0\",\"1\"]],"
		     "\"row_count\":2,\"column_count\":2}",
		     "The first 1 of 2 rows, and the first 1 of 2 columns are shown.");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[]}", "The table has no rows.");
	free(whole);
	whole = draw("{\"columns\":[\"a\"],\"rows\":[],\"below\":\"(0 rows)\"}");
	assert_null(strstr(whole, "note"));
}

static void numbers_are_aligned_with_their_column(void **state)
{
	(void)state;
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"1\"],[\"-2.5e+3\"],[\"NaN\"],[null]]}",
		     "<th scope=\"col\" class=\"number\">a</th></tr></thead>\n<tbody>\n"
		     "<tr><td class=\"number\">1</td></tr>\n"
		     "<tr><td class=\"number\">-2.5e+3</td></tr>\n"
		     "<tr><td class=\"number\">NaN</td></tr>\n"
		     "<tr><td class=\"null number\">NULL</td></tr>\n");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"1\"],[\"x\"]]}", "<td>1</td>");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"NaN\"]]}", "<td>NaN</td>");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"-\"]]}", "<td>-</td>");
	assert_drawn("{\"columns\":[\"a\"],\"rows\":[[\"\"]]}", "<td></td>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_table_is_refused),
		cmocka_unit_test(counts_that_are_missing_are_those_shown),
		cmocka_unit_test(rows_and_columns_beyond_the_limits_are_left_out),
		cmocka_unit_test(long_texts_are_cut_to_their_share),
		cmocka_unit_test(texts_are_cleaned_and_secrets_removed_before_they_are_cut),
		cmocka_unit_test(what_is_not_shown_is_counted),
		cmocka_unit_test(numbers_are_aligned_with_their_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
