/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/panel.h"
#include "text/screen.h"

#define ON "\033[?1049h"
#define OFF "\033[?1049l"

static struct panel *panel;
static struct buf out;

static int start(void **state)
{
	(void)state;
	panel = panel_new();
	buf_init(&out, BUF_UNBOUNDED);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	panel_free(panel);
	buf_release(&out);
	return 0;
}

static void feed(const char *s)
{
	panel_feed(panel, s, strlen(s));
}

static const char *text(void)
{
	buf_clear(&out);
	panel_text(panel, &out);
	return buf_str(&out);
}

static void only_the_alternate_screen_is_looked_at(void **state)
{
	(void)state;
	feed("shell$ vim\r\n" ON "\033[2;3Hin\033[Kside");
	assert_string_equal(text(), "\n  inside\n");
	assert_int_equal(panel_line(panel), 2);
	assert_int_equal(panel_column(panel), 9);
	feed(OFF "out" ON);
	assert_string_equal(text(), "");
}

static void lines_wrap_once_the_next_character_comes(void **state)
{
	(void)state;
	feed(ON "\033[1;119Hab");
	assert_int_equal(panel_line(panel), 1);
	assert_int_equal(panel_column(panel), SCREEN_COLUMNS);
	feed("c\033[5b");
	assert_non_null(strstr(text(), "ab\ncccccc\n"));
	feed("\b\b\033[1;119H\033[@x\033[2;1H\033[2P\033[2X");
	assert_non_null(strstr(text(), "xa\n  cc\n"));
}

static void a_region_scrolls_and_what_is_around_it_stays(void **state)
{
	(void)state;
	feed(ON "head\r\n1\r\n2\r\n3\r\nfoot\033[2;4r\033[4;1H\nnew");
	assert_string_equal(text(), "head\n2\n3\nnew\nfoot\n");
	feed("\033[2;1H\033Mup");
	assert_string_equal(text(), "head\nup\n2\n3\nfoot\n");
	feed("\033[3;1H\033[L");
	assert_string_equal(text(), "head\nup\n\n2\nfoot\n");
	feed("\033[2;1H\033[9M\033[5;1H\033[M");
	assert_string_equal(text(), "head\n\n\n\nfoot\n");
	feed("\033[3;1Hx\033[S");
	assert_string_equal(text(), "head\nx\n\n\nfoot\n");
	feed("\033[2T");
	assert_string_equal(text(), "head\n\n\nx\nfoot\n");
	feed("\033[r\033[40;1H\n\n");
	assert_string_equal(text(), "\nx\nfoot\n");
}

static void a_part_or_all_of_it_is_erased(void **state)
{
	(void)state;
	feed(ON "abc\r\ndef\r\nghi\033[2;2H\0337\033[1J");
	assert_string_equal(text(), "\n  f\nghi\n");
	feed("\033[1;1Hxyz\0338\033[J");
	assert_string_equal(text(), "xyz\n");
	feed("\033[2J");
	assert_string_equal(text(), "");
}

static void boxes_wide_letters_and_marks_are_drawn(void **state)
{
	(void)state;
	feed(ON "\033(0lqk\033(B\r\n日本|e\xcc\x81|");
	assert_string_equal(text(), "┌─┐\n日本|e\xcc\x81|\n");
	assert_int_equal(panel_column(panel), 8);
}

static void nothing_makes_it_larger_than_a_screen(void **state)
{
	(void)state;
	feed(ON "\033[999;999H\033[999A\033[999C\033[999@\033[99999b");
	for (int i = 0; i < 20000; i++)
		feed("x\xcc\x81\r");
	for (int i = 0; i < 20000; i++)
		feed("\xe6\x97\xa5\xcc\x81\xcc\x82");
	assert_true(strlen(text()) < (size_t)16 * SCREEN_ROWS * SCREEN_COLUMNS);
	assert_true(panel_line(panel) <= SCREEN_ROWS);
	assert_true(panel_column(panel) <= SCREEN_COLUMNS);
}

#define panel_test(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		panel_test(only_the_alternate_screen_is_looked_at),
		panel_test(lines_wrap_once_the_next_character_comes),
		panel_test(a_region_scrolls_and_what_is_around_it_stays),
		panel_test(a_part_or_all_of_it_is_erased),
		panel_test(boxes_wide_letters_and_marks_are_drawn),
		panel_test(nothing_makes_it_larger_than_a_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
