/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "text/invisible.h"
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

static void assert_real_is_kept(double value)
{
	cleanup_json json_t *object = json_object();
	cleanup_json json_t *back = NULL;
	cleanup_free char *text = NULL;
	cleanup_buf struct buf sorted = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	json_put_real(object, "x", value);
	text = json_write_text(object);
	back = json_parse(text, strlen(text), &err);
	assert_non_null(back);
	assert_true(json_real_value(json_object_get(back, "x")) == value);
	assert_int_equal(json_write_sorted(&sorted, object, &err), 0);
	assert_string_equal(buf_str(&sorted), text);
}

static void every_real_reads_back_as_itself(void **state)
{
	static const double odd[] = { 0.1 + 0.2, 1.0 / 3,      DBL_MAX, -DBL_MAX,
				      DBL_MIN,   DBL_TRUE_MIN, 1e22,    1e23,
				      -0.0,      5e-324,       0.1,     123456789012345678.0,
				      1e15 + 0.5 };
	uint64_t bits = 88172645463325252U;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_real_is_kept(odd[i]);
	for (int i = 0; i < 20000; i++) {
		double value;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			assert_real_is_kept(value);
	}
}

/* The short way for durations writes what jansson does. */
static void microseconds_are_written_as_other_reals(void **state)
{
	static const uint64_t edges[] = {
		0, 1, 99, 100, 101, 999999, 1000000, 10000000, 999999999999999, 1000000000000000
	};
	uint64_t bits = 88172645463325252U;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		assert_real_is_kept((double)edges[i] / 1e6);
	for (int i = 0; i < 20000; i++) {
		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		assert_real_is_kept((double)(bits % 3000000) / 1e6);
		assert_real_is_kept((double)(bits % 1000000000000000) / 1e6);
		assert_real_is_kept((double)(bits % 1000000000000000) / 1e7);
	}
}

static void integers_are_written_whole(void **state)
{
	(void)state;
	cleanup_json json_t *array = json_pack("[I,I,I,I]", (json_int_t)0, (json_int_t)-10,
					       (json_int_t)INT64_MAX, (json_int_t)INT64_MIN);

	assert_written(array, "[0,-10,9223372036854775807,-9223372036854775808]");
}

static bool is_unseen(uint32_t cp)
{
	return (cp >= 0x7f && cp <= 0x9f) || cp == 0x2028 || cp == 0x2029 || invisible_hides(cp);
}

/* Makes a string of every visible code point, or of all of them. */
static json_t *all_of_unicode(bool unseen)
{
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *value;

	for (uint32_t cp = 1; cp <= 0x10ffff; cp++) {
		char bytes[4];

		if ((cp < 0xd800 || cp > 0xdfff) && (unseen || !is_unseen(cp)))
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
	json_put(object, "all", all_of_unicode(false));
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

static void what_nobody_sees_is_escaped_and_stays(void **state)
{
	cleanup_json json_t *all = all_of_unicode(true);
	cleanup_json json_t *shown =
		json_make_str("می\u200cخواهم \U000e0041 \u202e \xc2\x85 ❤\ufe0f\ufe0f 👨\u200d👩");
	cleanup_free char *text = json_write_text(all);
	cleanup_json json_t *back = json_parse_const(text);

	(void)state;
	assert_true(json_equal(back, all));
	assert_written(shown,
		       "\"می\u200cخواهم \\uDB40\\uDC41 \\u202E \\u0085 ❤\ufe0f\\uFE0F 👨\u200d👩\"");
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
		cmocka_unit_test(every_real_reads_back_as_itself),
		cmocka_unit_test(microseconds_are_written_as_other_reals),
		cmocka_unit_test(integers_are_written_whole),
		cmocka_unit_test(what_nobody_sees_is_escaped_and_stays),
		cmocka_unit_test(our_text_is_janssons_byte_by_byte),
		cmocka_unit_test(passing_the_maximum_is_a_limit),
		cmocka_unit_test(sorted_text_is_equal_for_equal_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
