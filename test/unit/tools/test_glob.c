/* SPDX-License-Identifier: MIT */
/* test_glob.c - what patterns match, and that no pattern is slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "tools/glob.h"

struct row {
	const char *pattern;
	const char *path;
	bool matches;
};

static bool matches(const char *pattern, const char *path)
{
	struct glob *glob = glob_new(pattern);
	bool found = glob_match(glob, path);

	/* It is as good for the next path as for the first. */
	assert_int_equal(glob_match(glob, path), found);
	glob_free(glob);
	return found;
}

static void check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (matches(rows[i].pattern, rows[i].path) != rows[i].matches)
			fail_msg("'%s' and '%s': not %d", rows[i].pattern, rows[i].path,
				 rows[i].matches);
}

static void plain_characters_match_themselves(void **state)
{
	static const struct row rows[] = {
		{ "a.csv", "a.csv", true },   { "a.csv", "a.csvx", false },
		{ "a.csv", "xa.csv", false }, { "", "", true },
		{ "", "a", false },           { "A.csv", "a.csv", false },
		{ "a", "", false },           { "\xc3\xa9.txt", "\xc3\xa9.txt", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void a_star_and_a_question_mark_stop_at_folders(void **state)
{
	static const struct row rows[] = {
		{ "*.csv", "a.csv", true },          { "*.csv", ".csv", true },
		{ "out/*", "out/a", true },          { "out/*", "out/a/b", false },
		{ "out/*", "out/", true },           { "*/*", "a/b", true },
		{ "*/*", "a/b/c", false },           { "out/?.csv", "out/a.csv", true },
		{ "out?a.csv", "out/a.csv", false }, { "a*b*c", "a1b2c", true },
		{ "a*b*c", "a1b2c3", false },        { "out/*b/c", "out/ab/c", true },
		{ "out/*b/c", "out/a/b/c", false },  { "*a*", "bab", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void two_stars_cross_folders(void **state)
{
	static const struct row rows[] = {
		{ "out/**", "out/a/b/c", true },
		{ "out/**", "out/a", true },
		{ "out/**", "other/a", false },
		{ "out/**/b", "out/b", true },
		{ "out/**/b", "out/x/y/b", true },
		{ "out/**/b", "out/xb", false },
		{ "**/b", "b", true },
		{ "**/b", "a/c/b", true },
		{ "**/b", "ab", false },
		{ "**/*.csv", "a/b.csv", true },
		{ "**/*.csv", "b.csv", true },
		{ "**/x/**/y", "a/x/b/c/y", true },
		{ "**/x/**/y", "a/x/b/c/z", false },
		{ "**", "any/thing", true },
		{ "a/**/b*c/**/d", "a/1/bxc/2/3/d", true },
		{ "a/**/b*c/**/d", "a/1/bx/c/2/3/d", false },
		{ "**a", "x/y/a", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void a_pattern_without_folder_is_held_against_the_last_part(void **state)
{
	static const struct row rows[] = {
		{ "*.csv", "deep/er/a.csv", true },
		{ "a.csv", "deep/a.csv", true },
		{ "deep", "deep/a.csv", false },
		{ "?.csv", "deep/a.csv", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void a_character_is_one_of_utf8(void **state)
{
	static const struct row rows[] = {
		{ "?.txt", "\xc3\xa9.txt", true },
		{ "??.txt", "\xc3\xa9.txt", false },
		{ "[\xc3\xa8-\xc3\xaa].txt", "\xc3\xa9.txt", true },
		{ "[!\xc3\xa9].txt", "\xc3\xa8.txt", true },
		{ "[!\xc3\xa9].txt", "\xc3\xa9.txt", false },
		{ "?.txt", "\xff.txt", true }, /* not text at all: as it is shown */
		{ "\xef\xbf\xbd.txt", "\xff.txt", true },
		{ "?", "\xc3", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void sets_have_ranges_and_negation_and_never_match_a_slash(void **state)
{
	static const struct row rows[] = {
		{ "[abc].txt", "b.txt", true },  { "[abc].txt", "d.txt", false },
		{ "[a-c].txt", "b.txt", true },  { "[a-c].txt", "-.txt", false },
		{ "[!a-c].txt", "d.txt", true }, { "[!a-c].txt", "b.txt", false },
		{ "[^a].txt", "b.txt", true },   { "[]].txt", "].txt", true },
		{ "[!]].txt", "].txt", false },  { "[a-].txt", "-.txt", true },
		{ "x/[!a]", "x/b", true },       { "x[!a]y", "x/y", false },
		{ "x[/]y", "x/y", false },       { "[", "[", true },
		{ "[abc", "[abc", true },        { "a[", "a[", true },
		{ "[abc", "a", false },          { "*[0-9].csv", "run12.csv", true },
		{ "[z-a]", "m", false },         { "[a-c-e]", "d", false },
		{ "[a-c-e]", "-", true },
	};

	(void)state;
	check(rows, ARRAY_SIZE(rows));
}

static void a_path_ends_where_no_place_is_left(void **state)
{
	struct glob *glob = glob_new("b/**");

	(void)state;
	assert_false(glob_match(glob, "a/long/path/that/nobody/looks/through"));
	assert_int_equal(glob_steps(glob), 1);
	glob_free(glob);
}

/* Stars and folders at each place of the words that places are held in. */
static void patterns_of_more_than_a_word_match(void **state)
{
	char start[201] = "";

	(void)state;
	for (size_t len = 1; len < sizeof(start); len++) {
		cleanup_free char *star = NULL;
		cleanup_free char *folders = NULL;
		cleanup_free char *path = NULL;
		cleanup_free char *deep = NULL;

		start[len - 1] = 'a';
		star = xasprintf("%s*[b]?c", start);
		folders = xasprintf("%s/**/*c", start);
		path = xasprintf("%s--bxc", start);
		deep = xasprintf("%s/x/y/zc", start);
		assert_true(matches(star, path));
		assert_false(matches(star, deep));
		assert_true(matches(folders, deep));
		assert_false(matches(folders, path));
	}
}

/* `unit` as often as fits, and an end that nothing has. */
static void check_hostile(const char *start, const char *unit)
{
	static char path[8001];
	char pattern[4001];
	const size_t len = sizeof(pattern);
	size_t at = strlen(start);
	struct glob *glob;

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(pattern, start, at);
	while (at + strlen(unit) + 2 < len) {
		memcpy(pattern + at, unit, strlen(unit));
		at += strlen(unit);
	}
	memcpy(pattern + at, "b", 2);
	glob = glob_new(pattern);
	assert_false(glob_match(glob, path));
	assert_true(glob_steps(glob) <= sizeof(path) * (sizeof(pattern) / 64 + 1));
	glob_free(glob);
}

static void hostile_patterns_take_a_step_for_64_characters(void **state)
{
	static const struct {
		const char *start;
		const char *unit;
	} rows[] = {
		{ "", "*a" },    { "", "**a" },  { "", "*a**a" }, { "", "**/*a" },
		{ "", "?*" },    { "", "[a]*" }, { "", "[" },     { "**", "*a" },
		{ "**/*", "a" }, { "***", "a" }, { "**?*", "a" }, { "**/*a*", "a" },
		{ "[", "a-" },   { "", "*" },    { "", "**/" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_hostile(rows[i].start, rows[i].unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_characters_match_themselves),
		cmocka_unit_test(a_star_and_a_question_mark_stop_at_folders),
		cmocka_unit_test(two_stars_cross_folders),
		cmocka_unit_test(a_pattern_without_folder_is_held_against_the_last_part),
		cmocka_unit_test(a_character_is_one_of_utf8),
		cmocka_unit_test(sets_have_ranges_and_negation_and_never_match_a_slash),
		cmocka_unit_test(a_path_ends_where_no_place_is_left),
		cmocka_unit_test(patterns_of_more_than_a_word_match),
		cmocka_unit_test(hostile_patterns_take_a_step_for_64_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
