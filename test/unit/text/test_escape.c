/* SPDX-License-Identifier: MIT */
/* Which bytes begin a line: of control sequences only those that move the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "base/util.h"
#include "text/escape.h"

/* Each text fed as a whole, and a byte at a time. */
static void assert_open(const char *text, bool open)
{
	struct escape whole = { 0 };
	struct escape bytes = { 0 };
	bool opened = false;

	assert_int_equal(escape_line_open(&whole, false, text, strlen(text)), open);
	for (const char *c = text; *c != '\0'; c++)
		opened = escape_line_open(&bytes, opened, c, 1);
	assert_int_equal(opened, open);
}

static void colours_erasures_modes_and_commands_open_no_line(void **state)
{
	static const char *const quiet[] = {
		"",
		"\n",
		"a\n",
		"a\n\033[?25h",
		"a\n\033[0m\033(B",
		"\033[31m",
		"\033[38;5;9m\033[1m",
		"\033]0;title\a",
		"\0337",
		"a\033[31m\n",
		"a\n\033[2K\033[J",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		assert_open(quiet[i], false);
}

static void text_and_moves_do(void **state)
{
	static const char *const open[] = {
		"a", "a\nb", "\033[31ma\033[0m", "\n\033[5C", "\r", "\n ", "\033[2Ka", "a\033[0m",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(open); i++)
		assert_open(open[i], true);
}

static void a_line_stays_open_until_it_ends(void **state)
{
	struct escape escape = { 0 };

	(void)state;
	assert_true(escape_line_open(&escape, true, "", 0));
	assert_true(escape_line_open(&escape, true, "\033[0m", 4));
	assert_false(escape_line_open(&escape, true, "\n\033[0m", 5));
	assert_false(escape_line_open(&escape, false, "\033[3", 3));
	assert_false(escape_line_open(&escape, false, "\n", 1));
	assert_true(
		escape_line_open(&escape, false, "1m", 2)); /* the line feed cut the sequence off */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_erasures_modes_and_commands_open_no_line),
		cmocka_unit_test(text_and_moves_do),
		cmocka_unit_test(a_line_stays_open_until_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
