/* SPDX-License-Identifier: MIT */
/* test_variables.c - the fields of a driver's lines, cleaned and without secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "answer/variables.h"

static size_t left_out;

/* The table as one compact line. */
static char *parse(const char *lines, size_t max)
{
	json_t *told = variables_parse("r", lines, strlen(lines), max, NULL, &left_out);
	char *text = json_dumps(told, JSON_COMPACT);

	json_decref(told);
	return text;
}

#define assert_parsed(lines, max, expected)                                                        \
	do {                                                                                       \
		char *parsed_ = parse(lines, max);                                                 \
		assert_string_equal(parsed_, expected);                                            \
		free(parsed_);                                                                     \
	} while (0)

static void empty_fields_are_left_out(void **state)
{
	(void)state;
	assert_parsed(
		"df\tDataFrame\t150x5\t6000\t\nx\tint\t\t\t5", 9,
		"[{\"language\":\"r\",\"name\":\"df\",\"type\":\"DataFrame\",\"shape\":\"150x5\","
		"\"bytes\":\"6000\"},{\"language\":\"r\",\"name\":\"x\",\"type\":\"int\","
		"\"value\":\"5\"}]");
	assert_int_equal(left_out, 0);
	assert_parsed("", 9, "[]");
	assert_parsed("x", 9, "[{\"language\":\"r\",\"name\":\"x\"}]");
}

static void escapes_are_undone_before_cleaning(void **state)
{
	(void)state;
	assert_parsed(
		"s\tstr\t\t\t'a\\\\tb\\\\n'", 9,
		"[{\"language\":\"r\",\"name\":\"s\",\"type\":\"str\",\"value\":\"'a\\\\tb\\\\n'\"}]");
	assert_parsed(
		"s\tstr\t\t\ta\\tb\\nc\\", 9,
		"[{\"language\":\"r\",\"name\":\"s\",\"type\":\"str\",\"value\":\"a b c\\\\\"}]");
}

static void names_are_told_apart(void **state)
{
	(void)state;
	assert_parsed("a\\tb\tint\na b\tint\n\tint", 9,
		      "[{\"language\":\"r\",\"name\":\"\\\"a\\\\u0009b\\\"\",\"type\":\"int\"},"
		      "{\"language\":\"r\",\"name\":\"a b\",\"type\":\"int\"},"
		      "{\"language\":\"r\",\"name\":\"\\\"\\\"\",\"type\":\"int\"}]");
}

static void more_fields_than_there_are_names_for_are_dropped(void **state)
{
	(void)state;
	assert_parsed("a\tb\tc\td\te\tf\tg", 9,
		      "[{\"language\":\"r\",\"name\":\"a\",\"type\":\"b\",\"shape\":\"c\","
		      "\"bytes\":\"d\",\"value\":\"e\"}]");
}

static void lines_beyond_the_limit_are_counted(void **state)
{
	(void)state;
	assert_parsed("a\nb\nc\nd\n", 1, "[{\"language\":\"r\",\"name\":\"a\"}]");
	assert_int_equal(left_out, 3);
}

static void a_field_of_a_megabyte_is_cut(void **state)
{
	size_t len = (size_t)1 << 20;
	char *line = malloc(len + 1);
	char *text;

	(void)state;
	memset(line, '\\', len);
	line[len] = '\0';
	text = parse(line, 9);
	assert_true(strlen(text) < 400);
	free(text);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_fields_are_left_out),
		cmocka_unit_test(escapes_are_undone_before_cleaning),
		cmocka_unit_test(names_are_told_apart),
		cmocka_unit_test(more_fields_than_there_are_names_for_are_dropped),
		cmocka_unit_test(lines_beyond_the_limit_are_counted),
		cmocka_unit_test(a_field_of_a_megabyte_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
