/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "sql/csv.h"
#include "sql/infer.h"

static int put_field(void *data, const char *s, size_t len, bool missing, struct err *err)
{
	(void)err;
	buf_putf(data, missing ? "(-%.*s)" : "(%.*s)", (int)len, s);
	return 0;
}

static int put_end(void *data, struct err *err)
{
	(void)err;
	buf_puts(data, ";");
	return 0;
}

static const struct csv_handlers handlers = { .field = put_field, .row = put_end };

/* In pieces of every size it is the same. */
static void assert_read(const char *text, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct csv_reader reader;
		struct err err;

		csv_start(&reader, ',', &handlers, &out);
		for (size_t at = 0; at < strlen(text); at += piece)
			assert_int_equal(csv_feed(&reader, text + at,
						  size_min(piece, strlen(text) - at), &err),
					 0);
		assert_int_equal(csv_finish(&reader, &err), 0);
		csv_release(&reader);
		assert_string_equal(buf_str(&out), expected);
	}
}

static void rows_and_fields_are_cut_where_they_end(void **state)
{
	(void)state;
	assert_read("a,b\n1,2\n", "(a)(b);(1)(2);");
	assert_read("a,b\r\n1,2", "(a)(b);(1)(2);");
	assert_read("a\rb\r\rc", "(a);(b);(c);");
	assert_read("a,,\n,\n", "(a)(-)(-);(-)(-);");
	assert_read("\n\na\n\n", "(a);");
}

static void quotes_hide_separators_and_line_ends(void **state)
{
	(void)state;
	assert_read("\"a,b\",\"c\nd\"\n", "(a,b)(c\nd);");
	assert_read("\"a\"\"b\",\"\"\n", "(a\"b)();");
	assert_read("a\"b,\"c\"d\n", "(a\"b)(cd);");
	assert_read("\"\"\n", "();");
}

static void a_text_that_ends_within_quotes_is_refused(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct csv_reader reader;
	struct err err;

	(void)state;
	csv_start(&reader, ',', &handlers, &out);
	assert_int_equal(csv_feed(&reader, "\"a\n", 3, &err), 0);
	assert_int_equal(csv_finish(&reader, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	csv_release(&reader);
}

static void the_separator_is_the_one_most_used_in_the_first_line(void **state)
{
	(void)state;
	assert_int_equal(csv_separator("a;b;c\n1,2,3,4", 13), ';');
	assert_int_equal(csv_separator("a\tb", 3), '\t');
	assert_int_equal(csv_separator("\"a;b;c\",d", 9), ',');
	assert_int_equal(csv_separator("a", 1), ',');
}

static void what_is_written_is_read_as_it_was(void **state)
{
	static const char *const values[] = { "a", "", "a,b", "a\"b", "\n", "\r\n", " a", "ü" };
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf expected = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		csv_put(&text, values[i], strlen(values[i]));
		buf_puts(&text, ",");
		buf_putf(&expected, "(%s)", values[i]);
	}
	csv_put(&text, NULL, 0);
	buf_puts(&expected, "(-);");
	assert_read(buf_str(&text), buf_str(&expected));
}

static void numbers_are_numbers_where_nothing_is_lost(void **state)
{
	static const struct {
		const char *text;
		enum infer_kind kind;
	} cases[] = {
		{ "0", INFER_INTEGER },
		{ "-12", INFER_INTEGER },
		{ "123456789012345678", INFER_INTEGER },
		{ "1234567890123456789", INFER_TEXT },
		{ "007", INFER_TEXT },
		{ "1.5", INFER_REAL },
		{ "-0.25", INFER_REAL },
		{ "1e5", INFER_REAL },
		{ "1E-05", INFER_REAL },
		{ "1.2345678901234567", INFER_TEXT },
		{ "1e999", INFER_TEXT },
		{ "1.", INFER_TEXT },
		{ ".5", INFER_TEXT },
		{ "1e", INFER_TEXT },
		{ "1,5", INFER_TEXT },
		{ "+1", INFER_TEXT },
		{ "-", INFER_TEXT },
		{ "", INFER_TEXT },
		{ "1 ", INFER_TEXT },
		{ "NaN", INFER_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (infer_text(cases[i].text, strlen(cases[i].text)) != cases[i].kind)
			fail_msg("'%s'", cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_fields_are_cut_where_they_end),
		cmocka_unit_test(quotes_hide_separators_and_line_ends),
		cmocka_unit_test(a_text_that_ends_within_quotes_is_refused),
		cmocka_unit_test(the_separator_is_the_one_most_used_in_the_first_line),
		cmocka_unit_test(what_is_written_is_read_as_it_was),
		cmocka_unit_test(numbers_are_numbers_where_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
