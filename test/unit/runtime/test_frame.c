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
#include "runtime/frame.h"

static struct frame_reader *reader;

static int start(void **state)
{
	(void)state;
	reader = frame_reader_new(FRAME_UP_PART_MAX);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	frame_reader_free(reader);
	return 0;
}

static void feed(const char *s)
{
	frame_reader_feed(reader, s, strlen(s));
}

static const struct frame *expect_frame(void)
{
	const struct frame *frame = NULL;
	struct err err = { 0 };

	if (frame_reader_next(reader, &frame, &err) != 1)
		fail_msg("no frame: %s", err.msg);
	return frame;
}

static void expect_none(void)
{
	const struct frame *frame;
	struct err err;

	assert_int_equal(frame_reader_next(reader, &frame, &err), 0);
}

static void expect_part(const struct frame *frame, const char *name, const char *data)
{
	cleanup_free char *text = frame_text(frame, name);

	assert_non_null(text);
	assert_string_equal(text, data);
}

static void written_frames_read_back(void **state)
{
	cleanup_buf struct buf out;
	const struct frame *frame;

	(void)state;
	buf_init(&out, 1000);
	frame_begin(&out, "exec", UINT64_MAX, 2);
	frame_add(&out, "code", "print(1)\n", 9);
	frame_add(&out, "empty", NULL, 0);
	assert_string_equal(buf_str(&out),
			    "exec 18446744073709551615 2\ncode 9\nprint(1)\nempty 0\n");
	frame_reader_feed(reader, out.data, out.len);
	frame = expect_frame();
	assert_string_equal(frame->type, "exec");
	assert_true(frame->id == UINT64_MAX);
	assert_int_equal(frame->part_count, 2);
	expect_part(frame, "code", "print(1)\n");
	expect_part(frame, "empty", "");
	assert_null(frame_part(frame, "none"));
	assert_null(frame_text(frame, "none"));
	assert_false(frame_reader_pending(reader));
	expect_none();
}

static void pr01_a_frame_in_single_bytes_arrives_whole(void **state)
{
	static const char bytes[] = "result 7 2\ntext/plain 3\na\nbimage/png 4\n\x89PNG";
	const size_t len = sizeof(bytes) - 1;
	const struct frame *frame;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		expect_none();
		assert_int_equal(frame_reader_pending(reader), i > 0);
		frame_reader_feed(reader, bytes + i, 1);
	}
	frame = expect_frame();
	assert_int_equal(frame->id, 7);
	expect_part(frame, "text/plain", "a\nb");
	expect_part(frame, "image/png", "\x89PNG");
}

static void pr02_three_frames_in_one_read_come_one_by_one(void **state)
{
	const struct frame *frame;

	(void)state;
	feed("ack 1 0\nresult 2 1\ntext/plain 2\nokdone 3 0\nnext");
	frame = expect_frame();
	assert_string_equal(frame->type, "ack");
	frame = expect_frame();
	assert_string_equal(frame->type, "result");
	expect_part(frame, "text/plain", "ok");
	frame = expect_frame();
	assert_string_equal(frame->type, "done");
	assert_int_equal(frame->part_count, 0);
	assert_true(frame_reader_pending(reader));
	expect_none();
}

static void feeding_on_while_a_frame_is_held_keeps_the_next(void **state)
{
	(void)state;
	feed("result 1 1\na 3\nonedone 2 1\nb 3\nt");
	assert_int_equal(expect_frame()->id, 1);
	feed("wo");
	expect_part(expect_frame(), "b", "two");
	feed("done 3 1\nc 1\n3");
	expect_part(expect_frame(), "c", "3");
}

static void a_frame_begun_before_a_feed_keeps_its_parts(void **state)
{
	(void)state;
	feed("done 1 0\nresult 2 2\na 3\none");
	assert_int_equal(expect_frame()->id, 1);
	expect_none();
	feed("b 3\nt");
	expect_none();
	feed("wo");
	expect_part(expect_frame(), "a", "one");
	assert_true(!frame_reader_pending(reader));
}

static void the_first_of_several_parts_is_found(void **state)
{
	(void)state;
	feed("done 1 2\na 1\n1a 1\n2");
	expect_part(expect_frame(), "a", "1");
}

struct bad_case {
	const char *name;
	const char *bytes;
	enum err_code code;
};

static const struct bad_case bad_cases[] = {
	{ "blank line", "\n", ERR_INVALID },
	{ "capital letter", "Done 1 0\n", ERR_INVALID },
	{ "no id", "done\n", ERR_INVALID },
	{ "no parts", "done 1\n", ERR_INVALID },
	{ "four words", "done 1 0 0\n", ERR_INVALID },
	{ "two blanks", "done  1 0\n", ERR_INVALID },
	{ "carriage return", "done 1 0\r\n", ERR_INVALID },
	{ "negative id", "done -1 0\n", ERR_INVALID },
	{ "plus", "done +1 0\n", ERR_INVALID },
	{ "leading zero", "done 01 0\n", ERR_INVALID },
	{ "hexadecimal", "done 0x1 0\n", ERR_INVALID },
	{ "id over 64 bits", "done 18446744073709551616 0\n", ERR_LIMIT },
	{ "PR03 1000 parts", "done 1 1000\n", ERR_LIMIT },
	{ "PR03 part of 65 MiB", "done 1 1\na 68157440\n", ERR_LIMIT },
	{ "PR03 negative length", "done 1 1\na -1\n", ERR_INVALID },
	{ "PR03 huge length", "done 1 1\na 99999999999999999999999\n", ERR_LIMIT },
	{ "length wrapping the sum", "done 1 2\na 1\nxb 18446744073709551615\n", ERR_LIMIT },
	{ "part without a name", "done 1 1\n 1\n", ERR_INVALID },
	{ "part with a blank more", "done 1 1\na 1 \n", ERR_INVALID },
	{ "name of 65", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1 0\n",
	  ERR_LIMIT },
};

static void breaking_the_grammar_kills_the_reader(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_cases); i++) {
		struct frame_reader *own = frame_reader_new(FRAME_UP_PART_MAX);
		const struct frame *frame;
		struct err err = { 0 };
		struct err again = { 0 };

		print_message("%s\n", bad_cases[i].name);
		frame_reader_feed(own, bad_cases[i].bytes, strlen(bad_cases[i].bytes));
		assert_int_equal(frame_reader_next(own, &frame, &err), -1);
		assert_int_equal(err.code, bad_cases[i].code);
		frame_reader_feed(own, "done 1 0\n", 9);
		assert_int_equal(frame_reader_next(own, &frame, &again), -1);
		assert_string_equal(again.msg, err.msg);
		assert_false(frame_reader_pending(own));
		frame_reader_free(own);
	}
}

static void pr03_a_header_of_300_bytes_is_over_the_limit(void **state)
{
	const struct frame *frame;
	struct err err = { 0 };
	char header[300];

	(void)state;
	memset(header, 'a', sizeof(header));
	frame_reader_feed(reader, header, FRAME_LINE_MAX - 1);
	expect_none();
	frame_reader_feed(reader, header, sizeof(header) - FRAME_LINE_MAX + 1);
	assert_int_equal(frame_reader_next(reader, &frame, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void parts_together_are_limited(void **state)
{
	cleanup_free char *part = xcalloc(FRAME_UP_PART_MAX, 1);
	const struct frame *frame;
	struct err err = { 0 };
	char header[64];

	(void)state;
	feed("done 1 3\n");
	(void)snprintf(header, sizeof(header), "a %d\n", FRAME_UP_PART_MAX);
	for (int i = 0; i < 2; i++) {
		feed(header);
		frame_reader_feed(reader, part, FRAME_UP_PART_MAX);
		expect_none();
	}
	feed("a 1\n");
	assert_int_equal(frame_reader_next(reader, &frame, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void a_flood_that_nobody_reads_is_limited(void **state)
{
	const size_t chunk = 16 << 20;
	cleanup_free char *junk = xcalloc(chunk, 1);
	const struct frame *frame;
	struct err err = { 0 };

	(void)state;
	feed("done 1 0\n");
	for (int i = 0; i < 9; i++)
		frame_reader_feed(reader, junk, chunk);
	assert_int_equal(frame_reader_next(reader, &frame, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

/* What is long of it goes, what comes as well; it ends where it ends. */
static void an_unfinished_frame_is_given_up(void **state)
{
	enum { LONG = 1 << 20 };
	cleanup_free char *part = xcalloc(LONG, 1);
	const struct frame *frame;

	(void)state;
	feed("done 7 5\na 1\nxb 1048576\n");
	frame_reader_feed(reader, part, LONG);
	feed("c 2\nyyd 1048576\n");
	frame_reader_feed(reader, part, LONG / 2);
	expect_none();
	assert_in_range(frame_reader_held(reader), LONG, 8 * LONG);
	frame_reader_drop(reader);
	assert_in_range(frame_reader_held(reader), 0, LONG / 2);
	frame_reader_feed(reader, part, LONG / 4);
	expect_none();
	frame_reader_feed(reader, part, LONG / 4);
	expect_none();
	assert_in_range(frame_reader_held(reader), 0, LONG);
	feed("e 1\nznext 8 0\n");
	frame = expect_frame();
	assert_int_equal(frame->id, 7);
	assert_int_equal(frame->left_out, 2 * LONG);
	expect_part(frame, "a", "x");
	expect_part(frame, "b", "");
	expect_part(frame, "c", "yy");
	expect_part(frame, "d", "");
	expect_part(frame, "e", "z");
	frame = expect_frame();
	assert_string_equal(frame->type, "next");
	assert_int_equal(frame->left_out, 0);
}

static void where_no_frame_is_unfinished_none_is_given_up(void **state)
{
	const struct frame *frame;

	(void)state;
	frame_reader_drop(reader);
	feed("done 7 1\na 1\nx");
	frame = expect_frame();
	frame_reader_drop(reader);
	expect_part(frame, "a", "x");
	assert_int_equal(frame->left_out, 0);
}

/* What a large frame took is given back with the next question. */
static void a_frame_that_was_read_takes_no_memory(void **state)
{
	cleanup_free char *part = xcalloc(FRAME_UP_PART_MAX, 1);

	(void)state;
	feed("done 7 1\na 8388608\n");
	frame_reader_feed(reader, part, FRAME_UP_PART_MAX);
	(void)expect_frame();
	expect_none();
	assert_int_equal(frame_reader_held(reader), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(written_frames_read_back, start, stop),
		cmocka_unit_test_setup_teardown(pr01_a_frame_in_single_bytes_arrives_whole, start,
						stop),
		cmocka_unit_test_setup_teardown(pr02_three_frames_in_one_read_come_one_by_one,
						start, stop),
		cmocka_unit_test_setup_teardown(feeding_on_while_a_frame_is_held_keeps_the_next,
						start, stop),
		cmocka_unit_test_setup_teardown(a_frame_begun_before_a_feed_keeps_its_parts, start,
						stop),
		cmocka_unit_test_setup_teardown(the_first_of_several_parts_is_found, start, stop),
		cmocka_unit_test(breaking_the_grammar_kills_the_reader),
		cmocka_unit_test_setup_teardown(pr03_a_header_of_300_bytes_is_over_the_limit, start,
						stop),
		cmocka_unit_test_setup_teardown(an_unfinished_frame_is_given_up, start, stop),
		cmocka_unit_test_setup_teardown(where_no_frame_is_unfinished_none_is_given_up,
						start, stop),
		cmocka_unit_test_setup_teardown(a_frame_that_was_read_takes_no_memory, start, stop),
		cmocka_unit_test_setup_teardown(parts_together_are_limited, start, stop),
		cmocka_unit_test_setup_teardown(a_flood_that_nobody_reads_is_limited, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
