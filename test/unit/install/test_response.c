/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "install/response.h"
#include "json/make.h"
#include "json/parse.h"

static json_t *parse(const char *text)
{
	struct err err;
	json_t *value = json_parse(text, strlen(text), &err);

	assert_non_null(value);
	return value;
}

static void an_answer_says_whether_it_went_well(void **state)
{
	static const char *const good[] = { "{\"ok\": true}", "{\"ok\": true, \"files\": []}\n",
					    "{\"ok\": false, \"text\": \"no\"}" };
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"\"ok\"",
		"{\"ok\": 1}",
		"{\"ok\": null}",
		"{\"ok\": false}",
		"{\"ok\": false, \"text\": 7}",
		"{\"ok\": true",
		"{\"ok\": true} {\"ok\": true}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct err err = { 0 };
		json_t *answer = response_read(good[i], strlen(good[i]), &err);

		if (answer == NULL)
			fail_msg("%s: %s", good[i], err.msg);
		json_decref(answer);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = { 0 };

		if (response_read(bad[i], strlen(bad[i]), &err) != NULL)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void rows_keep_what_they_should_have_and_nothing_else(void **state)
{
	cleanup_json json_t *told = parse(
		"[{\"name\": \"a\", \"version\": \"1\", \"file\": \"a.whl\", \"evil\": {}, "
		"\"modules\": [\"a\", 1, \"b\"]}, {\"name\": \"b\"}, {\"version\": \"1\"}, 7, null, "
		"{\"name\": 1, \"version\": \"1\"}, {\"name\": \"c\", \"version\": \"2\", \"file\": 1, "
		"\"modules\": 1}]");
	cleanup_json json_t *expected =
		parse("[{\"name\": \"a\", \"version\": \"1\", \"file\": \"a.whl\", "
		      "\"modules\": [\"a\", \"b\"]}, {\"name\": \"c\", \"version\": \"2\"}]");
	cleanup_json json_t *rows = response_rows(told);
	cleanup_json json_t *none = response_rows(NULL);
	cleanup_json json_t *object = parse("{\"name\": \"a\", \"version\": \"1\"}");
	cleanup_json json_t *of_object = response_rows(object);

	(void)state;
	assert_true(json_equal(rows, expected));
	assert_int_equal(json_array_size(none), 0);
	assert_int_equal(json_array_size(of_object), 0);
}

static void rows_before_are_compared_by_name_and_version(void **state)
{
	cleanup_json json_t *before =
		parse("[{\"name\": \"a\", \"version\": \"1\"}, {\"name\": \"b\", "
		      "\"version\": \"1\"}, {\"name\": \"c\", \"version\": \"1\"}]");
	cleanup_json json_t *rows =
		parse("[{\"name\": \"a\", \"version\": \"1\"}, {\"name\": \"b\", "
		      "\"version\": \"2\"}, {\"name\": \"d\", \"version\": \"1\"}]");
	cleanup_json json_t *missing = response_missing(before, rows, false);
	cleanup_json json_t *replaced = response_replaced(before, rows, false);
	cleanup_json json_t *unchanged = response_unchanged(before, rows, false);
	cleanup_json json_t *arrived = response_arrived(before, rows, false);
	cleanup_json json_t *none = response_replaced(NULL, rows, false);

	(void)state;
	assert_int_equal(json_array_size(unchanged), 1);
	assert_ptr_equal(json_array_get(unchanged, 0), json_array_get(before, 0));
	assert_int_equal(json_array_size(arrived), 2);
	assert_ptr_equal(json_array_get(arrived, 0), json_array_get(rows, 1));
	assert_ptr_equal(json_array_get(arrived, 1), json_array_get(rows, 2));
	assert_int_equal(json_array_size(missing), 1);
	assert_ptr_equal(json_array_get(missing, 0), json_array_get(before, 2));
	assert_int_equal(json_array_size(replaced), 1);
	assert_ptr_equal(json_array_get(replaced, 0), json_array_get(before, 1));
	assert_int_equal(json_array_size(none), 0);
}

static void names_of_python_are_compared_as_python_does(void **state)
{
	cleanup_json json_t *before =
		parse("[{\"name\": \"Jinja2\", \"version\": \"1\"}, {\"name\": "
		      "\"zope.interface\", \"version\": \"1\"}, {\"name\": \"a\", "
		      "\"version\": \"1\"}, {\"name\": \"C_c\", \"version\": \"1\"}]");
	cleanup_json json_t *rows =
		parse("[{\"name\": \"jinja2\", \"version\": \"2\"}, {\"name\": "
		      "\"zope_interface\", \"version\": \"2\"}, {\"name\": \"ab\", "
		      "\"version\": \"1\"}, {\"name\": \"c--c\", \"version\": \"1\"}]");
	cleanup_json json_t *missing = response_missing(before, rows, true);
	cleanup_json json_t *replaced = response_replaced(before, rows, true);
	cleanup_json json_t *unchanged = response_unchanged(before, rows, true);
	cleanup_json json_t *arrived = response_arrived(before, rows, true);
	cleanup_json json_t *exactly = response_missing(before, rows, false);

	(void)state;
	assert_int_equal(json_array_size(missing), 1);
	assert_ptr_equal(json_array_get(missing, 0), json_array_get(before, 2));
	assert_int_equal(json_array_size(replaced), 2);
	assert_int_equal(json_array_size(unchanged), 1);
	assert_ptr_equal(json_array_get(unchanged, 0), json_array_get(before, 3));
	assert_int_equal(json_array_size(arrived), 3);
	assert_int_equal(json_array_size(exactly), 4);
}

static void a_second_version_replaces_none(void **state)
{
	cleanup_json json_t *before =
		parse("[{\"name\": \"a\", \"version\": \"4\"}, {\"name\": \"b\", "
		      "\"version\": \"1\"}]");
	cleanup_json json_t *rows =
		parse("[{\"name\": \"a\", \"version\": \"3\"}, {\"name\": \"a\", "
		      "\"version\": \"4\"}, {\"name\": \"b\", \"version\": \"2\"}]");
	cleanup_json json_t *replaced = response_replaced(before, rows, false);
	cleanup_json json_t *unchanged = response_unchanged(before, rows, false);
	cleanup_json json_t *arrived = response_arrived(before, rows, false);

	(void)state;
	assert_int_equal(json_array_size(unchanged), 1);
	assert_ptr_equal(json_array_get(unchanged, 0), json_array_get(before, 0));
	assert_int_equal(json_array_size(arrived), 2);
	assert_ptr_equal(json_array_get(arrived, 0), json_array_get(rows, 0));
	assert_ptr_equal(json_array_get(arrived, 1), json_array_get(rows, 2));
	assert_int_equal(json_array_size(replaced), 1);
	assert_ptr_equal(json_array_get(replaced, 0), json_array_get(before, 1));
}

static void rows_are_limited(void **state)
{
	cleanup_json json_t *told = json_array();
	cleanup_json json_t *rows = NULL;
	static char text[RESPONSE_TEXT_MAX + 2];

	(void)state;
	for (size_t len = RESPONSE_TEXT_MAX; len <= RESPONSE_TEXT_MAX + 1; len++) {
		json_t *row = json_object();

		memset(text, 'a', len);
		json_put_str(row, "name", text);
		json_put_str(row, "version", "1");
		json_append(told, row);
	}
	rows = response_rows(told);
	assert_int_equal(json_array_size(rows), 1);
	json_array_clear(told);
	for (size_t i = 0; i < RESPONSE_ROWS_MAX + 1; i++)
		json_append(told, json_pack("{ssss}", "name", "a", "version", "1"));
	json_decref(rows);
	rows = response_rows(told);
	assert_int_equal(json_array_size(rows), RESPONSE_ROWS_MAX);
}

static void names_are_short_texts_and_few(void **state)
{
	static char text[RESPONSE_TEXT_MAX + 2];
	cleanup_json json_t *told = parse("[\"json\", 1, null, {\"a\": \"b\"}]");
	cleanup_json json_t *none = response_names(NULL);
	cleanup_json json_t *names = NULL;

	(void)state;
	memset(text, 'a', RESPONSE_TEXT_MAX + 1);
	json_append(told, json_string(text));
	names = response_names(told);
	assert_int_equal(json_array_size(names), 1);
	assert_string_equal(json_string_value(json_array_get(names, 0)), "json");
	assert_int_equal(json_array_size(none), 0);
	for (size_t i = 0; i < RESPONSE_MODULES_MAX; i++)
		json_append(told, json_string("b"));
	json_decref(names);
	names = response_names(told);
	assert_int_equal(json_array_size(names), RESPONSE_MODULES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_says_whether_it_went_well),
		cmocka_unit_test(rows_keep_what_they_should_have_and_nothing_else),
		cmocka_unit_test(rows_before_are_compared_by_name_and_version),
		cmocka_unit_test(names_of_python_are_compared_as_python_does),
		cmocka_unit_test(a_second_version_replaces_none),
		cmocka_unit_test(rows_are_limited),
		cmocka_unit_test(names_are_short_texts_and_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
