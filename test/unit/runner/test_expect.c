/* SPDX-License-Identifier: MIT */
/* test_expect.c - a literal text is found in a terminal's output, in chunks of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "runner/expect.h"

static bool in_pieces(const char *look_for, const char *bytes, size_t piece)
{
	struct expect *until = expect_new(look_for, strlen(look_for));
	size_t len = strlen(bytes);
	bool found = false;

	for (size_t i = 0; i < len; i += piece)
		found = expect_feed(until, bytes + i, len - i < piece ? len - i : piece) || found;
	expect_free(until);
	return found;
}

static void it_is_found_in_any_chunking(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 12; piece++) {
		assert_true(in_pieces("epoch 5", "epoch 4\nepoch 5\nepoch 6", piece));
		assert_true(in_pieces("4\nep", "epoch 4\nepoch 5", piece));
		assert_false(in_pieces("epoch 7", "epoch 4\nepoch 5 7", piece));
		assert_true(in_pieces("n", "n", piece));
	}
}

static void colours_and_carriage_returns_do_not_hide_it(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 12; piece++) {
		assert_true(in_pieces("100% done",
				      "\r\033[32m100%\033[0m do\r\nne\r100% \033[1mdone", piece));
		assert_true(in_pieces("a\nb", "a\r\nb", piece));
		assert_false(in_pieces("[32m", "\033[32mgreen", piece));
	}
}

static void what_was_found_is_found_again_only_when_it_comes_again(void **state)
{
	struct expect *until = expect_new("ab", 2);

	(void)state;
	assert_true(expect_feed(until, "ab", 2));
	assert_false(expect_feed(until, "b", 1));
	assert_false(expect_feed(until, "a", 1));
	assert_true(expect_feed(until, "b", 1));
	expect_free(until);
	expect_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_in_any_chunking),
		cmocka_unit_test(colours_and_carriage_returns_do_not_hide_it),
		cmocka_unit_test(what_was_found_is_found_again_only_when_it_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
