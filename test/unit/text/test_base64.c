/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/base64.h"

struct pair {
	const char *plain;
	const char *coded;
};

/* RFC 4648, section 10. */
static const struct pair pairs[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xfb\xff\xbf", "+/+/" },
};

static void the_examples_of_the_rfc_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		cleanup_buf struct buf out;
		struct err err;

		buf_init(&out, 100);
		base64_encode(&out, pairs[i].plain, strlen(pairs[i].plain));
		assert_string_equal(buf_str(&out), pairs[i].coded);
		assert_int_equal(out.len, base64_encoded_len(strlen(pairs[i].plain)));
		buf_clear(&out);
		assert_int_equal(base64_decode(&out, pairs[i].coded, strlen(pairs[i].coded), &err),
				 0);
		assert_string_equal(buf_str(&out), pairs[i].plain);
	}
}

static void every_length_survives_a_round_trip(void **state)
{
	unsigned char data[10000];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
	for (size_t len = 0; len <= sizeof(data); len += len < 20 ? 1 : 499) {
		cleanup_buf struct buf coded;
		cleanup_buf struct buf plain;
		struct err err;

		buf_init(&coded, BUF_UNBOUNDED);
		buf_init(&plain, BUF_UNBOUNDED);
		base64_encode(&coded, data, len);
		assert_int_equal(coded.len, base64_encoded_len(len));
		assert_int_equal(base64_decode(&plain, buf_str(&coded), coded.len, &err), 0);
		assert_int_equal(plain.len, len);
		assert_memory_equal(buf_str(&plain), data, len);
	}
}

static void blanks_are_skipped(void **state)
{
	static const char coded[] = " Zm9v\r\nYm\tFy \n";
	cleanup_buf struct buf out;
	struct err err;

	(void)state;
	buf_init(&out, 100);
	assert_int_equal(base64_decode(&out, coded, sizeof(coded) - 1, &err), 0);
	assert_string_equal(buf_str(&out), "foobar");
}

static void wrong_text_is_refused_and_adds_nothing(void **state)
{
	static const char *const bad[] = { "Z",        "Zg",   "Zg=",   "Zg===",  "Z===",
					   "=",        "====", "Zm9v=", "Zh==",   "Zm9=",
					   "Zg==Zg==", "Zm-v", "Zm_v",  "data:,", "Zm9v\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_buf struct buf out;
		struct err err = { 0 };

		print_message("%s\n", bad[i]);
		buf_init(&out, 100);
		buf_puts(&out, "before");
		assert_int_equal(base64_decode(&out, bad[i], strlen(bad[i]), &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_string_equal(buf_str(&out), "before");
	}
}

static void more_than_the_buffer_takes_is_a_limit(void **state)
{
	cleanup_buf struct buf out;
	struct err err = { 0 };

	(void)state;
	buf_init(&out, 4);
	assert_int_equal(base64_decode(&out, "Zm9vYmFy", 8, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_rfc_hold),
		cmocka_unit_test(every_length_survives_a_round_trip),
		cmocka_unit_test(blanks_are_skipped),
		cmocka_unit_test(wrong_text_is_refused_and_adds_nothing),
		cmocka_unit_test(more_than_the_buffer_takes_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
