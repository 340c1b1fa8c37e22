/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <cmocka.h>

#include "base/err.h"

static void a_failure_is_one_line_and_keeps_its_code(void **state)
{
	struct err err = { .sys = 99 };

	(void)state;
	assert_int_equal(err_set(&err, ERR_LIMIT, "more than %d of '%s'", 3, "cells"), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(err.sys, 0);
	assert_string_equal(err.msg, "more than 3 of 'cells'");
}

static void a_system_error_carries_errno_and_its_text(void **state)
{
	struct err err;

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_sys(&err, "opening '%s'", "a"), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(err.sys, ENOENT);
	assert_string_equal(err.msg, "opening 'a': No such file or directory");
}

static void an_errno_without_a_text_is_still_told(void **state)
{
	struct err err;

	(void)state;
	errno = 123456;
	(void)err_sys(&err, "asking");
	assert_int_equal(err.sys, 123456);
	assert_string_equal(err.msg, "asking: unknown error");
}

static void wrapping_reads_from_large_to_small(void **state)
{
	struct err err;

	(void)state;
	errno = EACCES;
	(void)err_sys(&err, "opening 'b'");
	assert_int_equal(err_wrap(&err, "starting session '%s'", "a"), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(err.sys, EACCES);
	assert_string_equal(err.msg, "starting session 'a': opening 'b': Permission denied");
}

static void a_long_text_is_cut_and_stays_a_string(void **state)
{
	struct err err;
	char big[1000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	(void)err_set(&err, ERR_INVALID, "%s", big);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_string_equal(err.msg + sizeof(err.msg) - 5, "x...");
	errno = EIO;
	(void)err_sys(&err, "%s", big);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	(void)err_set(&err, ERR_INVALID, "inner");
	(void)err_wrap(&err, "%s", big);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_int_equal(err.code, ERR_INVALID);
}

static void every_code_has_its_own_name(void **state)
{
	(void)state;
	for (int a = ERR_NONE; a <= ERR_INTERNAL; a++)
		for (int b = ERR_NONE; b < a; b++)
			assert_string_not_equal(err_code_name((enum err_code)a),
						err_code_name((enum err_code)b));
	assert_string_equal(err_code_name(ERR_NOT_FOUND), "not_found");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_one_line_and_keeps_its_code),
		cmocka_unit_test(a_system_error_carries_errno_and_its_text),
		cmocka_unit_test(an_errno_without_a_text_is_still_told),
		cmocka_unit_test(wrapping_reads_from_large_to_small),
		cmocka_unit_test(a_long_text_is_cut_and_stays_a_string),
		cmocka_unit_test(every_code_has_its_own_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
