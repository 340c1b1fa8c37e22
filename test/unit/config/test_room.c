/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/room.h"

static void code_leaves_some_of_the_users_processes(void **state)
{
	static const struct {
		uint64_t left;
		uint64_t max;
	} cases[] = {
		{ UINT64_MAX, 256 }, { 400, 256 }, { 200, 150 }, { 80, 56 }, { 30, 16 }, { 0, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct settings settings = { .limits.processes_max = 256 };

		room_limit_processes(&settings, cases[i].left);
		assert_int_equal(settings.limits.processes_max, cases[i].max);
		assert_int_equal(settings.notices != NULL, cases[i].max < 256);
		free(settings.notices);
	}
}

static void what_was_to_be_told_before_is_told_too(void **state)
{
	struct settings settings = { .limits.processes_max = 64, .notices = xstrdup("One.\n") };

	(void)state;
	room_limit_processes(&settings, 60);
	assert_string_equal(
		settings.notices,
		"One.\nPTYCELL_PROCESSES_MAX is 36 here: this user may have only 60 more "
		"processes and threads (ulimit -u, or its container), and ptycell needs some.\n");
	free(settings.notices);
}

static void as_many_sessions_fit_as_are_said_to(void **state)
{
	(void)state;
	assert_int_equal(room_sessions(256), 9);
	assert_int_equal(room_sessions(1024), 37);
	assert_true(room_for_session(8, 200, 256));
	assert_false(room_for_session(9, 100, 256));
	assert_false(room_for_session(1, 201, 256));
	assert_true(room_for_session(127, 2500, 4096));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_leaves_some_of_the_users_processes),
		cmocka_unit_test(what_was_to_be_told_before_is_told_too),
		cmocka_unit_test(as_many_sessions_fit_as_are_said_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
