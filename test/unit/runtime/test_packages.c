/* SPDX-License-Identifier: MIT */
/* What an interpreter's site folders say of its distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "runtime/python/packages.h"
#include "scratch.h"

#define LIB "lib/python3.11/"

static int set_up(void **state)
{
	static const char *const folders[] = {
		"bin", "lib", "lib/python3.11", LIB "site-packages", LIB "dist-packages",
	};
	struct scratch *scratch = xcalloc(1, sizeof(*scratch));

	scratch_init(scratch);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdirat(scratch->fd, folders[i], 0700), 0);
	*state = scratch;
	return 0;
}

static int tear_down(void **state)
{
	scratch_release(*state);
	free(*state);
	return 0;
}

/* Lists what the interpreter in the scratch folder finds as "NAME VERSION;". */
static void expect(const struct scratch *scratch, const char *want)
{
	cleanup_free char *interpreter = xasprintf("%s/bin/python3", scratch->path);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t count = 0;
	struct python_package *packages = python_packages(interpreter, &count);

	for (size_t i = 0; i < count; i++)
		buf_putf(&text, "%s %s;", packages[i].name, packages[i].version);
	assert_string_equal(buf_str(&text), want);
	python_packages_free(packages, count);
}

static void names_and_versions_are_those_of_the_entries(void **state)
{
	const struct scratch *scratch = *state;

	scratch_write(scratch->fd, LIB "site-packages/numpy-1.24.2.dist-info", "");
	scratch_write(scratch->fd, LIB "site-packages/six-1.16.0-py3.11.egg-info", "");
	scratch_write(scratch->fd, LIB "site-packages/bare.egg-info", "");
	scratch_write(scratch->fd, LIB "site-packages/numpy", "");
	scratch_write(scratch->fd, LIB "site-packages/.dist-info", "");
	expect(scratch, "bare ;numpy 1.24.2;six 1.16.0;");
}

static void a_distribution_in_two_folders_is_listed_once(void **state)
{
	const struct scratch *scratch = *state;

	scratch_write(scratch->fd, LIB "site-packages/Pillow-9.4.0.dist-info", "");
	scratch_write(scratch->fd, LIB "dist-packages/pillow-9.4.0.egg-info", "");
	scratch_write(scratch->fd, LIB "dist-packages/apt-2.6.0.egg-info", "");
	expect(scratch, "apt 2.6.0;Pillow 9.4.0;");
}

static void an_interpreter_without_site_folders_has_none(void **state)
{
	size_t count = 1;

	expect(*state, "");
	assert_null(python_packages("/nonexistent/bin/python3", &count));
	assert_int_equal(count, 0);
	assert_null(python_packages("python3", &count));
	assert_int_equal(count, 0);
}

static void no_more_than_the_limit_are_listed(void **state)
{
	const struct scratch *scratch = *state;
	cleanup_free char *interpreter = xasprintf("%s/bin/python3", scratch->path);
	struct python_package *packages;
	size_t count = 0;

	for (int i = 0; i <= PYTHON_PACKAGES_MAX; i++) {
		cleanup_free char *name = xasprintf(LIB "site-packages/p%d-1.dist-info", i);

		scratch_write(scratch->fd, name, "");
	}
	packages = python_packages(interpreter, &count);
	assert_int_equal(count, PYTHON_PACKAGES_MAX);
	python_packages_free(packages, count);
}

static bool replaces(const struct scratch *scratch, const char *folder)
{
	cleanup_free char *interpreter = xasprintf("%s/bin/python3", scratch->path);

	return python_packages_replace(interpreter, scratch->fd, folder);
}

static void names_are_compared_in_their_normal_form(void **state)
{
	(void)state;
	assert_true(python_packages_same("Zope.Interface", "zope__-interface"));
	assert_false(python_packages_same("zope", "zope-interface"));
	assert_false(python_packages_same("zope-interface", "zope"));
	assert_false(python_packages_same("zope-", "zope"));
	assert_string_equal(python_packages_after("Zope_Interface[x]>=2", "zope.interface"),
			    "[x]>=2");
	assert_string_equal(python_packages_after("six", "SIX"), "");
	assert_null(python_packages_after("six-two>=1", "six"));
	assert_null(python_packages_after("sixteen", "six"));
	assert_null(python_packages_after("six", "sixteen"));
	assert_null(python_packages_after(">=1", ""));
}

static void a_set_replaces_packages_of_the_same_normal_name(void **state)
{
	const struct scratch *scratch = *state;

	scratch_write(scratch->fd, LIB "site-packages/Ruamel.Yaml-1.0.dist-info", "");
	assert_int_equal(mkdirat(scratch->fd, "other", 0700), 0);
	assert_int_equal(mkdirat(scratch->fd, "set", 0700), 0);
	assert_false(replaces(scratch, "none"));
	scratch_write(scratch->fd, "other/ruamel_yaml_clib-2.0.dist-info", "");
	scratch_write(scratch->fd, "other/ruamel.py", "");
	assert_false(replaces(scratch, "other"));
	scratch_write(scratch->fd, "set/alpha-1.0.dist-info", "");
	scratch_write(scratch->fd, "set/ruamel__yaml-2.0.dist-info", "");
	assert_true(replaces(scratch, "set"));
	assert_false(replaces(scratch, "set/alpha-1.0.dist-info"));
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(names_and_versions_are_those_of_the_entries),
		FIXTURE_TEST(a_distribution_in_two_folders_is_listed_once),
		FIXTURE_TEST(an_interpreter_without_site_folders_has_none),
		cmocka_unit_test(names_are_compared_in_their_normal_form),
		FIXTURE_TEST(a_set_replaces_packages_of_the_same_normal_name),
		FIXTURE_TEST(no_more_than_the_limit_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
