/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"

static void a_text_loses_what_is_of_the_set_at_both_ends_only(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} rows[] = {
		{ "plain", "plain" }, { " \t a b\t", "a b" }, { "x ", "x" },      { " x", "x" },
		{ "", "" },           { " \t ", "" },         { "\n x", "\n x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *copy = xstrdup(rows[i].text);

		assert_string_equal(str_trim(copy, " \t"), rows[i].expected);
	}
}

static void names_are_alike_but_for_case_and_what_joins_words(void **state)
{
	(void)state;
	assert_true(chars_alike("sessionId", "session_id", "_-"));
	assert_true(chars_alike("", "__", "_-"));
	assert_false(chars_alike("session id", "session_id", "_-"));
	assert_false(chars_alike("session", "sessions", "_-"));
	assert_false(chars_alike("a[", "a{", "_-"));
}

static void an_ending_is_found_in_any_case(void **state)
{
	(void)state;
	assert_true(chars_end_with("data.TSV", ".tsv"));
	assert_true(chars_end_with(".tsv", ".tsv"));
	assert_false(chars_end_with("tsv", ".tsv"));
	assert_false(chars_end_with("data.tsv.gz", ".tsv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_loses_what_is_of_the_set_at_both_ends_only),
		cmocka_unit_test(names_are_alike_but_for_case_and_what_joins_words),
		cmocka_unit_test(an_ending_is_found_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
