/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aborts.h"
#include "base/mem.h"

static void nothing_is_still_a_pointer(void **state)
{
	void *none = xcalloc(0, 8);
	void *empty = xcalloc(8, 0);
	void *grown = xrealloc(NULL, 0);

	(void)state;
	assert_non_null(none);
	assert_non_null(empty);
	assert_non_null(grown);
	free(none);
	free(empty);
	free(grown);
}

static void memory_begins_as_zeros_and_growing_keeps_it(void **state)
{
	char *p = xcalloc(4, 2);

	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(p[i], 0);
	memcpy(p, "abcdefg", 8);
	p = xrealloc(p, 8000);
	assert_string_equal(p, "abcdefg");
	free(p);
}

static void copies_are_terminated_and_may_hold_zeros(void **state)
{
	cleanup_free char *bytes = xmemdup("a\0b", 3);
	cleanup_free char *none = xmemdup(NULL, 0);
	cleanup_free char *text = xstrdup("text");
	cleanup_free char *made = xasprintf("%s-%d", "a", 5);

	(void)state;
	assert_memory_equal(bytes, "a\0b", 4);
	assert_string_equal(none, "");
	assert_string_equal(text, "text");
	assert_string_equal(made, "a-5");
}

static void stealing_leaves_nothing_to_clean(void **state)
{
	char *taken;

	(void)state;
	{
		cleanup_free char *s = xstrdup("kept");

		taken = mem_steal(&s);
		assert_null(s);
	}
	assert_string_equal(taken, "kept");
	free(taken);
}

static void cleaning_keeps_errno(void **state)
{
	char *s = xstrdup("x");

	(void)state;
	errno = EPIPE;
	mem_cleanup(&s);
	assert_int_equal(errno, EPIPE);
	assert_null(s);
	mem_cleanup(&s);
}

/* An address space too small for the request: sanitizers have their own opinion of that. */
static void ask_for_too_much(void)
{
	const struct rlimit small = { 1 << 20, 1 << 20 };

	(void)setrlimit(RLIMIT_DATA, &small);
	(void)setrlimit(RLIMIT_AS, &small);
	(void)xrealloc(NULL, (size_t)1 << 40);
}

static void running_out_aborts(void **state)
{
	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	skip();
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	skip();
#endif
#endif
	assert_aborts(ask_for_too_much);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_still_a_pointer),
		cmocka_unit_test(memory_begins_as_zeros_and_growing_keeps_it),
		cmocka_unit_test(copies_are_terminated_and_may_hold_zeros),
		cmocka_unit_test(stealing_leaves_nothing_to_clean),
		cmocka_unit_test(cleaning_keeps_errno),
		cmocka_unit_test(running_out_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
