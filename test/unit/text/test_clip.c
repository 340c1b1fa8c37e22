/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/clip.h"
#include "text/utf8.h"

struct clip_case {
	const char *name;
	const char *in;
	size_t max;
	const char *out;
	size_t shown;
};

static const struct clip_case cases[] = {
	{ "fits", "123456789", 9, "123456789", 9 },
	{ "empty", "", 0, "", 0 },
	{ "no line border", "abcdefghijklmnop", 9, "abcdef\n[... 7 characters left out ...]\nnop",
	  9 },
	{ "nothing allowed", "abc", 0, "[... 3 characters left out ...]\n", 0 },
	{ "borders far away", "a\nbcdefghijklmnopqrstuvwxyz\n0", 12,
	  "a\nbcdefg\n[... 17 characters left out ...]\nyz\n0", 12 },
	{ "borders near", "aaaaaaa\nbbbbbbbbbbbbbbbbbbbb\nccc", 12,
	  "aaaaaaa\n[... 21 characters left out ...]\nccc", 11 },
	{ "other letters", "\xc3\xa9\xc3\xa8\xc3\xa0\xc3\xb9\xc3\xa7", 3,
	  "\xc3\xa9\xc3\xa8\n[... 2 characters left out ...]\n\xc3\xa7", 3 },
};

static void a_long_text_becomes_head_and_tail(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct clip_case *row = &cases[i];
		cleanup_buf struct buf out;

		print_message("%s\n", row->name);
		buf_init(&out, BUF_UNBOUNDED);
		assert_int_equal(clip_text(&out, row->in, strlen(row->in), row->max), row->shown);
		assert_string_equal(buf_str(&out), row->out);
	}
}

static void every_budget_is_kept_and_counted_right(void **state)
{
	static const char text[] =
		"one\ntwo \xe2\x82\xac\nthree \xf0\x9f\x98\x80\nfour\nfive six\n";
	const size_t len = sizeof(text) - 1;
	const size_t total = utf8_count(text, len);

	(void)state;
	for (size_t max = 0; max < total; max++) {
		cleanup_buf struct buf out;
		const char *marker;
		size_t shown;
		size_t left_out;

		buf_init(&out, BUF_UNBOUNDED);
		shown = clip_text(&out, text, len, max);
		assert_in_range(shown, 0, max);
		assert_true(utf8_valid(out.data, out.len));
		marker = strstr(buf_str(&out), "[... ");
		assert_non_null(marker);
		left_out = (size_t)strtoul(marker + 5, NULL, 10);
		assert_int_equal(left_out, total - shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_text_becomes_head_and_tail),
		cmocka_unit_test(every_budget_is_kept_and_counted_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
