/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <cmocka.h>

#include "aborts.h"
#include "base/buf.h"

static void an_empty_buffer_is_an_empty_string(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(8);
	struct err err = { 0 };

	(void)state;
	assert_null(buf.data);
	assert_string_equal(buf_str(&buf), "");
	assert_int_equal(buf_add(&buf, "", 0, &err), 0);
	assert_int_equal(buf.len, 0);
	assert_string_equal(buf_str(&buf), "");
}

static void the_maximum_itself_fits_and_one_more_does_not(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(4);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(buf_add_str(&buf, "abcd", &err), 0);
	assert_int_equal(err.code, ERR_NONE);
	assert_int_equal(buf_add(&buf, "e", 1, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(buf.data, "abcd");
	assert_int_equal(buf.len, 4);
}

static void a_limit_adds_nothing(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(8);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(buf_add_str(&buf, "abc", &err), 0);
	assert_int_equal(buf_add_str(&buf, "long-12", &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(buf.data, "abc");
	assert_null(buf_reserve(&buf, 6, &err));
	assert_int_equal(buf_add_str(&buf, "12", &err), 0);
	assert_string_equal(buf.data, "abc12");
}

static void a_length_near_the_top_of_size_t_is_a_limit(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(BUF_UNBOUNDED);
	struct err err = { 0 };

	(void)state;
	buf_puts(&buf, "x");
	assert_null(buf_reserve(&buf, SIZE_MAX, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	buf_release(&buf);
	buf_init(&buf, SIZE_MAX);
	assert_true(buf.max == BUF_UNBOUNDED);
}

static void content_stays_terminated_while_it_grows(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		buf_putf(&buf, "%c", (char)('a' + i % 26));
		assert_int_equal(buf.len, i + 1);
		assert_int_equal(buf.data[buf.len], '\0');
	}
	assert_int_equal(buf.data[27], 'b');
}

static void zero_bytes_are_content(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(16);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(buf_add(&buf, "a\0b", 3, &err), 0);
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
}

static void reserved_room_is_content_only_once_committed(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(16);
	struct err err = { 0 };
	char *room;

	(void)state;
	buf_puts(&buf, "ab");
	room = buf_reserve(&buf, 3, &err);
	assert_non_null(room);
	memcpy(room, "cde", 3);
	assert_int_equal(buf.len, 2);
	buf_commit(&buf, 2);
	assert_string_equal(buf.data, "abcd");
}

static void consuming_drops_from_the_front(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(16);

	(void)state;
	buf_consume(&buf, 0); /* also before there is memory */
	buf_puts(&buf, "abcdef");
	buf_consume(&buf, 2);
	assert_string_equal(buf.data, "cdef");
	buf_consume(&buf, 4);
	assert_int_equal(buf.len, 0);
	assert_string_equal(buf.data, "");
	buf_puts(&buf, "0123456789abcdef");
	assert_int_equal(buf.len, 16);
}

static void clearing_keeps_the_memory(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(16);
	const char *data;

	(void)state;
	buf_clear(&buf);
	buf_puts(&buf, "abc");
	data = buf.data;
	buf_clear(&buf);
	assert_ptr_equal(buf.data, data);
	assert_string_equal(buf.data, "");
	assert_int_equal(buf.len, 0);
}

static void stolen_bytes_are_the_callers_and_the_buffer_is_reusable(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(4);
	struct err err = { 0 };
	char *first = buf_steal(&buf);
	char *second;

	(void)state;
	assert_string_equal(first, "");
	buf_puts(&buf, "abc");
	second = buf_steal(&buf);
	assert_string_equal(second, "abc");
	assert_null(buf.data);
	assert_int_equal(buf.len, 0);
	assert_int_equal(buf_add_str(&buf, "abcde", &err), -1); /* the maximum stays */
	buf_puts(&buf, "d");
	assert_string_equal(second, "abc");
	free(first);
	free(second);
}

static void releasing_twice_is_harmless_and_keeps_errno_and_maximum(void **state)
{
	struct buf buf = BUF_INIT(4);

	(void)state;
	buf_puts(&buf, "abc");
	errno = EBADF;
	buf_release(&buf);
	buf_release(&buf);
	assert_int_equal(errno, EBADF);
	assert_int_equal(buf.max, 4);
	buf_puts(&buf, "abcd");
	buf_release(&buf);
}

static void characters_are_put_one_by_one(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		buf_put_char(&buf, (char)('a' + i % 26));
		assert_int_equal(buf.len, i + 1);
		assert_int_equal(buf.data[i], 'a' + i % 26);
		assert_int_equal(buf.data[i + 1], '\0');
	}
}

static void a_character_over_our_own_bound(void)
{
	struct buf buf = BUF_INIT(2);

	buf_puts(&buf, "ab");
	buf_put_char(&buf, 'c');
}

static void overflow_of_our_own_bound(void)
{
	struct buf buf = BUF_INIT(2);

	buf_puts(&buf, "abc");
}

static void use_before_init(void)
{
	struct buf buf = { 0 };

	buf_puts(&buf, "a");
}

static void consume_more_than_there_is(void)
{
	struct buf buf = BUF_INIT(8);

	buf_puts(&buf, "a");
	buf_consume(&buf, 2);
}

static void numbers_are_put_in_decimal(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT(BUF_UNBOUNDED);
	const uint64_t numbers[] = { 0, 9, 10, 1234567890, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		buf_put_number(&buf, numbers[i]);
		buf_put_char(&buf, ' ');
	}
	assert_string_equal(buf.data, "0 9 10 1234567890 18446744073709551615 ");
}

static void our_own_mistakes_abort(void **state)
{
	(void)state;
	assert_aborts(overflow_of_our_own_bound);
	assert_aborts(a_character_over_our_own_bound);
	assert_aborts(use_before_init);
	assert_aborts(consume_more_than_there_is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_is_an_empty_string),
		cmocka_unit_test(the_maximum_itself_fits_and_one_more_does_not),
		cmocka_unit_test(a_limit_adds_nothing),
		cmocka_unit_test(a_length_near_the_top_of_size_t_is_a_limit),
		cmocka_unit_test(content_stays_terminated_while_it_grows),
		cmocka_unit_test(zero_bytes_are_content),
		cmocka_unit_test(reserved_room_is_content_only_once_committed),
		cmocka_unit_test(consuming_drops_from_the_front),
		cmocka_unit_test(clearing_keeps_the_memory),
		cmocka_unit_test(stolen_bytes_are_the_callers_and_the_buffer_is_reusable),
		cmocka_unit_test(releasing_twice_is_harmless_and_keeps_errno_and_maximum),
		cmocka_unit_test(characters_are_put_one_by_one),
		cmocka_unit_test(numbers_are_put_in_decimal),
		cmocka_unit_test(our_own_mistakes_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
