/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/truncate.h"
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
		assert_int_equal(truncate_text(&out, row->in, strlen(row->in), row->max),
				 row->shown);
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
		shown = truncate_text(&out, text, len, max);
		assert_in_range(shown, 0, max);
		assert_true(utf8_valid(out.data, out.len));
		marker = strstr(buf_str(&out), "[... ");
		assert_non_null(marker);
		left_out = (size_t)strtoul(marker + 5, NULL, 10);
		assert_int_equal(left_out, total - shown);
	}
}

#define GERMANY "\U0001F1E9\U0001F1EA"
#define FRANCE "\U0001F1EB\U0001F1F7"
#define FAMILY "\U0001F468\u200d\U0001F469\u200d\U0001F467"
#define THUMB "\U0001F44D\U0001F3FD"
#define ACCENT "e\u0301"
#define KSHI "\u0915\u094d\u0937\u093f"      /* Devanagari */
#define QYA "\u0915\u093c\u094d\u092f"       /* with a nukta */
#define SRI "\u0dc1\u0dca\u200d\u0dbb\u0dd3" /* Sinhala */

static void assert_all_are_whole(const struct buf *clipped, size_t max)
{
	static const char *const seen[] = { GERMANY, FRANCE, FAMILY, THUMB, ACCENT,
					    KSHI,    QYA,    SRI,    "x" };

	for (const char *at = buf_str(clipped); *at != '\0';) {
		size_t len = at[0] == '[' ? strcspn(at, "\n") + 1 : 0;

		for (size_t i = 0; i < ARRAY_SIZE(seen) && len == 0; i++)
			if (strncmp(at, seen[i], strlen(seen[i])) == 0)
				len = strlen(seen[i]);
		len += len == 0 && at[0] == '\n';
		if (len == 0)
			fail_msg("%zu: a part of one at '%s'", max, at);
		at += len;
	}
}

static void assert_clips_are_whole(const struct buf *text)
{
	size_t total = utf8_count(text->data, text->len);

	for (size_t max = 0; max < total; max++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		assert_in_range(truncate_text(&out, text->data, text->len, max), 0, max);
		assert_all_are_whole(&out, max);
	}
}

/* With any budget a grapheme cluster is whole or gone. */
static void no_cut_is_within_a_character_that_is_seen(void **state)
{
	static const char *const seen[] = { GERMANY, FRANCE, FAMILY, THUMB, ACCENT,
					    KSHI,    QYA,    SRI,    "x" };
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < 60; i++)
		buf_puts(&text, seen[i * i % ARRAY_SIZE(seen)]);
	assert_clips_are_whole(&text);
}

/* Their letters look alike: which two belong together is counted from the first. */
static void a_row_of_flags_is_cut_between_flags(void **state)
{
	(void)state;
	for (size_t before = 0; before < 5; before++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

		for (size_t i = 0; i < before; i++)
			buf_puts(&text, "x");
		for (size_t i = 0; i < TRUNCATE_GRAPHEME_MAX / 2; i++)
			buf_puts(&text, GERMANY);
		assert_clips_are_whole(&text);
	}
}

static void one_that_is_longer_than_the_limit_is_cut(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&text, "e");
	for (size_t i = 0; i < 4 * TRUNCATE_GRAPHEME_MAX; i++)
		buf_puts(&text, "\u0301");
	assert_int_equal(truncate_text(&out, text.data, text.len, 3 * TRUNCATE_GRAPHEME_MAX),
			 3 * TRUNCATE_GRAPHEME_MAX);
	assert_true(utf8_valid(out.data, out.len));
}

/* Also where the middle is not at hand: no part of a line is taken for another line. */
static void ends_are_whole_lines(void **state)
{
	cleanup_buf struct buf head = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (int i = 0; i < 100; i++)
		buf_putf(&head, "head %d\n", i);
	buf_puts(&tail, "1");
	for (int i = 0; i < 100; i++)
		buf_putf(&tail, "tail %d\n", i);
	for (size_t max = 40; max < 1200; max++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		size_t shown = truncate_ends(&out, &head, &tail, 5000, max);
		const char *line = buf_str(&out);
		int number;

		assert_in_range(shown, max / 3, max);
		for (; *line != '\0'; line = strchr(line, '\n') + 1)
			assert_true(sscanf(line, "head %d\n", &number) == 1 ||
				    sscanf(line, "tail %d\n", &number) == 1 ||
				    sscanf(line, "[... %d characters left out", &number) == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cut_is_within_a_character_that_is_seen),
		cmocka_unit_test(a_row_of_flags_is_cut_between_flags),
		cmocka_unit_test(one_that_is_longer_than_the_limit_is_cut),
		cmocka_unit_test(ends_are_whole_lines),
		cmocka_unit_test(a_long_text_becomes_head_and_tail),
		cmocka_unit_test(every_budget_is_kept_and_counted_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
