/* SPDX-License-Identifier: MIT */
/* The guarantees of loop.h: timers, deferred calls, running. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "aborts.h"
#include "loop_fixture.h"

/* ---- timers ---- */

static void timers_run_by_deadline_and_ties_first_come(void **state)
{
	static const struct {
		char name;
		unsigned after;
	} rows[] = { { 'd', 30 }, { 'a', 10 }, { 'e', 30 }, { 'b', 10 }, { 'c', 20 }, { 'f', 30 } };
	struct alarm_clock alarms[ARRAY_SIZE(rows)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		alarms[i].name = rows[i].name;
		loop_timer_start(*state, &alarms[i].timer, now + rows[i].after, on_timer);
	}
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
	now += 9;
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
	now += 1;
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "ab");
	now += 100;
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "abcdef");
	assert_false(loop_timer_active(&alarms[0].timer));
	assert_int_equal(loop_now(*state), now);
	now += 5;
	assert_int_equal(loop_now(*state), now - 5);
	assert_int_equal(loop_update_now(*state), now);
	assert_int_equal(loop_now(*state), now);
}

static void any_timer_of_many_may_be_stopped(void **state)
{
	struct alarm_clock alarms[40] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(alarms); i++) {
		alarms[i].name = (char)('A' + i);
		loop_timer_start(*state, &alarms[i].timer, now + (i * 7) % 40, on_timer);
	}
	for (size_t i = 0; i < ARRAY_SIZE(alarms); i++)
		if (i % 4 != 1)
			loop_timer_stop(&alarms[i].timer);
	loop_timer_stop(&alarms[0].timer);
	now += 100;
	loop_turn(*state, 0);
	assert_int_equal(strlen(callbacks), 10);
	for (size_t i = 1; i < 10; i++) {
		size_t before = (size_t)(callbacks[i - 1] - 'A');
		size_t after = (size_t)(callbacks[i] - 'A');

		assert_true((before * 7) % 40 < (after * 7) % 40);
	}
}

static void a_timer_started_by_a_timer_waits_for_the_next_turn(void **state)
{
	struct alarm_clock a = { .loop = *state, .name = 'a' };

	a.starts = &a;
	loop_timer_start(*state, &a.timer, now, on_timer);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "a");
	loop_turn(*state, -1); /* due: does not wait */
	assert_string_equal(callbacks, "aa");
	loop_timer_stop(&a.timer);
}

static void a_due_timer_may_be_stopped_by_an_earlier_one(void **state)
{
	struct alarm_clock b = { .name = 'b' };
	struct alarm_clock a = { .name = 'a', .stops = &b };

	loop_timer_start(*state, &a.timer, now, on_timer);
	loop_timer_start(*state, &b.timer, now, on_timer);
	loop_turn(*state, 0);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "a");
}

static void starting_a_running_timer_moves_it(void **state)
{
	struct alarm_clock a = { .name = 'a' };

	loop_timer_start(*state, &a.timer, now + 10, on_timer);
	loop_timer_start(*state, &a.timer, now + 50, on_timer);
	now += 20;
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
	loop_timer_start(*state, &a.timer, CLOCK_NEVER, on_timer);
	assert_false(loop_timer_active(&a.timer));
	now += 1000;
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "");
}

static void a_far_timer_does_not_overflow_the_wait(void **state)
{
	struct alarm_clock a = { .name = 'a' };
	struct reader r = { .name = 'r' };
	struct err err;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)!write(ends[1], "x", 1);
	assert_int_equal(loop_io_start(*state, &r.io, ends[0], EPOLLIN, on_ready, &err), 0);
	loop_timer_start(*state, &a.timer, now + ((uint64_t)1 << 40), on_timer);
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "r");
	loop_io_stop(&r.io);
	loop_timer_stop(&a.timer);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

/* A clock that moves on once the loop has decided how long it sleeps: as its third reader sees it.
 */
static uint64_t slept_ms;
static int looks;

static uint64_t stopping_clock(void)
{
	return ++looks >= 3 ? now + slept_ms : now;
}

static void turn_that_sleeps(struct loop *loop, uint64_t ms)
{
	looks = 0;
	slept_ms = ms;
	loop_turn(loop, 0);
	now += ms;
}

static void a_pause_of_the_process_lets_no_deadline_pass(void **state)
{
	struct err err;
	struct loop *loop = loop_new(stopping_clock, &err);
	struct alarm_clock a = { .name = 'a' };
	struct alarm_clock b = { .name = 'b' };

	(void)state;
	loop_timer_start(loop, &a.timer, now + 1000, on_timer);
	loop_timer_start(loop, &b.timer, now + 5000, on_timer);
	turn_that_sleeps(loop, 60000);
	assert_string_equal(callbacks, "");
	assert_int_equal(a.timer.deadline_ms, now + 1000);
	turn_that_sleeps(loop, 1999); /* as a busy machine may be late */
	assert_string_equal(callbacks, "a");
	assert_int_equal(b.timer.deadline_ms, now + 3001);
	loop_timer_stop(&b.timer);
	loop_free(loop);
}

/* ---- deferred calls ---- */

static void deferred_calls_run_once_in_order(void **state)
{
	struct later a = { .name = 'a' };
	struct later b = { .name = 'b' };

	loop_defer_start(*state, &a.defer, on_later);
	loop_defer_start(*state, &b.defer, on_later);
	loop_defer_start(*state, &a.defer, on_later); /* changes nothing */
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "ab");
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "ab");
}

static void a_deferred_call_from_a_deferred_call_runs_next_turn(void **state)
{
	struct later a = { .loop = *state, .name = 'a' };

	a.starts = &a;
	loop_defer_start(*state, &a.defer, on_later);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "a");
	a.starts = NULL;
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "aa");
}

static void a_deferred_call_may_be_stopped_by_another(void **state)
{
	struct later b = { .name = 'b' };
	struct later a = { .name = 'a', .stops = &b };

	loop_defer_start(*state, &a.defer, on_later);
	loop_defer_start(*state, &b.defer, on_later);
	loop_turn(*state, 0);
	loop_defer_stop(&b.defer);
	assert_string_equal(callbacks, "a");
}

/* ---- running ---- */

static void on_quit(struct loop_timer *timer)
{
	say('q');
	loop_quit(container_of(timer, struct alarm_clock, timer)->loop);
}

static void running_ends_with_the_turn_that_quits(void **state)
{
	struct alarm_clock a = { .loop = *state, .name = 'a' };
	struct later d = { .name = 'd' };

	loop_timer_start(*state, &a.timer, now, on_quit);
	loop_defer_start(*state, &d.defer, on_later);
	loop_run(*state);
	assert_string_equal(callbacks, "qd");
	loop_timer_start(*state, &a.timer, now, on_quit);
	loop_run(*state); /* runs again */
	assert_string_equal(callbacks, "qdq");
}

static void on_nest(struct loop_defer *defer)
{
	loop_turn(container_of(defer, struct later, defer)->loop, 0);
}

static void nest(void)
{
	struct err err;
	struct later d = { .loop = loop_new(fake_clock, &err) };

	loop_defer_start(d.loop, &d.defer, on_nest);
	loop_turn(d.loop, 0);
}

static void free_with_a_timer(void)
{
	struct err err;
	struct loop *loop = loop_new(fake_clock, &err);
	struct alarm_clock a = { .name = 'a' };

	loop_timer_start(loop, &a.timer, now, on_timer);
	loop_free(loop);
}

static void free_with_a_descriptor(void)
{
	struct err err;
	struct loop *loop = loop_new(fake_clock, &err);
	struct reader r = { .name = 'r' };

	if (loop_io_start(loop, &r.io, STDIN_FILENO, EPOLLIN, on_ready, &err) < 0)
		abort();
	loop_free(loop);
}

static void free_with_a_deferred_call(void)
{
	struct err err;
	struct loop *loop = loop_new(fake_clock, &err);
	struct later d = { .name = 'd' };

	loop_defer_start(loop, &d.defer, on_later);
	loop_free(loop);
}

static void start_twice(void)
{
	struct err err;
	struct loop *loop = loop_new(fake_clock, &err);
	struct reader r = { .name = 'r' };

	if (loop_io_start(loop, &r.io, STDERR_FILENO, EPOLLOUT, on_ready, &err) == 0)
		(void)!loop_io_start(loop, &r.io, STDERR_FILENO, EPOLLOUT, on_ready, &err);
}

static void our_own_mistakes_abort(void **state)
{
	(void)state;
	assert_aborts(nest);
	assert_aborts(free_with_a_timer);
	assert_aborts(free_with_a_descriptor);
	assert_aborts(free_with_a_deferred_call);
	assert_aborts(start_twice);
	loop_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(timers_run_by_deadline_and_ties_first_come),
		LOOP_TEST(any_timer_of_many_may_be_stopped),
		LOOP_TEST(a_timer_started_by_a_timer_waits_for_the_next_turn),
		LOOP_TEST(a_due_timer_may_be_stopped_by_an_earlier_one),
		LOOP_TEST(starting_a_running_timer_moves_it),
		LOOP_TEST(a_far_timer_does_not_overflow_the_wait),
		LOOP_TEST(a_pause_of_the_process_lets_no_deadline_pass),
		LOOP_TEST(deferred_calls_run_once_in_order),
		LOOP_TEST(a_deferred_call_from_a_deferred_call_runs_next_turn),
		LOOP_TEST(a_deferred_call_may_be_stopped_by_another),
		LOOP_TEST(running_ends_with_the_turn_that_quits),
		cmocka_unit_test(our_own_mistakes_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
