/* SPDX-License-Identifier: MIT */
/* test_install_sum.c - what the code of a cell installs, again and again, as one event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "answer/install_sum.h"
#include "base/mem.h"
#include "json/make.h"

static struct install_sum *sum;

static int tear_down(void **state)
{
	(void)state;
	install_sum_free(sum);
	sum = NULL;
	return 0;
}

/* An installation of `asked`, which brings it and its file, or fails with `problem`. */
static json_t *fields_of(const char *asked, const char *problem)
{
	if (problem != NULL)
		return json_pack("{s:s, s:s, s:[s], s:s}", "language", "python", "from", "index",
				 "asked", asked, "problem", problem);
	return json_pack("{s:s, s:s, s:[s], s:[[s, s]], s:[{s:s, s:s}]}", "language", "python",
			 "from", "index", "asked", asked, "packages", asked, "1.0", "files", "file",
			 asked, "sha256", "00");
}

static bool add(const char *asked, const char *problem)
{
	cleanup_json json_t *fields = fields_of(asked, problem);

	if (sum == NULL)
		sum = install_sum_new(3, fields);
	assert_true(install_sum_takes(sum, 3, fields));
	return install_sum_add(sum, fields);
}

static void assert_json(json_t *got_own, json_t *expected_own)
{
	cleanup_json json_t *got = got_own;
	cleanup_json json_t *expected = expected_own;

	assert_non_null(expected);
	if (!json_equal(got, expected))
		fail_msg("%s", json_dumps(got, JSON_COMPACT)); /* leaks, as the test fails */
}

static void each_thing_is_there_once_and_installations_are_counted(void **state)
{
	(void)state;
	assert_true(add("a", NULL));
	assert_false(add("a", NULL));
	assert_false(add("none", "no such package"));
	assert_false(add("none", "no such package"));
	assert_true(add("b", NULL));
	assert_true(add("a", NULL)); /* b is gone again */
	assert_json(install_sum_event(sum),
		    json_pack("{s:i, s:s, s:i, s:i, s:[sss], s:s, s:[s]}", "cell", 3, "language",
			      "python", "count", 6, "failed", 2, "asked", "a", "none", "b", "from",
			      "index", "problems", "no such package"));
	assert_json(install_sum_line(sum),
		    json_pack("{s:i, s:s, s:i, s:i, s:[sss], s:s, s:[s], s:[ss], s:[{s:s, s:s}, "
			      "{s:s, s:s}]}",
			      "cell", 3, "language", "python", "count", 6, "failed", 2, "asked",
			      "a", "none", "b", "from", "index", "problems", "no such package",
			      "packages", "a 1.0", "b 1.0", "files", "file", "a", "sha256", "00",
			      "file", "b", "sha256", "00"));
}

static void what_was_removed_is_named(void **state)
{
	cleanup_json json_t *fields = fields_of("a", NULL);
	cleanup_json json_t *event = NULL;

	(void)state;
	(void)add("a", NULL);
	json_put(fields, "removed", json_pack("[s]", "b 1.0"));
	(void)install_sum_add(sum, fields);
	(void)install_sum_add(sum, fields);
	event = install_sum_event(sum);
	assert_json(json_incref(json_object_get(event, "removed")), json_pack("[s]", "b 1.0"));
}

static void what_code_says_that_it_installed_is_no_change(void **state)
{
	cleanup_json json_t *fields =
		json_pack("{s:s, s:s, s:[s], s:[s], s:[]}", "language", "python", "from", "files",
			  "asked", "./a.whl", "own", "a 1.0", "files");
	cleanup_json json_t *line = NULL;

	(void)state;
	sum = install_sum_new(3, fields);
	assert_false(install_sum_add(sum, fields));
	line = install_sum_line(sum);
	assert_json(json_incref(json_object_get(line, "packages")), json_pack("[s]", "a 1.0"));
}

/* Returns fields of an installation after which the session has nothing. */
static json_t *nothing_left(const char *removed)
{
	json_t *fields = json_pack("{s:s, s:s, s:[s], s:[]}", "language", "python", "from", "index",
				   "asked", "a", "packages");

	if (removed != NULL)
		json_put(fields, "removed", json_pack("[s]", removed));
	return fields;
}

static void a_removal_of_everything_is_a_change(void **state)
{
	cleanup_json json_t *present = nothing_left(NULL);
	cleanup_json json_t *removed = nothing_left("a 1.0");

	(void)state;
	sum = install_sum_new(3, present);
	assert_false(install_sum_add(sum, present)); /* the interpreter has all of it itself */
	assert_true(install_sum_add(sum, removed));  /* of what an earlier cell installed */
	assert_true(add("a", NULL));
	assert_true(install_sum_add(sum, removed));
	assert_true(add("a", NULL));
}

static void another_cell_language_or_index_has_a_sum_of_its_own(void **state)
{
	cleanup_json json_t *fields = fields_of("a", NULL);

	(void)state;
	(void)add("a", NULL);
	assert_false(install_sum_takes(sum, 4, fields));
	json_put_str(fields, "language", "r");
	assert_false(install_sum_takes(sum, 3, fields));
	json_put_str(fields, "language", "python");
	assert_true(install_sum_takes(sum, 3, fields));
	json_put_str(fields, "from", "another");
	assert_false(install_sum_takes(sum, 3, fields));
}

static void a_sum_is_full_at_its_limit(void **state)
{
	char name[16];

	(void)state;
	for (int i = 1; i < INSTALL_SUM_MAX; i++) { /* and one problem */
		assert_true(sum == NULL || !install_sum_is_full(sum));
		(void)snprintf(name, sizeof(name), "p%d", i);
		(void)add(name, "no such package");
	}
	assert_true(install_sum_is_full(sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_thing_is_there_once_and_installations_are_counted,
					  tear_down),
		cmocka_unit_test_teardown(what_was_removed_is_named, tear_down),
		cmocka_unit_test_teardown(what_code_says_that_it_installed_is_no_change, tear_down),
		cmocka_unit_test_teardown(a_removal_of_everything_is_a_change, tear_down),
		cmocka_unit_test_teardown(another_cell_language_or_index_has_a_sum_of_its_own,
					  tear_down),
		cmocka_unit_test_teardown(a_sum_is_full_at_its_limit, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
