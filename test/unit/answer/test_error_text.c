/* SPDX-License-Identifier: MIT */
/* test_error_text.c - needles in the last lines and in chains of exceptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "answer/error_text.h"
#include "base/buf.h"
#include "base/mem.h"

#define CAUSE "\n\nThe above exception was the direct cause of the following exception:\n\n"
#define CONTEXT "\n\nDuring handling of the above exception, another exception occurred:\n\n"

static const char *const full[ERROR_TEXT_NEEDLES_MAX] = { "ENOSPC", "No space left" };

static void what_led_to_the_last_exception_is_found(void **state)
{
	(void)state;
	assert_true(error_text_before("OSError: No space left" CAUSE "ValueError: x\n", full));
	assert_true(error_text_before("OSError: No space left" CONTEXT "ValueError: x\n", full));
	assert_true(error_text_before("\"\"\"\nOSError: No space left\n\"\"\"" CAUSE "x\n", full));
	assert_true(
		error_text_before("A: a" CONTEXT "OSError: ENOSPC" CAUSE "ValueError: x\n", full));
	assert_false(error_text_before("ValueError: x" CONTEXT "OSError: No space left\n", full));
	assert_false(error_text_before("No space left\nOSError: x" CAUSE "ValueError: x\n", full));
	assert_false(error_text_before("No space left, The above exception was\n", full));
	assert_false(error_text_before(NULL, full));
	assert_false(error_text_before("", full));
}

static void each_exception_of_a_group_is_found(void **state)
{
	(void)state;
	assert_true(error_text_before("  | ExceptionGroup: two\n    | OSError: ENOSPC\n", full));
	assert_true(error_text_before("| OSError: ENOSPC", full));
	assert_false(error_text_before("  |   raise ENOSPC\n", full));
	assert_false(error_text_before("  |\n  |", full));
}

/* Lines that are given, together: what is searched for each needle. */
static size_t given(const char *text)
{
	const char *end = text;
	size_t sum = 0;
	struct error_text_line line;

	while (error_text_next_before(&text, &line)) {
		assert_true(line.text >= end);
		end = line.text + line.len;
		sum += line.len;
	}
	return sum;
}

static void a_chain_is_gone_through_once(void **state)
{
	static const char *const units[] = { CAUSE,
					     CONTEXT,
					     "E: x" CAUSE,
					     "\n",
					     "  | x\n",
					     "\"\n",
					     "a long line of an exception" CONTEXT "  | y\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

		for (size_t n = 0; n < 3000; n++)
			buf_puts(&text, units[i]);
		assert_true(given(buf_str(&text)) <= text.len);
		assert_false(error_text_before(buf_str(&text), full));
	}
}

static void only_the_end_of_a_text_is_searched(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *end;

	(void)state;
	buf_puts(&text, "OSError: ENOSPC" CAUSE);
	while (text.len <= ERROR_TEXT_MAX)
		buf_puts(&text, "  File \"x.py\", line 1, in f\n");
	assert_int_equal(strlen(error_text_end(buf_str(&text))), ERROR_TEXT_MAX);
	assert_false(error_text_before(buf_str(&text), full));
	assert_false(error_text_any(buf_str(&text), full));
	buf_puts(&text, "OSError: ENOSPC" CAUSE "ValueError: No space left\n");
	end = error_text_last_line(buf_str(&text));
	assert_string_equal(end, "ValueError: No space left\n");
	assert_true(error_text_before(buf_str(&text), full));
	assert_true(error_text_any(buf_str(&text), full));
	assert_string_equal(error_text_end("short"), "short");
	assert_null(error_text_end(NULL));
	assert_null(error_text_last_line(NULL));
}

static void a_line_of_the_output_ends_in_a_needle(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	assert_null(error_text_line_end(&text, full, SIZE_MAX));
	buf_puts(&text, "cp: x: No space left\none more\ntwo more");
	assert_string_equal(error_text_line_end(&text, full, SIZE_MAX), "No space left");
	assert_null(error_text_line_end(&text, full, 2));
	buf_puts(&text, "\nOSError: [Errno 28] No space left: '/tmp/a: 'b''");
	assert_string_equal(error_text_line_end(&text, full, 1), "No space left");
	buf_puts(&text, "\nNo space left for 'b'");
	assert_null(error_text_line_end(&text, full, 1));
	assert_string_equal(error_text_find(buf_str(&text), full), "No space left");
	assert_null(error_text_find("no space", full));
	assert_null(error_text_find(NULL, full));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_led_to_the_last_exception_is_found),
		cmocka_unit_test(each_exception_of_a_group_is_found),
		cmocka_unit_test(a_chain_is_gone_through_once),
		cmocka_unit_test(only_the_end_of_a_text_is_searched),
		cmocka_unit_test(a_line_of_the_output_ends_in_a_needle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
