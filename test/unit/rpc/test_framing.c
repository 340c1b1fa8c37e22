/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rpc/framing.h"

enum { LINE_MAX_BYTES = 8 };

/* The lines that came out, as "line|line|<too long>|". */
struct fixture {
	struct framing framing;
	struct buf out;
};

static void on_line(struct framing *framing, const char *line, size_t len)
{
	struct fixture *f = container_of(framing, struct fixture, framing);

	buf_put(&f->out, line, len);
	buf_puts(&f->out, "|");
}

static void on_too_long(struct framing *framing, const char *start, size_t len)
{
	assert_in_range(len, 1, LINE_MAX_BYTES * 5);
	assert_true(start[0] == '1');
	buf_puts(&container_of(framing, struct fixture, framing)->out, "<too long>|");
}

/* Feeds `input` in pieces of every size; the outcome must be the same. */
static void assert_lines(const char *input, size_t len, const char *wanted)
{
	static const struct framing_handlers handlers = { on_line, on_too_long };

	for (size_t step = 1; step <= len; step++) {
		struct fixture f;

		buf_init(&f.out, BUF_UNBOUNDED);
		framing_init(&f.framing, LINE_MAX_BYTES, &handlers);
		for (size_t at = 0; at < len; at += step)
			framing_feed(&f.framing, input + at, size_min(step, len - at));
		framing_end(&f.framing);
		assert_string_equal(buf_str(&f.out), wanted);
		framing_release(&f.framing);
		buf_release(&f.out);
	}
}

#define ASSERT_LINES(input, wanted) assert_lines(input, sizeof(input) - 1, wanted)

static void FR_5_lines_come_out_of_any_chunking(void **state)
{
	(void)state;
	ASSERT_LINES("one\ntwo\nthree\n", "one|two|three|");
	ASSERT_LINES("one\nlast", "one|last|");
}

static void FR_4_one_cr_is_dropped_and_blank_lines_are_skipped(void **state)
{
	(void)state;
	ASSERT_LINES("a\r\n\r\n\n \t\nb\r\r\n\r", "a|b\r|");
}

static void FR_6_a_line_over_the_cap_is_told_once_and_skipped(void **state)
{
	(void)state;
	ASSERT_LINES("12345678\n", "12345678|");
	ASSERT_LINES("123456789\nnext\n", "<too long>|next|");
	ASSERT_LINES("1234567890123456789012345678901234567890\nnext", "<too long>|next|");
	ASSERT_LINES("a\n123456789", "a|<too long>|");
	ASSERT_LINES("123456789\n123456789\n", "<too long>|<too long>|");
}

static void a_byte_order_mark_before_the_first_line_is_skipped(void **state)
{
	(void)state;
	ASSERT_LINES("\xef\xbb\xbf"
		     "one\n\xef\xbb\xbf"
		     "two",
		     "one|\xef\xbb\xbf"
		     "two|");
	ASSERT_LINES("\xef\xbb\xbf\r\none", "one|");
}

static void nul_bytes_are_part_of_a_line(void **state)
{
	static const struct framing_handlers handlers = { on_line, on_too_long };
	struct fixture f;

	(void)state;
	buf_init(&f.out, BUF_UNBOUNDED);
	framing_init(&f.framing, LINE_MAX_BYTES, &handlers);
	framing_feed(&f.framing, "a\0b\n", 4);
	assert_int_equal(f.out.len, 4);
	assert_memory_equal(f.out.data, "a\0b|", 4);
	framing_release(&f.framing);
	buf_release(&f.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(FR_5_lines_come_out_of_any_chunking),
		cmocka_unit_test(FR_4_one_cr_is_dropped_and_blank_lines_are_skipped),
		cmocka_unit_test(FR_6_a_line_over_the_cap_is_told_once_and_skipped),
		cmocka_unit_test(a_byte_order_mark_before_the_first_line_is_skipped),
		cmocka_unit_test(nul_bytes_are_part_of_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
