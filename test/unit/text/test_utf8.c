/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/utf8.h"

#define BAD "\xef\xbf\xbd"

struct repair_case {
	const char *name;
	const char *in;
	const char *out;
};

/* The rows with several replacements are examples of Unicode 15, section 3.9. */
static const struct repair_case repair_cases[] = {
	{ "empty", "", "" },
	{ "ascii", "plain", "plain" },
	{ "two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "stray continuation", "a\x80z", "a" BAD "z" },
	{ "cut at the end", "a\xe2\x82", "a" BAD },
	{ "cut by ascii", "\xe2\x82z", BAD "z" },
	{ "cut by another lead", "\xe2\x82\xc3\xa9", BAD "\xc3\xa9" },
	{ "overlong slash", "\xc0\xaf", BAD BAD },
	{ "overlong three", "\xe0\x80\xaf", BAD BAD BAD },
	{ "surrogate", "\xed\xa0\x80", BAD BAD BAD },
	{ "over the top", "\xf4\x91\x92\x93", BAD BAD BAD BAD },
	{ "never legal", "\xff\xfe", BAD BAD },
	{ "maximal subparts", "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
	  "a" BAD BAD BAD "b" BAD "c" BAD BAD "d" },
};

static void decode_into(struct utf8_decoder *d, struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int32_t cps[2];

		utf8_decode(d, (unsigned char)s[i], &cps[0], &cps[1]);
		for (size_t k = 0; k < 2; k++) {
			char bytes[4];

			if (cps[k] != UTF8_MORE)
				buf_put(out, bytes, utf8_encode((uint32_t)cps[k], bytes));
		}
	}
}

static void ill_formed_parts_become_replacements(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(repair_cases); i++) {
		const struct repair_case *row = &repair_cases[i];
		cleanup_buf struct buf out;

		print_message("%s\n", row->name);
		buf_init(&out, 1000);
		utf8_repair(&out, row->in, strlen(row->in));
		assert_string_equal(buf_str(&out), row->out);
		assert_int_equal(utf8_valid(row->in, strlen(row->in)), str_eq(row->in, row->out));
		assert_true(utf8_valid(row->out, strlen(row->out)));
	}
}

static void a_split_at_every_byte_decodes_as_one_piece(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(repair_cases); i++) {
		const struct repair_case *row = &repair_cases[i];
		struct utf8_decoder d = { 0 };
		cleanup_buf struct buf out;

		print_message("%s\n", row->name);
		buf_init(&out, 1000);
		decode_into(&d, &out, row->in, strlen(row->in));
		if (utf8_decode_end(&d))
			buf_puts(&out, BAD);
		assert_string_equal(buf_str(&out), row->out);
		assert_false(utf8_decode_end(&d));
	}
}

static void every_scalar_value_survives_a_round_trip(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		struct utf8_decoder d = { 0 };
		char bytes[4];
		int32_t first = UTF8_MORE;
		int32_t second;
		size_t len;

		if (cp >= 0xd800 && cp < 0xe000)
			continue;
		len = utf8_encode(cp, bytes);
		for (size_t i = 0; i < len; i++)
			utf8_decode(&d, (unsigned char)bytes[i], &first, &second);
		assert_int_equal(first, cp);
		assert_true(utf8_valid(bytes, len));
	}
}

static void counting_and_cutting_keep_characters_whole(void **state)
{
	static const char s[] = "a\xc3\xa9\xf0\x9f\x98\x80z";
	const size_t len = sizeof(s) - 1;

	(void)state;
	assert_int_equal(utf8_count(s, len), 4);
	assert_int_equal(utf8_count("", 0), 0);
	assert_int_equal(utf8_offset(s, len, 0), 0);
	assert_int_equal(utf8_offset(s, len, 2), 3);
	assert_int_equal(utf8_offset(s, len, 3), 7);
	assert_int_equal(utf8_offset(s, len, 99), len);
}

static void a_border_within_a_character_is_behind_it(void **state)
{
	static const char s[] = "a\xc3\xa9\xf0\x9f\x98\x80z\x80\x80";
	static const size_t borders[] = { 0, 1, 3, 3, 7, 7, 7, 7, 8, 9, 10, 10 };

	(void)state;
	for (size_t at = 0; at < ARRAY_SIZE(borders); at++)
		assert_int_equal(utf8_border(s, sizeof(s) - 1, at), borders[at]);
	assert_int_equal(utf8_border("\xf0\x9f", 2, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ill_formed_parts_become_replacements),
		cmocka_unit_test(a_split_at_every_byte_decodes_as_one_piece),
		cmocka_unit_test(every_scalar_value_survives_a_round_trip),
		cmocka_unit_test(counting_and_cutting_keep_characters_whole),
		cmocka_unit_test(a_border_within_a_character_is_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
