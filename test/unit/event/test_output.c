/* SPDX-License-Identifier: MIT */
/* Readers that are slow, stop, or leave; pipes that block and pipes that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "event/output.h"
#include "scratch.h"

enum { TURNS_MAX = 100000, CHUNK = 100000 };

struct fixture {
	struct loop *loop;
	struct output *output;
	int reader;
	int writer;
	struct buf got;
	size_t sent;
	int closed_count;
	int drained_count;
	bool free_on_closed;
};

static struct fixture f;

static void on_closed(struct output *output)
{
	assert_ptr_equal(output_owner(output), &f);
	f.closed_count++;
	if (!f.free_on_closed)
		return;
	output_free(output);
	f.output = NULL;
}

static void on_drained(struct output *output)
{
	assert_false(output_is_full(output));
	assert_true(output_pending(output) < OUTPUT_LOW_MARK);
	f.drained_count++;
}

static const struct output_handlers handlers = { .closed = on_closed,
						 .drained = on_drained,
						 .owner = &f };

static void open_pipe(int writer_flags)
{
	struct err err;
	int ends[2];

	memset(&f, 0, sizeof(f));
	buf_init(&f.got, BUF_UNBOUNDED);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	f.reader = ends[0];
	f.writer = ends[1];
	assert_int_equal(fcntl(f.reader, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(f.writer, F_SETFL, writer_flags), 0);
	f.loop = loop_new(clock_ms, &err);
	f.output = output_new(f.loop, f.writer, &handlers);
	assert_int_equal(sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL), 0);
}

static int set_up_blocking(void **state)
{
	(void)state;
	open_pipe(0);
	return 0;
}

static int set_up_non_blocking(void **state)
{
	(void)state;
	open_pipe(O_NONBLOCK);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	output_free(f.output);
	loop_free(f.loop);
	buf_release(&f.got);
	fd_close(&f.reader);
	fd_close(&f.writer);
	return 0;
}

/* Sends bytes whose order can be checked: each depends on its place. */
static void send_some(size_t len)
{
	char *data = malloc(len);

	for (size_t i = 0; i < len; i++)
		data[i] = (char)((f.sent + i) % 251);
	output_write(f.output, data, len);
	f.sent += len;
	free(data);
}

/* Takes at most `max` bytes out of the pipe. */
static void receive_some(size_t max)
{
	while (max > 0) {
		char chunk[4096];
		ssize_t n = read(f.reader, chunk, size_min(sizeof(chunk), max));

		if (n <= 0)
			return;
		buf_put(&f.got, chunk, (size_t)n);
		max -= (size_t)n;
	}
}

static void expect_everything(void)
{
	assert_int_equal(f.got.len, f.sent);
	for (size_t i = 0; i < f.got.len; i++)
		if ((unsigned char)f.got.data[i] != i % 251)
			fail_msg("byte %zu is wrong", i);
}

static void read_all_through_the_loop(size_t at_once)
{
	for (int i = 0; i < TURNS_MAX && f.got.len < f.sent; i++) {
		receive_some(at_once);
		loop_turn(f.loop, 0);
	}
	expect_everything();
	assert_int_equal(output_pending(f.output), 0);
}

static void a_small_write_goes_out_at_once(void **state)
{
	(void)state;
	send_some(10);
	assert_int_equal(output_pending(f.output), 0);
	receive_some(SIZE_MAX);
	expect_everything();
	loop_turn(f.loop, 0);
	assert_int_equal(f.drained_count + f.closed_count, 0);
}

/* With a blocking pipe this would hang for ever if a write ever blocked. */
static void a_slow_reader_gets_everything_in_order(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		send_some(CHUNK + (size_t)i);
	assert_true(output_pending(f.output) > 0);
	read_all_through_the_loop(777);
}

static void a_write_while_others_wait_queues_behind_them(void **state)
{
	(void)state;
	send_some(CHUNK);
	assert_true(output_pending(f.output) > 0);
	receive_some(SIZE_MAX); /* there is room again, but the queue comes first */
	send_some(5);
	assert_true(output_pending(f.output) > 5);
	read_all_through_the_loop(SIZE_MAX);
}

static void nobody_reading_makes_it_full_between_the_marks(void **state)
{
	(void)state;
	while (output_pending(f.output) <= OUTPUT_HIGH_MARK) {
		assert_false(output_is_full(f.output));
		send_some(CHUNK);
	}
	assert_true(output_is_full(f.output));
	for (int i = 0; i < TURNS_MAX && output_pending(f.output) >= OUTPUT_LOW_MARK; i++) {
		assert_true(output_is_full(f.output));
		assert_int_equal(f.drained_count, 0);
		receive_some(CHUNK);
		loop_turn(f.loop, 0);
	}
	assert_false(output_is_full(f.output));
	assert_int_equal(f.drained_count, 1);
	read_all_through_the_loop(CHUNK);
	assert_int_equal(f.drained_count, 1);
}

static void a_queue_that_empties_at_once_is_also_drained(void **state)
{
	int room;

	(void)state;
	room = fcntl(f.writer, F_SETPIPE_SZ, 1 << 20);
	if (room < 0)
		skip();
	while (!output_is_full(f.output))
		send_some(CHUNK);
	for (int i = 0; i < TURNS_MAX && f.drained_count == 0; i++) {
		receive_some(SIZE_MAX);
		loop_turn(f.loop, 0);
	}
	assert_false(output_is_full(f.output));
	read_all_through_the_loop(SIZE_MAX);
}

static void a_reader_that_leaves_is_told_once_and_from_the_loop(void **state)
{
	(void)state;
	fd_close(&f.reader);
	send_some(10);
	assert_int_equal(output_error(f.output), EPIPE);
	assert_int_equal(f.closed_count, 0);
	send_some(10); /* does nothing */
	assert_int_equal(output_pending(f.output), 0);
	loop_turn(f.loop, 0);
	loop_turn(f.loop, 0);
	assert_int_equal(f.closed_count, 1);
}

static void a_reader_that_leaves_in_the_middle_is_noticed_without_a_write(void **state)
{
	(void)state;
	while (!output_is_full(f.output))
		send_some(CHUNK);
	receive_some(100);
	fd_close(&f.reader);
	loop_turn(f.loop, 1000);
	loop_turn(f.loop, 0);
	assert_int_equal(f.closed_count, 1);
	assert_false(output_is_full(f.output)); /* no producer should wait for it any more */
	assert_int_equal(output_pending(f.output), 0);
}

static void the_owner_may_free_it_when_it_closes(void **state)
{
	(void)state;
	f.free_on_closed = true;
	fd_close(&f.reader);
	send_some(10);
	loop_turn(f.loop, 0);
	assert_null(f.output);
}

static void freeing_drops_what_is_queued(void **state)
{
	(void)state;
	send_some(4 * CHUNK);
	output_free(f.output);
	f.output = NULL;
	receive_some(SIZE_MAX);
	assert_true(f.got.len < f.sent);
	output_free(NULL);
}

static void a_regular_file_takes_everything(void **state)
{
	struct scratch scratch;
	struct err err;
	struct loop *loop = loop_new(clock_ms, &err);
	struct output *output;
	int fd;
	char *text;

	(void)state;
	scratch_init(&scratch);
	fd = openat(scratch.fd, "out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	output = output_new(loop, fd, &handlers);
	output_write(output, "one ", 4);
	output_write(output, "two", 3);
	assert_int_equal(output_pending(output), 0);
	text = scratch_read(scratch.fd, "out");
	assert_string_equal(text, "one two");
	free(text);
	output_free(output);
	fd_close(&fd);
	loop_free(loop);
	scratch_release(&scratch);
}

#define BOTH(name)                                                                                 \
	{ "blocking: " #name, name, set_up_blocking, tear_down, NULL },                            \
	{                                                                                          \
		"non-blocking: " #name, name, set_up_non_blocking, tear_down, NULL                 \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_small_write_goes_out_at_once),
		BOTH(a_slow_reader_gets_everything_in_order),
		BOTH(a_write_while_others_wait_queues_behind_them),
		BOTH(nobody_reading_makes_it_full_between_the_marks),
		BOTH(a_queue_that_empties_at_once_is_also_drained),
		BOTH(a_reader_that_leaves_is_told_once_and_from_the_loop),
		BOTH(a_reader_that_leaves_in_the_middle_is_noticed_without_a_write),
		BOTH(the_owner_may_free_it_when_it_closes),
		BOTH(freeing_drops_what_is_queued),
		cmocka_unit_test(a_regular_file_takes_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
