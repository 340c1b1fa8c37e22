/* SPDX-License-Identifier: MIT */
/* test_quotation.c - names in sentences: nothing in them passes for the end of the quotes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "text/quotation.h"

static void assert_quoted(const char *path, const char *expected)
{
	cleanup_free char *quoted = quotation_of_path(path);

	assert_string_equal(quoted, expected);
}

static void a_plain_name_is_in_quotes(void **state)
{
	(void)state;
	assert_quoted("a/b c.txt", "'a/b c.txt'");
	assert_quoted("Straße\\n", "'Straße\\n'");
	assert_quoted("", "\"\"");
}

static void a_name_with_a_mark_of_any_script_is_a_string_without_one(void **state)
{
	(void)state;
	assert_quoted("x' to 'y", "\"x\\u0027 to \\u0027y\"");
	assert_quoted("a\"b\\'c", "\"a\\u0022b\\\\\\u0027c\"");
	assert_quoted("\"", "\"\\u0022\"");
	assert_quoted("\"a\\\"", "\"\\u0022a\\\\\\u0022\"");
	assert_quoted("a\xe2\x80\x9d. b", "\"a\\u201d. b\"");
	assert_quoted("a\xe2\x80\xb2", "\"a\\u2032\"");
	assert_quoted("a\xf0\x9f\x99\xb6", "\"a\\ud83d\\ude76\"");
}

static void what_cannot_be_shown_is_escaped_as_well(void **state)
{
	(void)state;
	assert_quoted("a\n'\\", "\"a\\u000a\\u0027\\\\\"");
	assert_quoted("\x1b[1m", "\"\\u001b[1m\"");
}

static void a_long_one_is_cut_outside_of_a_string(void **state)
{
	char path[1000];
	cleanup_free char *plain = NULL;
	cleanup_free char *marked = NULL;

	(void)state;
	(void)memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	plain = quotation_of_path(path);
	assert_string_equal(plain + strlen(plain) - 5, "a...'");
	path[0] = '\n';
	marked = quotation_of_path(path);
	assert_string_equal(marked + strlen(marked) - 5, "a\"...");
}

static void marks_are_those_of_unicode_and_their_lookalikes(void **state)
{
	(void)state;
	assert_true(quotation_is_mark('\''));
	assert_true(quotation_is_mark('`'));
	assert_true(quotation_is_mark(0xab));
	assert_true(quotation_is_mark(0x2bc));
	assert_false(quotation_is_mark('a'));
	assert_false(quotation_is_mark('\\'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_name_is_in_quotes),
		cmocka_unit_test(a_name_with_a_mark_of_any_script_is_a_string_without_one),
		cmocka_unit_test(what_cannot_be_shown_is_escaped_as_well),
		cmocka_unit_test(a_long_one_is_cut_outside_of_a_string),
		cmocka_unit_test(marks_are_those_of_unicode_and_their_lookalikes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
