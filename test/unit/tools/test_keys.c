/* SPDX-License-Identifier: MIT */
/* test_keys.c - keys by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tools/keys.h"

static void expect(const char *name, const char *bytes)
{
	const char *got = NULL;
	size_t len = 0;

	assert_true(keys_find(name, &got, &len));
	assert_int_equal(len, strlen(bytes));
	assert_memory_equal(got, bytes, len);
}

static void keys_send_what_a_terminal_sends(void **state)
{
	(void)state;
	expect("ctrl-a", "\001");
	expect("ctrl-c", "\003");
	expect("Ctrl-D", "\004");
	expect("ctrl-z", "\032");
	expect("ctrl-\\", "\034");
	expect("enter", "\n");
	expect("UP", "\033[A");
	expect("page-down", "\033[6~");
	expect("backspace", "\177");
	expect("Ctrl+C", "\003");
	expect("control-c", "\003");
	expect("C-d", "\004");
	expect("^Z", "\032");
	expect("Page_Up", "\033[5~");
	expect("PageDown", "\033[6~");
	expect("ArrowUp", "\033[A");
}

static void what_is_no_key_is_none(void **state)
{
	static const char *const names[] = { "",    "ctrl-", "ctrl-1", "ctrl-cc", "x",    "ctrl-[",
					     "f99", "^",     "^cc",    "c-",      "ctrl", "-" };
	const char *bytes;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(keys_find(names[i], &bytes, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_send_what_a_terminal_sends),
		cmocka_unit_test(what_is_no_key_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
