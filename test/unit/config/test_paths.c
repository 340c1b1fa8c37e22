/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/paths.h"
#include "literals.h"

enum { NOBODY_HAS_THIS_ID = 4000000 };

static char *const empty_env[] = { NULL };

static void an_empty_variable_counts_as_unset(void **state)
{
	char *const *env = LIST("A=", "AB=1", "A", "B=x=y");

	(void)state;
	assert_null(paths_getenv(env, "A"));
	assert_string_equal(paths_getenv(env, "AB"), "1");
	assert_string_equal(paths_getenv(env, "B"), "x=y");
	assert_null(paths_getenv(env, "C"));
}

static void without_home_the_account_tells(void **state)
{
	char *const *relative = LIST("HOME=here");
	cleanup_free char *unset = paths_user_home(empty_env, 0);
	cleanup_free char *odd = paths_user_home(relative, 0);

	(void)state;
	assert_string_equal(unset, "/root");
	assert_string_equal(odd, "/root");
	assert_null(paths_user_home(empty_env, NOBODY_HAS_THIS_ID));
}

static void sessions_lie_where_no_cleaner_of_caches_looks_and_roots_in_var_tmp(void **state)
{
	char *const *home = LIST("HOME=/h");
	char *const *state_home = LIST("HOME=/h", "XDG_STATE_HOME=/c");
	char *const *relative = LIST("HOME=/h", "XDG_STATE_HOME=c");
	cleanup_free char *a = paths_state(home, 7);
	cleanup_free char *b = paths_state(state_home, 7);
	cleanup_free char *c = paths_state(relative, 7);
	cleanup_free char *d = paths_state(state_home, 0);
	cleanup_free char *e = paths_state(empty_env, NOBODY_HAS_THIS_ID);

	(void)state;
	assert_string_equal(a, "/h/.local/state/ptycell");
	assert_string_equal(b, "/c/ptycell");
	assert_string_equal(c, "/h/.local/state/ptycell");
	assert_string_equal(d, "/var/tmp/ptycell");
	assert_string_equal(e, "/var/tmp/ptycell-4000000");
}

static void a_tilde_is_the_home_folder_and_a_relative_path_is_none(void **state)
{
	char *const *home = LIST("HOME=/h");
	cleanup_free char *alone = paths_absolute(home, 7, "~");
	cleanup_free char *below = paths_absolute(home, 7, "~/a b");
	cleanup_free char *absolute = paths_absolute(home, 7, "/x");

	(void)state;
	assert_string_equal(alone, "/h");
	assert_string_equal(below, "/h/a b");
	assert_string_equal(absolute, "/x");
	assert_null(paths_absolute(home, 7, "x"));
	assert_null(paths_absolute(home, 7, "~other/x"));
	assert_null(paths_absolute(home, 7, ""));
	assert_null(paths_absolute(empty_env, NOBODY_HAS_THIS_ID, "~/x"));
}

static void a_word_with_a_colon_may_stand_before_a_path_or_alone(void **state)
{
	static const char *const words[] = { "off", "log:", NULL };
	char *const *env = LIST("HOME=/h");
	cleanup_free char *alone = paths_target(env, 7, "log:", words);
	cleanup_free char *before = paths_target(env, 7, "log:~/a", words);
	cleanup_free char *path = paths_target(env, 7, "/a", words);

	(void)state;
	assert_string_equal(alone, "log:");
	assert_string_equal(before, "log:/h/a");
	assert_string_equal(path, "/a");
	assert_null(paths_target(env, 7, "log:a", words));
	assert_null(paths_target(env, 7, "off/a", words));
	assert_null(paths_target(env, 7, "log:", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_variable_counts_as_unset),
		cmocka_unit_test(without_home_the_account_tells),
		cmocka_unit_test(
			sessions_lie_where_no_cleaner_of_caches_looks_and_roots_in_var_tmp),
		cmocka_unit_test(a_tilde_is_the_home_folder_and_a_relative_path_is_none),
		cmocka_unit_test(a_word_with_a_colon_may_stand_before_a_path_or_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
