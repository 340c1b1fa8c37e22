/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "redact/redact.h"

static struct redact *redact;

static int set_up(void **state)
{
	(void)state;
	redact = redact_new();
	redact_add(redact, "KEY", " first value\n");
	redact_add(redact, "KEY_2", "second value");
	redact_finish(redact);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	redact_free(redact);
	return 0;
}

static void assert_filled(const char *text, const char *expected, const char *expected_missing)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *missing = redact_fill(redact, text, strlen(text), &out);

	if (expected_missing != NULL) {
		assert_non_null(missing);
		assert_string_equal(missing, expected_missing);
		return;
	}
	assert_null(missing);
	assert_string_equal(buf_str(&out), expected);
}

static void marks_become_values(void **state)
{
	(void)state;
	assert_filled("", "", NULL);
	assert_filled("a = 1", "a = 1", NULL);
	assert_filled("a = '[secret KEY]'", "a = 'first value'", NULL);
	assert_filled("[secret KEY_2][secret KEY]", "second valuefirst value", NULL);
	assert_filled("[secret", "[secret", NULL);
}

static void a_mark_without_a_value_is_named(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *missing = NULL;

	(void)state;
	assert_filled("a = '[secret OTHER]'", NULL, "OTHER");
	assert_filled("[secret KEY] [secret KEY_3]", NULL, "KEY_3");
	assert_filled("[secret ", NULL, "");
	missing = redact_fill(NULL, "[secret KEY]", strlen("[secret KEY]"), &out);
	assert_string_equal(missing, "KEY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(marks_become_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_mark_without_a_value_is_named, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
