/* SPDX-License-Identifier: MIT */
/*
 * loop_fixture.h - a loop on a fake clock, and named sources whose callbacks say their name.
 *
 * Include after cmocka.h.
 */
#ifndef TEST_LOOP_FIXTURE_H
#define TEST_LOOP_FIXTURE_H

#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "event/loop.h"
#include "patience.h"

#define FIXTURE_FN __attribute__((unused)) static

static uint64_t now = 1000;
static char callbacks[256]; /* one character a callback, in order */

FIXTURE_FN uint64_t fake_clock(void)
{
	return now;
}

FIXTURE_FN void say(char c)
{
	size_t len = strlen(callbacks);

	assert_true(len + 1 < sizeof(callbacks));
	callbacks[len] = c;
	callbacks[len + 1] = '\0';
}

FIXTURE_FN int set_up(void **state)
{
	struct err err;

	now = 1000;
	callbacks[0] = '\0';
	*state = loop_new(fake_clock, &err);
	assert_non_null(*state);
	return 0;
}

FIXTURE_FN int tear_down(void **state)
{
	loop_free(*state);
	return 0;
}

/* ---- sources ---- */

struct reader {
	struct loop_io io;
	char name;
	uint32_t events;
	struct loop_io *stops;
};

FIXTURE_FN void on_ready(struct loop_io *io, uint32_t events)
{
	struct reader *r = container_of(io, struct reader, io);

	r->events = events;
	say(r->name);
	if (r->stops != NULL)
		loop_io_stop(r->stops);
}

struct alarm_clock {
	struct loop_timer timer;
	struct loop *loop;
	char name;
	struct alarm_clock *starts;
	struct alarm_clock *stops;
};

FIXTURE_FN void on_timer(struct loop_timer *timer)
{
	struct alarm_clock *a = container_of(timer, struct alarm_clock, timer);

	say(a->name);
	if (a->starts != NULL)
		loop_timer_start(a->loop, &a->starts->timer, now, on_timer);
	if (a->stops != NULL)
		loop_timer_stop(&a->stops->timer);
}

struct later {
	struct loop_defer defer;
	struct loop *loop;
	char name;
	struct later *starts;
	struct later *stops;
};

FIXTURE_FN void on_later(struct loop_defer *defer)
{
	struct later *l = container_of(defer, struct later, defer);

	say(l->name);
	if (l->starts != NULL)
		loop_defer_start(l->loop, &l->starts->defer, on_later);
	if (l->stops != NULL)
		loop_defer_stop(&l->stops->defer);
}

FIXTURE_FN pid_t start_child(int status)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(status);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
