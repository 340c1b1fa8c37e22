/* SPDX-License-Identifier: MIT */
/* test_transcript_bars.c - more output than head and tail hold, most of which was overwritten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SPOOL_MAX = 1 << 22 };

#include "transcript_fixture.h"

static void feed_lines(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *line = xasprintf("line %zu has some words\n", i);

		feed(line);
	}
}

static struct transcript_text render(size_t max_chars)
{
	buf_clear(&out);
	return transcript_render(t, max_chars, NULL, &out, NULL);
}

#define TEXT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void a_progress_bar_of_any_length_is_its_last_state(void **state)
{
	struct transcript_text text;

	(void)state;
	feed("begin\n");
	for (size_t i = 0; i <= 20000; i++) {
		cleanup_free char *bar = xasprintf("\r%5zu of 20000 |%-40.*s|", i, (int)(i / 500),
						   "########################################");

		feed(bar);
	}
	feed("\nend\n");
	text = render(8000);
	assert_string_equal(
		buf_str(&out),
		"begin\n20000 of 20000 |########################################|\nend\n");
	assert_int_equal(text.shown, text.total);
	assert_null(transcript_spool_path(t));
}

static void bars_below_each_other_are_their_last_state(void **state)
{
	(void)state;
	for (size_t i = 0; i <= 5000; i++) {
		cleanup_free char *bars =
			xasprintf("\router %5zu\n\rinner \xe2\x96\x88 %5zu\033[A", i / 10, i);

		feed(bars);
	}
	feed("\n\nend\n");
	(void)render(8000);
	assert_string_equal(buf_str(&out), "outer   500\ninner \xe2\x96\x88  5000\nend\n");
}

static void lines_before_and_behind_a_long_bar_are_whole(void **state)
{
	const char *note;

	(void)state;
	feed_lines(1000);
	for (size_t i = 0; i <= 20000; i++) {
		cleanup_free char *bar = xasprintf("\r%5zu of 20000", i);

		feed(bar);
	}
	feed("\n");
	feed_lines(6000);
	(void)render(100000);
	note = strstr(out.data, "characters left out");
	assert_non_null(note);
	assert_non_null(strstr(out.data, "\n20000 of 20000\n"));
	assert_ptr_equal(strstr(out.data, " of 20000"), strstr(out.data, "\n20000 of 20000\n") + 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEXT_TEST(a_progress_bar_of_any_length_is_its_last_state),
		TEXT_TEST(bars_below_each_other_are_their_last_state),
		TEXT_TEST(lines_before_and_behind_a_long_bar_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
