/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/runnames.h"
#include "base/util.h"

static void assert_altered(const char *path, const char *expected)
{
	char *altered = runnames_alter(path);

	if (altered == NULL)
		fail_msg("'%s' stays", path);
	assert_string_equal(altered, expected);
	free(altered);
}

static void names_at_any_depth_are_marked(void **state)
{
	(void)state;
	assert_altered(".envrc", "_.envrc");
	assert_altered("a/.git", "a/_.git");
	assert_altered(".git/b/.vscode/tasks.json", "_.git/b/_.vscode/tasks.json");
	assert_altered("a/.RData", "a/_.RData");
	assert_altered("a/opencode.json", "a/_opencode.json");
	assert_altered(".roo/mcp.json", "_.roo/mcp.json");
	assert_altered("b/.lintr", "b/_.lintr");
	assert_altered("b/pylintrc", "b/_pylintrc");
	assert_altered("b/.pylintrc.toml", "b/_.pylintrc.toml");
	assert_altered(".sl/config", "_.sl/config");
	assert_altered("a/startup.m", "a/_startup.m");
}

static void upper_and_lower_case_are_alike(void **state)
{
	(void)state;
	assert_altered(".GIT/config", "_.GIT/config");
	assert_altered(".EnvRC", "_.EnvRC");
	assert_altered("repo/head", "repo/_head");
}

static void dots_and_blanks_at_the_end_do_not_count(void **state)
{
	(void)state;
	assert_altered("a/.git./config", "a/_.git./config");
	assert_altered(".envrc. .", "_.envrc. .");
	assert_altered("a/HEAD ", "a/_HEAD ");
	assert_altered("a/.git ", "a/_.git ");
	assert_null(runnames_alter(". ./a."));
	assert_null(runnames_alter("HEAD./a"));
}

static void a_head_is_one_as_a_file_only(void **state)
{
	(void)state;
	assert_altered("HEAD", "_HEAD");
	assert_altered("scans/x.git/HEAD", "scans/x.git/_HEAD");
	assert_null(runnames_alter("head/scan.png"));
}

static void other_names_stay(void **state)
{
	static const char *const paths[] = {
		"",        "plot.png",       ".gitignore",
		"a.git/b", ".gitattributes", ".github/workflows/ci.yml",
		".envrc2", "x.envrc",        "HEAD.txt"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_null(runnames_alter(paths[i]));
}

static void what_is_there_stays_but_for_what_programs_write_into(void **state)
{
	(void)state;
	assert_true(runnames_stays(".envrc", false) && runnames_stays(".husky", true));
	assert_true(runnames_stays("lefthook.jsonc", false) &&
		    runnames_stays(".lefthook-local.toml", false) &&
		    runnames_stays(".lefthook", true));
	assert_true(runnames_stays(".devcontainer", true) && runnames_stays(".npmrc", false));
	assert_true(runnames_stays(".env", false) && !runnames_stays(".env", true));
	assert_false(runnames_stays(".hg", true) || runnames_stays(".gitmodules", false));
	assert_false(runnames_stays("notes", false));
	assert_true(runnames_is_held(".envrc") && !runnames_is_held(".husky"));
}

static void settings_inside_of_what_is_written_into_are_known(void **state)
{
	(void)state;
	assert_string_equal(runnames_inside(".hg", 0), ".hg/hgrc");
	assert_string_equal(runnames_inside(".jj", 1), ".jj/repo/config.toml");
	assert_non_null(runnames_inside(".bzr", 0));
	assert_string_equal(runnames_inside(".sl", 0), ".sl/config");
	assert_null(runnames_inside(".hg", 4));
	assert_null(runnames_inside(".h", 0));
	assert_null(runnames_inside("src", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_at_any_depth_are_marked),
		cmocka_unit_test(upper_and_lower_case_are_alike),
		cmocka_unit_test(dots_and_blanks_at_the_end_do_not_count),
		cmocka_unit_test(a_head_is_one_as_a_file_only),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(what_is_there_stays_but_for_what_programs_write_into),
		cmocka_unit_test(settings_inside_of_what_is_written_into_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
