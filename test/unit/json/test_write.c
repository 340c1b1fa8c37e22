/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "text/utf8.h"

static void assert_written(const json_t *value, const char *wanted)
{
	char *text = json_write_text(value);

	assert_string_equal(text, wanted);
	free(text);
}

static void text_is_one_compact_line_in_the_order_of_setting(void **state)
{
	cleanup_json json_t *object = json_object();

	(void)state;
	json_put_str(object, "z", "a\nb\tc\x01\"\\/");
	json_put_int(object, "a", -5);
	json_put_bool(object, "no", false);
	json_put(object, "none", json_null());
	assert_written(object,
		       "{\"z\":\"a\\nb\\tc\\u0001\\\"\\\\/\",\"a\":-5,\"no\":false,\"none\":null}");
}

static void reals_look_as_people_expect(void **state)
{
	cleanup_json json_t *object = json_object();

	(void)state;
	json_put_real(object, "a", 0.1);
	json_put_real(object, "b", 0.42);
	json_put_real(object, "c", 3);
	json_put_real(object, "nan", (double)INFINITY - (double)INFINITY);
	assert_written(object, "{\"a\":0.1,\"b\":0.42,\"c\":3.0,\"nan\":null}");
}

/* A string of every code point that UTF-8 has. */
static json_t *all_of_unicode(void)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *value;

	for (uint32_t cp = 1; cp <= 0x10ffff; cp++) {
		char bytes[4];

		if (cp < 0xd800 || cp > 0xdfff)
			buf_put(&text, bytes, utf8_encode(cp, bytes));
	}
	value = json_stringn(text.data, text.len);
	buf_release(&text);
	return value;
}

static void our_text_is_janssons_byte_by_byte(void **state)
{
	cleanup_json json_t *object = json_object();
	json_t *array = json_array();
	char *wanted;

	(void)state;
	json_put(object, "all", all_of_unicode());
	json_put(object, "nul", json_stringn("a\0b", 3));
	json_put(object, "k\"e\ny", array);
	json_append(array, json_object());
	json_append(array, json_array());
	json_append(array, json_real(1e300));
	json_append(array, json_real(-0.5));
	json_append(array, json_integer(INT64_MIN));
	json_append(array, json_true());
	json_append(array, json_null());
	wanted = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
	assert_written(object, wanted);
	free(wanted);
}

static void passing_the_maximum_is_a_limit(void **state)
{
	cleanup_json json_t *text = json_make_str("0123456789");
	struct err err;
	struct buf out;

	(void)state;
	buf_init(&out, 11);
	assert_int_equal(json_write(&out, text, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	buf_release(&out);
	buf_init(&out, 12);
	assert_int_equal(json_write(&out, text, &err), 0);
	buf_release(&out);
}

static void sorted_text_is_equal_for_equal_values(void **state)
{
	cleanup_json json_t *a = json_parse_const("{\"x\":{\"b\":1,\"a\":[2]},\"c\":3}");
	cleanup_json json_t *b = json_parse_const("{\"c\":3,\"x\":{\"a\":[2],\"b\":1}}");
	struct buf out_a;
	struct buf out_b;
	struct err err;

	(void)state;
	buf_init(&out_a, BUF_UNBOUNDED);
	buf_init(&out_b, BUF_UNBOUNDED);
	assert_int_equal(json_write_sorted(&out_a, a, &err), 0);
	assert_int_equal(json_write_sorted(&out_b, b, &err), 0);
	assert_string_equal(buf_str(&out_a), buf_str(&out_b));
	buf_release(&out_a);
	buf_release(&out_b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_one_compact_line_in_the_order_of_setting),
		cmocka_unit_test(reals_look_as_people_expect),
		cmocka_unit_test(our_text_is_janssons_byte_by_byte),
		cmocka_unit_test(passing_the_maximum_is_a_limit),
		cmocka_unit_test(sorted_text_is_equal_for_equal_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
