/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

static void indented_text_keeps_the_order_and_ends_without_a_newline(void **state)
{
	static const char text[] = "{\n  \"b\": [\n    1,\n    \"\xc3\xa9\"\n  ],\n  \"a\": {}\n}";
	cleanup_json json_t *value = json_parse_const("{\"b\":[1,\"\\u00e9\"],\"a\":{}}");
	cleanup_buf struct buf out;
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 1000);
	assert_int_equal(json_write_indented(&out, value, &err), 0);
	assert_string_equal(buf_str(&out), text);
}

static void indented_text_past_the_maximum_is_an_error(void **state)
{
	cleanup_json json_t *value = json_parse_const("[1,2,3]");
	cleanup_buf struct buf out;
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 5);
	assert_int_equal(json_write_indented(&out, value, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indented_text_keeps_the_order_and_ends_without_a_newline),
		cmocka_unit_test(indented_text_past_the_maximum_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
