/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "sql/csv.h"

/* A text that is read in pieces of one size. */
struct pieces {
	const char *text;
	size_t left;
	size_t piece;
};

static int read_piece(void *data, char *out, size_t size, size_t *ret_len, struct err *err)
{
	struct pieces *pieces = data;

	(void)err;
	*ret_len = size_min(size_min(pieces->piece, size), pieces->left);
	memcpy(out, pieces->text, *ret_len);
	pieces->text += *ret_len;
	pieces->left -= *ret_len;
	return 0;
}

/* (a)(-)[line]; a missing field is a dash. */
static int read_as(const char *text, size_t piece, bool quotes, bool escapes, struct buf *out,
		   struct err *err)
{
	struct pieces pieces = { .text = text, .left = strlen(text), .piece = piece };
	struct csv_reader reader;
	int result;

	csv_start(&reader, read_piece, &pieces);
	csv_set(&reader, ',', quotes);
	if (escapes)
		csv_escape(&reader);
	while ((result = csv_next(&reader, err)) == 1) {
		for (size_t i = 0; i < reader.count; i++) {
			const struct csv_field *field = &reader.fields[i];
			bool missing = field->len == 0 && !field->quoted;

			buf_putf(out, missing ? "(-%.*s)" : "(%.*s)", (int)field->len, field->s);
		}
		buf_putf(out, "%ju;", (uintmax_t)reader.line);
	}
	if (reader.slashed)
		buf_puts(out, "slashed");
	if (reader.loose)
		buf_puts(out, "loose");
	csv_release(&reader);
	return result;
}

static int read_all(const char *text, size_t piece, bool quotes, struct buf *out, struct err *err)
{
	return read_as(text, piece, quotes, false, out, err);
}

/* In pieces of every size it is the same. */
static void assert_read(const char *text, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err;

		assert_int_equal(read_all(text, piece, true, &out, &err), 0);
		assert_string_equal(buf_str(&out), expected);
	}
}

static void rows_and_fields_are_cut_where_they_end(void **state)
{
	(void)state;
	assert_read("a,b\n1,2\n", "(a)(b)1;(1)(2)2;");
	assert_read("a,b\r\n1,2", "(a)(b)1;(1)(2)2;");
	assert_read("a,b\rc,d\r\re,f", "(a)(b)1;(c)(d)2;(e)(f)4;");
	assert_read("\ra\rb\r\rc", "(a)2;(b)3;(-)4;(c)5;");
	assert_read("a,,\n,\n", "(a)(-)(-)1;(-)(-)2;");
	assert_read("\n\na\n\n", "(a)3;(-)4;");
	assert_read("\n\na,b\n\n", "(a)(b)3;");
	assert_read("a,", "(a)(-)1;");
}

static void quotes_hide_separators_and_line_ends(void **state)
{
	(void)state;
	assert_read("\"a,b\",\"c\nd\"\ne", "(a,b)(c\nd)1;(e)3;");
	assert_read("\"a\"\"b\",\"\"\n", "(a\"b)()1;");
	assert_read("a\"b,\"c\"d\n", "(a\"b)(cd)1;loose");
	assert_read("\"\"\n", "()1;");
	assert_read("\"a\"\"\"", "(a\")1;");
}

static void assert_escaped(const char *text, const char *plain, const char *expected)
{
	assert_read(text, plain);
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err;
		int result = read_as(text, piece, true, true, &out, &err);

		assert_int_equal(result, expected != NULL ? 0 : -1);
		if (expected != NULL)
			assert_string_equal(buf_str(&out), expected);
	}
}

static void a_backslash_before_a_quote_is_seen_and_may_escape_it(void **state)
{
	(void)state;
	assert_escaped("\"5\\\" pipe\",7\n", "(5\\ pipe\")(7)1;slashedloose",
		       "(5\" pipe)(7)1;slashed");
	assert_escaped("\"a\\\\b\\c\\\\\"\nx\n", "(a\\\\b\\c\\\\)1;(x)2;", "(a\\b\\c\\)1;(x)2;");
	assert_escaped("\"a\\\",1\n", "(a\\)(1)1;slashed", NULL);
	assert_escaped("a\\\"b,\"c\"\"d\"\n", "(a\\\"b)(c\"d)1;", "(a\\\"b)(c\"d)1;");
	assert_escaped("\"\\\"\",1\n\"x\"\n", "(\\\",1\nx\")1;slashedloose",
		       "(\")(1)1;(x)2;slashed");
}

static void quotes_are_characters_where_they_mean_nothing(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	(void)state;
	assert_int_equal(read_all("\"a,b\"\"\n\"\n", 100, false, &out, &err), 0);
	assert_string_equal(buf_str(&out), "(\"a)(b\"\")1;(\")2;");
}

static void a_quote_that_does_not_end_is_told_with_its_line(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	(void)state;
	assert_int_equal(read_all("a\n\"x\ny\",\"b\nc", 1, true, &out, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg, "line 3 has a quote that does not end");
}

static int read_letters(void *data, char *out, size_t size, size_t *ret_len, struct err *err)
{
	(void)data, (void)err;
	memset(out, 'x', size);
	*ret_len = size;
	return 0;
}

static void a_row_that_is_too_long_is_refused(void **state)
{
	struct csv_reader reader;
	struct err err;

	(void)state;
	csv_start(&reader, read_letters, NULL);
	assert_int_equal(csv_next(&reader, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	csv_release(&reader);
}

static char separator_of(const char *text)
{
	return csv_separator(text, strlen(text));
}

static void the_separator_is_the_one_that_the_first_lines_have_alike(void **state)
{
	(void)state;
	assert_int_equal(separator_of("a;b;c\n1,2;3,4;5\n"), ';');
	assert_int_equal(separator_of("a\tb"), '\t');
	assert_int_equal(separator_of("a|b|c\n1|2|3\n"), '|');
	assert_int_equal(separator_of("\"a;b;c\",d"), ',');
	assert_int_equal(separator_of("a"), ',');
	assert_int_equal(separator_of("last, first;age\nA, B;1\nC;2\n"), ';');
	assert_int_equal(separator_of("n;a, net;a, gross\n1;2,50;3,10\n"), ';');
	assert_int_equal(separator_of("\nid;\"a;b\", EUR\n1;2,50\n"), ';');
	assert_int_equal(separator_of("a, net;a, gross\n2,50;3,10\n"), ';');
	assert_int_equal(separator_of("a, b, c\n1, 2, 3\n"), ',');
	assert_int_equal(separator_of("a, b; c\n1, 2;3\n"), ',');
	assert_int_equal(separator_of("a,b;c\n1,2;3\n"), ',');
	assert_int_equal(separator_of("a, b|c\n1, 2\n3, 4\n"), ',');
}

static void a_first_line_may_declare_the_separator(void **state)
{
	char separator = ',';

	(void)state;
	assert_int_equal(csv_declared("sep=;\na;b\n", 10, &separator), 6);
	assert_int_equal(separator, ';');
	assert_int_equal(csv_declared("SEP=\t\r\na", 8, &separator), 7);
	assert_int_equal(separator, '\t');
	assert_int_equal(csv_declared("sep=;x\n", 7, &separator), 0);
	assert_int_equal(csv_declared("sep=\n", 5, &separator), 0);
	assert_int_equal(csv_declared("sep", 3, &separator), 0);
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
	buf_puts(&expected, "(-)1;");
	assert_read(buf_str(&text), buf_str(&expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_fields_are_cut_where_they_end),
		cmocka_unit_test(quotes_hide_separators_and_line_ends),
		cmocka_unit_test(a_backslash_before_a_quote_is_seen_and_may_escape_it),
		cmocka_unit_test(a_quote_that_does_not_end_is_told_with_its_line),
		cmocka_unit_test(quotes_are_characters_where_they_mean_nothing),
		cmocka_unit_test(a_row_that_is_too_long_is_refused),
		cmocka_unit_test(the_separator_is_the_one_that_the_first_lines_have_alike),
		cmocka_unit_test(a_first_line_may_declare_the_separator),
		cmocka_unit_test(what_is_written_is_read_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
