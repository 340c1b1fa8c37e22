/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/told.h"

static void assert_marks(const char *names, const char *expected)
{
	cleanup_free char *marked = told_marks(names);

	assert_string_equal(marked, expected);
}

static void what_stands_for_a_secret_ends_no_word(void **state)
{
	(void)state;
	assert_marks("", "");
	assert_marks("a int\nb\n", "a int\nb\n");
	assert_marks("[secret K] num 3\nx[secret K]y [secret L] 3\n-[secret K]\n",
		     "[secret\\sK] num 3\nx[secret\\sK]y [secret_L] 3\n-[secret\\sK]\n");
}

static void a_name_is_plain_and_what_is_behind_it_follows(void **state)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	static const char line[] = "-[secret\\sK] num";
	bool gone = false;

	(void)state;
	assert_string_equal(told_name(&name, line, line + strlen(line), &gone), "num");
	assert_string_equal(buf_str(&name), "[secret K]");
	assert_true(gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_for_a_secret_ends_no_word),
		cmocka_unit_test(a_name_is_plain_and_what_is_behind_it_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
