/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "redact/redact.h"

static void assert_marks(const char *names, const char *expected)
{
	cleanup_free char *marked = redact_escape_names(names);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_for_a_secret_ends_no_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
