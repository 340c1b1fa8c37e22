/* SPDX-License-Identifier: MIT */
/* The guarantees of loop.h: children, signals, the order in one turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <cmocka.h>

#include "loop_fixture.h"

/* ---- children ---- */

static int wait_statuses[4];
static int child_count;

static void on_child(struct loop_child *child, int wait_status)
{
	assert_false(loop_child_active(child));
	wait_statuses[child_count++] = wait_status;
	say('c');
}

static void a_child_is_reported_once_and_reaped(void **state)
{
	struct loop_child child = { 0 };
	struct err err;
	pid_t pid = start_child(7);

	child_count = 0;
	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), 0);
	assert_true(loop_child_active(&child));
	loop_turn(*state, PATIENCE_MS);
	loop_turn(*state, 0);
	assert_int_equal(child_count, 1);
	assert_int_equal(WEXITSTATUS(wait_statuses[0]), 7);
	assert_int_equal(child.io.fd, -1);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
}

static void a_child_that_somebody_else_has_reaped_failed(void **state)
{
	struct loop_child child = { 0 };
	struct err err;
	pid_t pid = start_child(0);

	child_count = 0;
	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	loop_turn(*state, PATIENCE_MS);
	assert_int_equal(child_count, 1);
	assert_true(WIFEXITED(wait_statuses[0]));
	assert_int_not_equal(WEXITSTATUS(wait_statuses[0]), 0);
}

static void a_killed_child_tells_its_signal(void **state)
{
	struct loop_child child = { 0 };
	struct err err;
	pid_t pid = fork();

	child_count = 0;
	if (pid == 0)
		for (;;)
			(void)pause();
	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), 0);
	loop_turn(*state, 0);
	assert_int_equal(child_count, 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	loop_turn(*state, PATIENCE_MS);
	assert_int_equal(child_count, 1);
	assert_int_equal(WTERMSIG(wait_statuses[0]), SIGKILL);
}

static void a_child_no_longer_watched_is_the_callers_to_reap(void **state)
{
	struct loop_child child = { 0 };
	struct err err;
	pid_t pid = start_child(0);

	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), 0);
	loop_child_stop(&child);
	loop_child_stop(&child);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_child_can_be_awaited_outside_of_the_loop(void **state)
{
	struct loop_child child = { 0 };
	struct loop_child other = { 0 };
	struct err err;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	child_count = 0;
	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), 0);
	assert_int_equal(loop_child_start(*state, &other, start_child(3), on_child, &err), 0);
	assert_true(loop_child_await(&other, PATIENCE_MS));
	assert_false(loop_child_await(&child, 0));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(loop_child_await(&child, PATIENCE_MS));
	loop_child_stop(&child);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	loop_turn(*state, PATIENCE_MS);
	assert_int_equal(child_count, 1);
	assert_int_equal(WEXITSTATUS(wait_statuses[0]), 3);
}

static void a_process_that_is_not_there_is_refused(void **state)
{
	struct loop_child child = { 0 };
	struct err err;
	pid_t pid = start_child(0);

	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(loop_child_start(*state, &child, pid, on_child, &err), -1);
	assert_int_equal(err.sys, ESRCH);
	assert_false(loop_child_active(&child));
}

/* ---- the order in one turn ---- */

static void in_one_turn_come_descriptors_children_timers_deferred(void **state)
{
	struct loop_child child = { 0 };
	struct alarm_clock a = { .name = 't' };
	struct later d = { .name = 'd' };
	struct reader r = { .name = 'r' };
	struct err err;
	int ends[2];

	child_count = 0;
	loop_defer_start(*state, &d.defer, on_later);
	loop_timer_start(*state, &a.timer, now, on_timer);
	assert_int_equal(loop_child_start(*state, &child, start_child(0), on_child, &err), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)!write(ends[1], "x", 1);
	assert_int_equal(loop_io_start(*state, &r.io, ends[0], EPOLLIN, on_ready, &err), 0);
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "rctd");
	loop_io_stop(&r.io);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

/* ---- signals ---- */

static void on_signal(struct loop_signal *sig, int signo)
{
	(void)sig;
	say(signo == SIGTERM ? 'T' : '?');
}

static void a_signal_is_an_event_and_not_the_end(void **state)
{
	struct loop_signal sig = { 0 };
	struct err err;

	assert_int_equal(loop_signal_start(*state, &sig, SIGTERM, on_signal, &err), 0);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	loop_turn(*state, PATIENCE_MS);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "T");
	loop_signal_stop(&sig);
	loop_signal_stop(&sig);
	assert_int_equal(sig.io.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(a_child_is_reported_once_and_reaped),
		LOOP_TEST(a_child_that_somebody_else_has_reaped_failed),
		LOOP_TEST(a_killed_child_tells_its_signal),
		LOOP_TEST(a_child_no_longer_watched_is_the_callers_to_reap),
		LOOP_TEST(a_child_can_be_awaited_outside_of_the_loop),
		LOOP_TEST(a_process_that_is_not_there_is_refused),
		LOOP_TEST(in_one_turn_come_descriptors_children_timers_deferred),
		LOOP_TEST(a_signal_is_an_event_and_not_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
