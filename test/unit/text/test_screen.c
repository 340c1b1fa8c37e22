/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "golden.h"
#include "text/escape.h"
#include "text/sanitize.h"
#include "text/screen.h"
#include "text/utf8.h"

static bool update;
static struct screen *screen;
static struct buf out;

static int start(void **state)
{
	(void)state;
	screen = screen_new();
	buf_init(&out, BUF_UNBOUNDED);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	screen_free(screen);
	buf_release(&out);
	return 0;
}

static void feed(const char *s)
{
	screen_feed(screen, s, strlen(s));
}

static void feed_times(const char *s, size_t times)
{
	while (times-- > 0)
		feed(s);
}

static const char *text(void)
{
	buf_clear(&out);
	screen_text(screen, &out);
	return buf_str(&out);
}

static const char *answers(void)
{
	buf_clear(&out);
	screen_take_answers(screen, &out);
	return buf_str(&out);
}

static void render(const char *in, size_t len, struct buf *ret_out)
{
	struct screen *own = screen_new();

	screen_feed(own, in, len);
	screen_text(own, ret_out);
	screen_free(own);
}

static void render_bytewise(const char *in, size_t len, struct buf *ret_out)
{
	struct screen *own = screen_new();

	for (size_t i = 0; i < len; i++)
		screen_feed(own, in + i, 1);
	screen_text(own, ret_out);
	screen_free(own);
}

static void render_cleaned(const char *in, size_t len, struct buf *ret_out)
{
	cleanup_buf struct buf once;

	buf_init(&once, BUF_UNBOUNDED);
	render(in, len, &once);
	assert_true(utf8_valid(once.data, once.len));
	sanitize_block(ret_out, buf_str(&once), once.len);
}

/* Replaces the screen after each third by a new one that is fed the old one's state. */
static void render_retold(const char *in, size_t len, struct buf *ret_out)
{
	struct screen *own = screen_new();
	size_t from = 0;

	for (size_t third = 1; third <= 3; third++) {
		cleanup_buf struct buf state = BUF_INIT(BUF_UNBOUNDED);
		size_t to = third * len / 3;

		to -= third < 3 ? escape_unfinished(in, to) : 0;
		screen_feed(own, in + from, to - from);
		from = to;
		if (third == 3 || !screen_retell(own, &state))
			continue;
		screen_free(own);
		own = screen_new();
		screen_feed(own, state.data, state.len);
	}
	screen_text(own, ret_out);
	screen_free(own);
}

static void golden_output_is_what_a_person_saw(void **state)
{
	(void)state;
	golden_each("screen", render, update);
}

static void golden_output_is_the_same_in_single_bytes(void **state)
{
	(void)state;
	golden_each("screen", render_bytewise, false);
}

static void golden_output_is_the_same_when_it_is_retold(void **state)
{
	(void)state;
	golden_each("screen", render_retold, false);
}

static void golden_output_has_nothing_left_to_clean(void **state)
{
	(void)state;
	golden_each("screen", render_cleaned, false);
}

static void tt13_queries_are_answered_once(void **state)
{
	(void)state;
	feed("one\ntwo\x1b[6n");
	assert_string_equal(answers(), "\x1b[2;4R");
	assert_string_equal(answers(), "");
	feed("\x1b[999;999H\x1b[6n\x1b[5n\x1b[c\x1b[>0c");
	assert_string_equal(answers(), "\x1b[40;120R\x1b[0n\x1b[?1;2c\x1b[>0;0;0c");
}

static void answers_themselves_are_no_queries(void **state)
{
	(void)state;
	feed("\x1b[?1;2c\x1b[>0;0;0c\x1b[0n\x1b[1;1R\x1b[?6n\x1b[4$p\x1b[=c");
	assert_string_equal(answers(), "");
}

static void a_flood_of_queries_gets_few_answers(void **state)
{
	(void)state;
	feed_times("\x1b[6n", 100000);
	assert_in_range(strlen(answers()), 6, 1000);
}

static void the_last_line_is_where_the_cursor_stands(void **state)
{
	(void)state;
	screen_last_line(screen, &out);
	assert_string_equal(buf_str(&out), "");
	feed("log\nName: ");
	screen_last_line(screen, &out);
	assert_string_equal(buf_str(&out), "Name:");
	buf_clear(&out);
	feed("\x1b[5B");
	screen_last_line(screen, &out);
	assert_string_equal(buf_str(&out), "");
}

static void a_cut_character_shows_until_it_is_whole(void **state)
{
	(void)state;
	feed("a\xe2\x82");
	assert_string_equal(text(), "a\xef\xbf\xbd");
	feed("\xac");
	assert_string_equal(text(), "a\xe2\x82\xac");
}

static void the_alternate_screen_is_noted_once_for_neighbours(void **state)
{
	const char *note;

	(void)state;
	feed("a");
	feed_times("\x1b[?1049hsecret\n\x1b[6n\x1b[?1049l", 1000);
	feed("b\n");
	note = strstr(text(), "full-screen");
	assert_non_null(note);
	assert_null(strstr(note + 1, "full-screen"));
	assert_null(strstr(buf_str(&out), "secret"));
	assert_non_null(strstr(buf_str(&out), "\nb\n"));
}

static void a_program_that_redraws_leaves_its_last_picture(void **state)
{
	(void)state;
	feed("result\n");
	for (int i = 0; i < 5000; i++) {
		char frame[64];

		(void)snprintf(frame, sizeof(frame), "\x1b[H\x1b[2Jtick %d\n", i);
		feed(frame);
	}
	assert_string_equal(text(), "result\ntick 4999\n");
}

static void a_line_of_a_megabyte_stays_whole(void **state)
{
	const size_t len = 1000000;
	cleanup_free char *line = xcalloc(len + 1, 1);

	(void)state;
	memset(line, 'x', len);
	feed(line);
	assert_int_equal(strlen(text()), len);
}

static void longer_lines_go_on_in_the_next(void **state)
{
	const size_t len = SCREEN_COLUMNS_MAX + 10;
	cleanup_free char *line = xcalloc(len + 1, 1);
	const char *newline;

	(void)state;
	memset(line, 'x', len);
	feed(line);
	newline = strchr(text(), '\n');
	assert_non_null(newline);
	assert_int_equal(newline - out.data, SCREEN_COLUMNS_MAX);
	assert_int_equal(strlen(newline + 1), 10);
}

static void cursor_moves_to_far_places_stay_bounded(void **state)
{
	(void)state;
	feed("\x1b[999999999;999999999Hx\x1b[999999999Cy\x1b[999999999@\x1b[999999999B\n");
	assert_in_range(strlen(text()), 4096, 3 * 4096);
}

static void dropped_lines_are_counted(void **state)
{
	unsigned long lost;

	(void)state;
	feed_times("\x1b[4096Gx\n", 5000);
	assert_int_equal(sscanf(text(), "[... %lu earlier lines left out ...]\n", &lost), 1);
	assert_in_range(lost, 1, 4999);
	assert_in_range(out.len, 1, SCREEN_CELLS_MAX);
	feed("\x1b[40A\x1b[2Jend");
	assert_string_equal(strrchr(text(), '\n'), "\nend");
}

static void filling_the_page_from_below_stays_bounded(void **state)
{
	const size_t len = SCREEN_COLUMNS_MAX;
	cleanup_free char *line = xcalloc(len + 1, 1);

	(void)state;
	memset(line, 'x', len);
	feed("\x1b[40;1H");
	for (int i = 0; i < 40; i++) {
		feed(line);
		feed("\r\x1b[A");
	}
	assert_in_range(strlen(text()), len, SCREEN_CELLS_MAX);
}

static void marks_piled_on_one_character_are_cut(void **state)
{
	(void)state;
	feed("e");
	feed_times("\xcc\x81", 100000);
	feed("z");
	assert_in_range(strlen(text()), 4, 64);
	assert_int_equal(out.data[out.len - 1], 'z');
}

static void an_alternate_screen_without_text_is_not_noted(void **state)
{
	(void)state;
	feed("a\n\x1b[?1049h\x1b[1;40r\x1b[2J\x1b[H\n\x1b[?1049l\x1b[2;1Hbox\n");
	assert_string_equal(text(), "a\nbox\n");
}

static void a_screen_that_goes_on_in_the_alternate_shows_only_what_follows(void **state)
{
	(void)state;
	screen_set_alternate(screen, true);
	feed("\x1b[40;1H\x1b[K:q!\r\x1b[40;1H");
	screen_last_line(screen, &out);
	assert_string_equal(buf_str(&out), "");
	assert_string_equal(text(), "");
	assert_true(screen_is_alternate(screen));
	feed("\x1b[?1049l\x1b[?25hbash$ ");
	assert_string_equal(text(), "bash$");
	assert_false(screen_is_alternate(screen));
}

static void nothing_that_is_not_seen_gets_lost(void **state)
{
	const char *at;
	size_t count = 0;

	(void)state;
	feed("می\xe2\x80\x8cخواهم x");
	feed_times("\xe2\x80\x8b", 1000);
	feed("\n\xe2\x80\x8by");
	at = text();
	assert_ptr_equal(strstr(at, "می\xe2\x80\x8cخواهم x<U+200B>"), at);
	while ((at = strstr(at, "<U+200B>")) != NULL) {
		count++;
		at++;
	}
	assert_int_equal(count, 1001);
	assert_non_null(strstr(buf_str(&out), "\n<U+200B>y"));
}

#define screen_test(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_output_is_what_a_person_saw),
		cmocka_unit_test(golden_output_is_the_same_in_single_bytes),
		cmocka_unit_test(golden_output_is_the_same_when_it_is_retold),
		cmocka_unit_test(golden_output_has_nothing_left_to_clean),
		screen_test(tt13_queries_are_answered_once),
		screen_test(answers_themselves_are_no_queries),
		screen_test(a_flood_of_queries_gets_few_answers),
		screen_test(the_last_line_is_where_the_cursor_stands),
		screen_test(a_cut_character_shows_until_it_is_whole),
		screen_test(the_alternate_screen_is_noted_once_for_neighbours),
		screen_test(a_program_that_redraws_leaves_its_last_picture),
		screen_test(a_line_of_a_megabyte_stays_whole),
		screen_test(longer_lines_go_on_in_the_next),
		screen_test(cursor_moves_to_far_places_stay_bounded),
		screen_test(dropped_lines_are_counted),
		screen_test(filling_the_page_from_below_stays_bounded),
		screen_test(marks_piled_on_one_character_are_cut),
		screen_test(an_alternate_screen_without_text_is_not_noted),
		screen_test(a_screen_that_goes_on_in_the_alternate_shows_only_what_follows),
		screen_test(nothing_that_is_not_seen_gets_lost),
	};

	update = golden_wants_update(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
