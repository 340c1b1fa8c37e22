/* SPDX-License-Identifier: MIT */
/*
 * A zygote's side of a fork, up to where the fork would join a session; the rest is tested end to
 * end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/supervise/zygote.h"
#include "sandbox/wire/wire.h"

static int channel[2];
static int report[2];
static unsigned int before;
static unsigned int after;

static void on_before(void)
{
	before++;
}

static void on_after(void)
{
	after++;
}

static const struct zygote_hooks hooks = { .before = on_before, .after_in_parent = on_after };

static int set_up(void **state)
{
	struct err err;

	(void)state;
	before = 0;
	after = 0;
	if (wire_pair(channel, &err) < 0)
		return -1;
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report);
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		fd_close(&channel[i]);
		fd_close(&report[i]);
	}
	return 0;
}

/* Sends descriptors that are no namespaces, so a fork does not get far. */
static void ask(void)
{
	cleanup_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int32_t own_inodes = 0;
	int fds[WIRE_FORK_FDS];
	struct err err;

	for (size_t i = 0; i < WIRE_FORK_FDS; i++)
		fds[i] = null;
	fds[WIRE_FORK_REPORT] = report[1];
	assert_int_equal(wire_send(channel[0], WIRE_FORK, &own_inodes, fds, WIRE_FORK_FDS, &err),
			 0);
}

/* Expects that the zygote has reported why it did not fork. */
static void assert_reported(const char *why)
{
	cleanup_wire struct wire_message message = { 0 };
	struct err err;

	assert_int_equal(wire_receive(channel[0], &message, &err), 1);
	assert_int_equal(message.type, WIRE_FAILED);
	wire_get_err(&message, &err);
	assert_non_null(strstr(err.msg, why));
}

static void it_is_over_with_its_channel(void **state)
{
	(void)state;
	fd_close(&channel[0]);
	assert_int_equal(zygote_serve(channel[1], -1, &hooks), ZYGOTE_OVER);
	assert_int_equal(before, 0);
}

static void it_is_over_with_a_message_that_is_not_for_it(void **state)
{
	(void)state;
	wire_notify(channel[0], WIRE_KILL, NULL);
	assert_int_equal(zygote_serve(channel[1], -1, &hooks), ZYGOTE_OVER);
}

static void a_copy_that_fails_is_seen_by_who_asked_and_ends_nothing_else(void **state)
{
	char byte;

	(void)state;
	ask();
	ask();
	fd_close(&report[1]);
	assert_int_equal(shutdown(channel[0], SHUT_WR), 0);
	assert_int_equal(zygote_serve(channel[1], -1, &hooks), ZYGOTE_OVER);
	assert_reported("joining the namespace");
	assert_reported("joining the namespace");
	assert_int_equal(read(report[0], &byte, 1), 0);
	assert_int_equal(before, 2);
	assert_int_equal(after, 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left to be reaped */
}

static void it_is_called_away_after_what_was_asked_for_and_serves_again(void **state)
{
	int wanted[2];

	(void)state;
	assert_int_equal(pipe2(wanted, O_CLOEXEC), 0);
	ask();
	assert_int_equal(write(wanted[1], "x", 1), 1);
	assert_int_equal(zygote_serve(channel[1], wanted[0], &hooks), ZYGOTE_WANTED);
	assert_int_equal(before, 1);
	ask();
	assert_int_equal(zygote_serve(channel[1], wanted[0], &hooks), ZYGOTE_WANTED);
	assert_int_equal(before, 2);
	fd_close(&wanted[1]); /* an end counts as input, too */
	assert_int_equal(read(wanted[0], &(char){ 0 }, 1), 1);
	assert_int_equal(zygote_serve(channel[1], wanted[0], &hooks), ZYGOTE_WANTED);
	fd_close(&wanted[0]);
}

static void *wait_for_end(void *data)
{
	char byte;

	(void)!read(*(int *)data, &byte, 1);
	return NULL;
}

/* Test 70 of the sandbox's list: a process with threads would be forked without them. */
static void with_a_second_thread_it_refuses_to_serve(void **state)
{
	int ends[2];
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
	ask();
	assert_int_equal(zygote_serve(channel[1], -1, &hooks), ZYGOTE_THREADS);
	assert_int_equal(before, 0);
	assert_reported("a module that was imported ahead began a thread");
	assert_int_equal(zygote_may_serve(channel[1]), 0);
	assert_reported("a module that was imported ahead began a thread");
	fd_close(&ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	fd_close(&ends[0]);
}

static void with_memory_that_copies_would_share_it_refuses_to_serve(void **state)
{
	const size_t size = 4096;
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_int_equal(zygote_may_serve(channel[1]), 0);
	assert_reported("a module that was imported ahead shares memory with its copies");
	/* No process writes to it, as to a locale's cache. */
	assert_int_equal(mprotect(shared, size, PROT_READ), 0);
	assert_int_equal(zygote_may_serve(channel[1]), 1);
	assert_int_equal(munmap(shared, size), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_over_with_its_channel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_is_over_with_a_message_that_is_not_for_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_copy_that_fails_is_seen_by_who_asked_and_ends_nothing_else, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			it_is_called_away_after_what_was_asked_for_and_serves_again, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(with_a_second_thread_it_refuses_to_serve, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			with_memory_that_copies_would_share_it_refuses_to_serve, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
