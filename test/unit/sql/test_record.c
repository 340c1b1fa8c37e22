/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "sql/record.h"

/* NULL in `expected` is NULL. */
static void assert_row(const char *text, const char *const *expected, size_t count)
{
	cleanup_free char *row = xstrdup(text);
	struct record_value value;
	struct record record;

	assert_int_equal(record_start(&record, row, strlen(row)), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(record_next(&record, &value), 1);
		if (expected[i] == NULL) {
			assert_null(value.s);
			continue;
		}
		assert_non_null(value.s);
		assert_string_equal(value.s, expected[i]);
		assert_int_equal(value.len, strlen(expected[i]));
	}
	assert_int_equal(record_next(&record, &value), 0);
}

#define ROW(text, ...)                                                                             \
	assert_row(text, (const char *const[]){ __VA_ARGS__ },                                     \
		   ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })))

static void values_are_taken_apart(void **state)
{
	(void)state;
	ROW("(1,abc,2.50)", "1", "abc", "2.50");
	ROW("(1,,\"\")", "1", NULL, "");
	ROW("(,)", NULL, NULL);
	ROW("()", NULL);
	ROW("(\"\")", "");
	ROW("(\"a, b\",\"(x)\",\" \")", "a, b", "(x)", " ");
}

static void quotes_and_backslashes_are_single_again(void **state)
{
	(void)state;
	ROW("(\"a \"\"b\"\" c\",\"\\\\x00ff\",\"\"\"\")", "a \"b\" c", "\\x00ff", "\"");
	ROW("(\"\\\"\",\"a\\\\\",x)", "\"", "a\\", "x");
	ROW("(\"two\nlines\r\n\",\"(\"\"in, (\"\"\"\"deep\"\"\"\")\"\")\")", "two\nlines\r\n",
	    "(\"in, (\"\"deep\"\")\")");
	ROW("(Z\xc3\xbcrich,\"\xe2\x82\xac 5\")", "Z\xc3\xbcrich", "\xe2\x82\xac 5");
}

static void what_is_no_row_is_told(void **state)
{
	static const char *const texts[] = { "",         "(",          ")",        "1,2",
					     "(1",       "(\"a)",      "(\"a\"b)", "(\"a\\)",
					     "(\"\"\")", "(1,\"a\"\")" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *row = xstrdup(texts[i]);
		struct record record = { .at = NULL };
		struct record_value value;
		int result = record_start(&record, row, strlen(row));

		while (result >= 0 && (result = record_next(&record, &value)) > 0)
			;
		assert_int_equal(result, -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_taken_apart),
		cmocka_unit_test(quotes_and_backslashes_are_single_again),
		cmocka_unit_test(what_is_no_row_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
