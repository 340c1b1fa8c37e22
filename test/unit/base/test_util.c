/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_loses_what_is_of_the_set_at_both_ends_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
