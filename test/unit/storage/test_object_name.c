/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/object_name.h"

/* "%s" in `expected` stands for eight digits. */
static void assert_name(const char *path, const char *expected)
{
	struct err err = { 0 };
	cleanup_free char *name = storage_name("sales", path, &err);
	const char *digits = strstr(expected, "%s");
	cleanup_free char *whole = NULL;

	assert_non_null(name);
	if (digits != NULL && strlen(name) > strlen(expected))
		whole = xasprintf("%.*s%.8s%s", (int)(digits - expected), expected,
				  name + (digits - expected), digits + 2);
	assert_string_equal(name, whole != NULL ? whole : expected);
	if (whole != NULL)
		assert_int_equal(strspn(name + (digits - expected), "0123456789abcdef"), 8);
}

/* CB-24: two files of one name in two folders are two blobs. */
static void a_file_keeps_its_path_below_its_session(void **state)
{
	(void)state;
	assert_name("a/p.png", "sales/a/p.png");
	assert_name("b/p.png", "sales/b/p.png");
	assert_name("plot \303\251 #1?.png", "sales/plot \303\251 #1?.png");
}

static void what_no_service_takes_becomes_an_underscore(void **state)
{
	(void)state;
	assert_name("a\\b.png", "sales/a_b-%s.png");
	assert_name("a\nb\377.png", "sales/a_b\357\277\275-%s.png");
	assert_name("\377/a.b/c", "sales/\357\277\275/a.b/c-%s");
	assert_name("\377/.hid", "sales/\357\277\275/.hid-%s");
}

/* Two files differ in characters that no service takes: their names must differ too. */
static void two_paths_never_become_one_name(void **state)
{
	static const char *const paths[] = {
		"M\374ller.csv", "M\366ller.csv", "M\357\277\275ller.csv",
		"a\\b.txt",      "a_b.txt",       "a\001b.txt",
		"\374/x",        "\366/x",        "\374/\374"
	};
	char *names[ARRAY_SIZE(paths)];
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		names[i] = storage_name("s", paths[i], &err);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		free(names[i]);
}

static void a_path_too_long_is_refused(void **state)
{
	char path[STORAGE_NAME_MAX + 1];
	struct err err = { 0 };

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_null(storage_name("s", path, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void assert_disposition(const char *name, const char *expected)
{
	cleanup_free char *disposition = storage_disposition(name);

	assert_string_equal(disposition, expected);
}

static void only_what_runs_nothing_is_shown_in_the_browser(void **state)
{
	(void)state;
	assert_disposition("s/a.png", "inline; filename=\"a.png\"; filename*=UTF-8''a.png");
	assert_disposition("s/a.html", "attachment; filename=\"a.html\"; filename*=UTF-8''a.html");
	assert_disposition("s/a.svg", "attachment; filename=\"a.svg\"; filename*=UTF-8''a.svg");
}

static void a_name_is_told_as_ascii_and_whole(void **state)
{
	(void)state;
	assert_disposition("s/\303\251 \"x\"%.csv", "attachment; filename=\"__ _x__.csv\"; "
						    "filename*=UTF-8''%C3%A9%20%22x%22%25.csv");
}

/* CB-27. */
static void text_is_said_to_be_utf_8(void **state)
{
	cleanup_free char *csv = storage_content_type("s/a.csv");
	cleanup_free char *png = storage_content_type("s/a.png");
	cleanup_free char *other = storage_content_type("s/a.unheard");

	(void)state;
	assert_string_equal(csv, "text/csv; charset=utf-8");
	assert_string_equal(png, "image/png");
	assert_string_equal(other, "application/octet-stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_keeps_its_path_below_its_session),
		cmocka_unit_test(what_no_service_takes_becomes_an_underscore),
		cmocka_unit_test(two_paths_never_become_one_name),
		cmocka_unit_test(a_path_too_long_is_refused),
		cmocka_unit_test(only_what_runs_nothing_is_shown_in_the_browser),
		cmocka_unit_test(a_name_is_told_as_ascii_and_whole),
		cmocka_unit_test(text_is_said_to_be_utf_8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
