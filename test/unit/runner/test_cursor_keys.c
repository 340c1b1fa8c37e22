/* SPDX-License-Identifier: MIT */
/* test_cursor_keys.c - arrow keys send what the program asked for, in chunks of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "runner/cursor_keys.h"

static void feed(struct cursor_keys *cursor_keys, const char *bytes, size_t piece)
{
	size_t len = strlen(bytes);

	for (size_t i = 0; i < len; i += piece)
		cursor_keys_feed(cursor_keys, bytes + i, len - i < piece ? len - i : piece);
}

static void expect(const struct cursor_keys *cursor_keys, const char *key, const char *sent)
{
	char bytes[8] = "";

	memcpy(bytes, key, strlen(key));
	cursor_keys_convert(cursor_keys, bytes, strlen(key));
	assert_string_equal(bytes, sent);
}

static void the_last_request_counts(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 20; piece++) {
		struct cursor_keys cursor_keys = { 0 };

		expect(&cursor_keys, "\033[A", "\033[A");
		feed(&cursor_keys, "text\033[?1049h\033[22;0t\033[?7h\033[?1h\033=more", piece);
		expect(&cursor_keys, "\033[A", "\033OA");
		feed(&cursor_keys, "\033[?12l\033[?25l\033[1l\033[?1\033[?10l", piece);
		expect(&cursor_keys, "\033[D", "\033OD");
		feed(&cursor_keys, "\033\033[?1l\033>", piece);
		expect(&cursor_keys, "\033[A", "\033[A");
		feed(&cursor_keys, "\033[?1\033[?1h", piece);
		expect(&cursor_keys, "\033[H", "\033OH");
	}
}

static void other_keys_have_no_second_form(void **state)
{
	const struct cursor_keys cursor_keys = { .application = true };
	static const char *const keys[] = { "\n", "\t", "\033", "\033[3~", "\033[5~", "\033[Z" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		expect(&cursor_keys, keys[i], keys[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_request_counts),
		cmocka_unit_test(other_keys_have_no_second_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
