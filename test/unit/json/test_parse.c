/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

static json_t *parse(const char *text, struct err *err)
{
	return json_parse(text, strlen(text), err);
}

static void integers_keep_all_64_bits(void **state)
{
	struct err err;
	cleanup_json json_t *list = parse("[9223372036854775807,-9223372036854775808]", &err);

	(void)state;
	assert_true(json_integer_value(json_array_get(list, 0)) == INT64_MAX);
	assert_true(json_integer_value(json_array_get(list, 1)) == INT64_MIN);
}

static void nul_is_allowed_in_strings(void **state)
{
	struct err err;
	cleanup_json json_t *text = parse("\"a\\u0000b\"", &err);

	(void)state;
	assert_int_equal(json_string_length(text), 3);
	assert_memory_equal(json_string_value(text), "a\0b", 3);
}

static void bad_text_is_invalid_with_a_reason(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"nope",
		"1 2",
		"\"\377\"",
		"{\"a\":1,\"a\":2}",
		"[1,",
		"{1}",
		"{\"\\u0000\":1}",
		"92233720368547758080",
		"1e999",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err err = { .code = ERR_NONE };

		if (parse(texts[i], &err) != NULL)
			fail_msg("taken: %s", texts[i]);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.msg, "at byte"));
	}
}

static void utf16_is_named(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ "\xff\xfe[\0001\0]\0", 8 },
		{ "\xfe\xff\0[\0001\0]", 8 },
		{ "[\0001\0]\0", 6 },
		{ "\0[\0001\0]", 6 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { .code = ERR_NONE };

		assert_null(json_parse(cases[i].text, cases[i].len, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.msg, "UTF-16, where UTF-8 is needed"));
	}
}

static void halves_of_pairs_are_replaced(void **state)
{
	static const struct {
		const char *text;
		const char *value;
	} cases[] = {
		{ "\"\\ud83d\"", "\xef\xbf\xbd" },
		{ "\"a\\uDe00b\"", "a\xef\xbf\xbd"
				   "b" },
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
		{ "\"\\ud83d\\n\"", "\xef\xbf\xbd\n" },
		{ "\"\\\\ud83d\"", "\\ud83d" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err;
		cleanup_json json_t *value = parse(cases[i].text, &err);

		assert_non_null(value);
		assert_string_equal(json_string_value(value), cases[i].value);
	}
	assert_null(json_parse_mended("\"\\ud83", 6));
	assert_null(json_parse_mended("\"\\", 2));
	assert_null(json_parse_mended("", 0));
}

static void bytes_that_are_no_utf8_are_replaced_when_asked_for(void **state)
{
	cleanup_json json_t *value = json_parse_mended("{\"id\":7,\"a\":\"x\377\"}", 17);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(value, "id")), 7);
	assert_string_equal(json_string_value(json_object_get(value, "a")), "x\xef\xbf\xbd");
}

static void numbers_that_are_too_large_are_null_when_asked_for(void **state)
{
	static const char *const cases[][2] = {
		{ "[9223372036854775807]", "[9223372036854775807]" },
		{ "[9223372036854775808]", "[null]" },
		{ "[-9223372036854775809,1]", "[null,1]" },
		{ "[1e999,-1e999,1.5]", "[null,null,1.5]" },
		{ "{\"9223372036854775808\":\"1e999\"}", "{\"9223372036854775808\":\"1e999\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_json json_t *value = json_parse_mended(cases[i][0], strlen(cases[i][0]));
		cleanup_free char *text = json_write_text(value);

		assert_string_equal(text, cases[i][1]);
	}
	assert_null(json_parse_mended("[1-]", 4));
	assert_null(json_parse_mended("[01]", 4));
	assert_null(json_parse_mended("-", 1));
}

static void nesting_has_a_cap(void **state)
{
	static char deep[100000];
	struct err err;
	json_t *value;

	(void)state;
	memset(deep, '[', 2000);
	memset(deep + 2000, ']', 2000);
	value = json_parse(deep, 4000, &err);
	assert_non_null(value);
	json_decref(value);
	memset(deep, '[', sizeof(deep));
	assert_null(json_parse(deep, sizeof(deep), &err));
	assert_int_equal(err.code, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_keep_all_64_bits),
		cmocka_unit_test(nul_is_allowed_in_strings),
		cmocka_unit_test(bad_text_is_invalid_with_a_reason),
		cmocka_unit_test(utf16_is_named),
		cmocka_unit_test(halves_of_pairs_are_replaced),
		cmocka_unit_test(bytes_that_are_no_utf8_are_replaced_when_asked_for),
		cmocka_unit_test(numbers_that_are_too_large_are_null_when_asked_for),
		cmocka_unit_test(nesting_has_a_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
