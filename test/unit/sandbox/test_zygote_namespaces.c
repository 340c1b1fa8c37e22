/* SPDX-License-Identifier: MIT */
/* Cases that need no zygote sandbox; the others are tested end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/zygote_namespaces.h"

static const int nowhere[ZYGOTE_NAMESPACES_NAMESPACES] = { -1, -1, -1 };

static void one_that_cannot_be_joined_is_told(void **state)
{
	const struct uid_map map = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(namespaces_fork(&map, -1, 0, nowhere, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.msg, "joining the namespace of forked interpreters"));
}

static void whose_control_group_is_none_is_not_born(void **state)
{
	const struct uid_map map = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(namespaces_fork(&map, STDIN_FILENO, 0, nowhere, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.msg, "forking for a sandbox"));
	assert_int_equal(waitpid(-1, NULL, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_cannot_be_joined_is_told),
		cmocka_unit_test(whose_control_group_is_none_is_not_born),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
