/* SPDX-License-Identifier: MIT */
/* What loop.h guarantees, each a test, on a fake clock where time matters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "aborts.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "event/loop.h"
#include "scratch.h"

enum { PATIENCE_MS = 10000 };

static uint64_t now = 1000;
static char said[256]; /* one character a callback, in order */

static uint64_t fake_clock(void)
{
	return now;
}

static void say(char c)
{
	size_t len = strlen(said);

	assert_true(len + 1 < sizeof(said));
	said[len] = c;
	said[len + 1] = '\0';
}

static int set_up(void **state)
{
	struct err err;

	now = 1000;
	said[0] = '\0';
	*state = loop_new(fake_clock, &err);
	assert_non_null(*state);
	return 0;
}

static int tear_down(void **state)
{
	loop_free(*state);
	return 0;
}

/* ---- a heap object with a source of every kind, that frees others ---- */

struct victim {
	struct loop_io io;
	struct loop_timer timer;
	struct loop_child child;
	struct loop_defer defer;
	struct loop_signal sig;
	int pipe[2];
	pid_t pid;
};

static struct victim *victims[2];

static void victim_free(struct victim *v)
{
	loop_io_stop(&v->io);
	loop_timer_stop(&v->timer);
	loop_child_stop(&v->child);
	loop_defer_stop(&v->defer);
	loop_signal_stop(&v->sig);
	fd_close(&v->pipe[0]);
	fd_close(&v->pipe[1]);
	if (v->pid > 0)
		(void)waitpid(v->pid, NULL, 0);
	free(v);
}

/* The first callback that runs frees both owners, its own source's included. */
static void free_all(char kind)
{
	say(kind);
	for (size_t i = 0; i < ARRAY_SIZE(victims); i++) {
		if (victims[i] != NULL)
			victim_free(victims[i]);
		victims[i] = NULL;
	}
}

static void free_from_io(struct loop_io *io, uint32_t events)
{
	(void)io;
	(void)events;
	free_all('i');
}

static void free_from_timer(struct loop_timer *timer)
{
	(void)timer;
	free_all('t');
}

static void free_from_child(struct loop_child *child, int wait_status)
{
	struct victim *v = container_of(child, struct victim, child);

	(void)wait_status;
	v->pid = 0; /* the loop has reaped it */
	free_all('c');
}

static void free_from_defer(struct loop_defer *defer)
{
	(void)defer;
	free_all('d');
}

static void free_from_signal(struct loop_signal *sig, int signo)
{
	(void)sig;
	(void)signo;
	free_all('s');
}

static pid_t start_child(int status)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(status);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

/* All sources named in `kinds` are ready in the same turn. */
static struct victim *victim_new(struct loop *loop, const char *kinds)
{
	struct victim *v = xcalloc(1, sizeof(*v));
	struct err err;

	assert_int_equal(pipe2(v->pipe, O_CLOEXEC), 0);
	if (strchr(kinds, 'i') != NULL) {
		assert_int_equal(write(v->pipe[1], "x", 1), 1);
		assert_int_equal(
			loop_io_start(loop, &v->io, v->pipe[0], EPOLLIN, free_from_io, &err), 0);
	}
	if (strchr(kinds, 't') != NULL)
		loop_timer_start(loop, &v->timer, now, free_from_timer);
	if (strchr(kinds, 'c') != NULL) {
		v->pid = start_child(0);
		assert_int_equal(loop_child_start(loop, &v->child, v->pid, free_from_child, &err),
				 0);
	}
	if (strchr(kinds, 'd') != NULL)
		loop_defer_start(loop, &v->defer, free_from_defer);
	return v;
}

static void any_source_may_be_stopped_in_any_callback_and_its_owner_freed(void **state)
{
	static const char *const kinds[] = { "i", "c", "t", "d", "itcd", "tcd", "td" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		said[0] = '\0';
		victims[0] = victim_new(*state, kinds[i]);
		victims[1] = victim_new(*state, kinds[i]);
		loop_turn(*state, 0);
		loop_turn(*state, 0);
		assert_int_equal(strlen(said), 1); /* nobody else ran */
	}
}

static void a_signals_owner_may_be_freed_in_its_callback(void **state)
{
	struct err err;

	victims[0] = victim_new(*state, "it");
	loop_io_stop(&victims[0]->io);
	victims[1] = NULL;
	assert_int_equal(
		loop_signal_start(*state, &victims[0]->sig, SIGHUP, free_from_signal, &err), 0);
	assert_int_equal(kill(getpid(), SIGHUP), 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "s");
}

/* ---- descriptors ---- */

struct reader {
	struct loop_io io;
	char name;
	uint32_t events;
	struct loop_io *stops;
};

static void on_ready(struct loop_io *io, uint32_t events)
{
	struct reader *r = container_of(io, struct reader, io);

	r->events = events;
	say(r->name);
	if (r->stops != NULL)
		loop_io_stop(r->stops);
}

static void stopping_a_source_drops_its_queued_event(void **state)
{
	struct reader a = { .name = 'a' };
	struct reader b = { .name = 'b' };
	struct err err;
	int ends[2];

	a.stops = &b.io;
	b.stops = &a.io;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)!write(ends[1], "x", 1);
	assert_int_equal(loop_io_start(*state, &a.io, ends[0], EPOLLIN, on_ready, &err), 0);
	assert_int_equal(loop_io_start(*state, &b.io, ends[1], EPOLLOUT, on_ready, &err), 0);
	assert_true(loop_io_active(&a.io) && loop_io_active(&b.io));
	loop_turn(*state, 0);
	assert_int_equal(strlen(said), 1);
	assert_true(loop_io_active(&a.io) != loop_io_active(&b.io));
	loop_io_stop(&a.io);
	loop_io_stop(&b.io);
	loop_io_stop(&b.io); /* harmless */
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

static void a_source_tells_the_events_asked_for_and_the_end(void **state)
{
	struct reader r = { .name = 'r' };
	struct err err;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(loop_io_start(*state, &r.io, ends[0], EPOLLIN, on_ready, &err), 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "");
	(void)!write(ends[1], "x", 1);
	loop_turn(*state, 0);
	assert_int_equal(r.events, EPOLLIN);
	loop_io_set_events(&r.io, 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "r");
	loop_io_set_events(&r.io, EPOLLIN);
	loop_io_set_events(&r.io, EPOLLIN);
	fd_close(&ends[1]);
	loop_turn(*state, 0);
	assert_int_equal(r.events, EPOLLIN | EPOLLHUP);
	loop_io_stop(&r.io);
	fd_close(&ends[0]);
}

static void a_bad_descriptor_is_refused(void **state)
{
	struct reader r = { .name = 'r' };
	struct err err;

	assert_int_equal(loop_io_start(*state, &r.io, -1, EPOLLIN, on_ready, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_false(loop_io_active(&r.io));
}

static void a_number_that_comes_back_after_a_stop_is_a_new_source(void **state)
{
	struct reader r = { .name = 'r' };
	struct err err;
	int ends[2];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(loop_io_start(*state, &r.io, ends[0], EPOLLIN, on_ready, &err), 0);
		fd_close(&ends[1]);
		loop_turn(*state, 0);
		loop_io_stop(&r.io);
		fd_close(&ends[0]);
	}
	assert_string_equal(said, "rrr");
}

/* ---- regular files, which epoll refuses ---- */

static void a_regular_file_is_ready_in_every_turn(void **state)
{
	struct reader r = { .name = 'f' };
	struct scratch scratch;
	struct err err;
	int fd;

	scratch_init(&scratch);
	scratch_write(scratch.fd, "in", "x");
	fd = openat(scratch.fd, "in", O_RDONLY | O_CLOEXEC);
	assert_int_equal(loop_io_start(*state, &r.io, fd, EPOLLIN, on_ready, &err), 0);
	for (int i = 0; i < 3; i++)
		loop_turn(*state, -1); /* does not wait */
	assert_string_equal(said, "fff");
	assert_int_equal(r.events, EPOLLIN);
	loop_io_stop(&r.io);
	loop_turn(*state, 0);
	assert_string_equal(said, "fff");
	fd_close(&fd);
	scratch_release(&scratch);
}

static void a_paused_regular_file_is_quiet_and_lets_the_loop_wait(void **state)
{
	struct reader r = { .name = 'f' };
	struct scratch scratch;
	struct err err;
	int fd;

	scratch_init(&scratch);
	scratch_write(scratch.fd, "in", "x");
	fd = openat(scratch.fd, "in", O_RDONLY | O_CLOEXEC);
	assert_int_equal(loop_io_start(*state, &r.io, fd, EPOLLIN, on_ready, &err), 0);
	loop_io_set_events(&r.io, 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "");
	loop_io_set_events(&r.io, EPOLLIN);
	loop_turn(*state, -1);
	assert_string_equal(said, "f");
	loop_io_stop(&r.io);
	fd_close(&fd);
	scratch_release(&scratch);
}

static void regular_files_may_stop_each_other(void **state)
{
	struct reader a = { .name = 'a' };
	struct reader b = { .name = 'b' };
	struct scratch scratch;
	struct err err;
	int first;
	int second;

	a.stops = &b.io;
	b.stops = &b.io;
	scratch_init(&scratch);
	scratch_write(scratch.fd, "in", "x");
	first = openat(scratch.fd, "in", O_RDONLY | O_CLOEXEC);
	second = openat(scratch.fd, "in", O_RDONLY | O_CLOEXEC);
	assert_int_equal(loop_io_start(*state, &a.io, first, EPOLLIN, on_ready, &err), 0);
	assert_int_equal(loop_io_start(*state, &b.io, second, EPOLLIN, on_ready, &err), 0);
	loop_turn(*state, 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "aa");
	a.stops = &a.io;
	assert_int_equal(loop_io_start(*state, &b.io, second, EPOLLIN, on_ready, &err), 0);
	loop_turn(*state, 0);
	loop_turn(*state, 0);
	assert_string_equal(said, "aaab");
	fd_close(&first);
	fd_close(&second);
	scratch_release(&scratch);
}

/* ---- timers ---- */

struct alarm_clock {
	struct loop_timer timer;
	struct loop *loop;
	char name;
	struct alarm_clock *starts;
	struct alarm_clock *stops;
};

static void on_timer(struct loop_timer *timer)
{
	struct alarm_clock *a = container_of(timer, struct alarm_clock, timer);

	say(a->name);
	if (a->starts != NULL)
		loop_timer_start(a->loop, &a->starts->timer, now, on_timer);
	if (a->stops != NULL)
		loop_timer_stop(&a->stops->timer);
}

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
	assert_string_equal(said, "");
	now += 9;
	loop_turn(*state, 0);
	assert_string_equal(said, "");
	now += 1;
	loop_turn(*state, 0);
	assert_string_equal(said, "ab");
	now += 100;
	loop_turn(*state, 0);
	assert_string_equal(said, "abcdef");
	assert_false(loop_timer_active(&alarms[0].timer));
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
	assert_int_equal(strlen(said), 10);
	for (size_t i = 1; i < 10; i++) {
		size_t before = (size_t)(said[i - 1] - 'A');
		size_t after = (size_t)(said[i] - 'A');

		assert_true((before * 7) % 40 < (after * 7) % 40);
	}
}

static void a_timer_started_by_a_timer_waits_for_the_next_turn(void **state)
{
	struct alarm_clock a = { .loop = *state, .name = 'a' };

	a.starts = &a;
	loop_timer_start(*state, &a.timer, now, on_timer);
	loop_turn(*state, 0);
	assert_string_equal(said, "a");
	loop_turn(*state, -1); /* due: does not wait */
	assert_string_equal(said, "aa");
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
	assert_string_equal(said, "a");
}

static void starting_a_running_timer_moves_it(void **state)
{
	struct alarm_clock a = { .name = 'a' };

	loop_timer_start(*state, &a.timer, now + 10, on_timer);
	loop_timer_start(*state, &a.timer, now + 50, on_timer);
	now += 20;
	loop_turn(*state, 0);
	assert_string_equal(said, "");
	loop_timer_start(*state, &a.timer, CLOCK_NEVER, on_timer);
	assert_false(loop_timer_active(&a.timer));
	now += 1000;
	loop_turn(*state, 0);
	assert_string_equal(said, "");
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
	assert_string_equal(said, "r");
	loop_io_stop(&r.io);
	loop_timer_stop(&a.timer);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

/* ---- deferred calls ---- */

struct later {
	struct loop_defer defer;
	struct loop *loop;
	char name;
	struct later *starts;
	struct later *stops;
};

static void on_later(struct loop_defer *defer)
{
	struct later *l = container_of(defer, struct later, defer);

	say(l->name);
	if (l->starts != NULL)
		loop_defer_start(l->loop, &l->starts->defer, on_later);
	if (l->stops != NULL)
		loop_defer_stop(&l->stops->defer);
}

static void deferred_calls_run_once_in_order(void **state)
{
	struct later a = { .name = 'a' };
	struct later b = { .name = 'b' };

	loop_defer_start(*state, &a.defer, on_later);
	loop_defer_start(*state, &b.defer, on_later);
	loop_defer_start(*state, &a.defer, on_later); /* changes nothing */
	loop_turn(*state, -1);
	assert_string_equal(said, "ab");
	loop_turn(*state, 0);
	assert_string_equal(said, "ab");
}

static void a_deferred_call_from_a_deferred_call_runs_next_turn(void **state)
{
	struct later a = { .loop = *state, .name = 'a' };

	a.starts = &a;
	loop_defer_start(*state, &a.defer, on_later);
	loop_turn(*state, 0);
	assert_string_equal(said, "a");
	a.starts = NULL;
	loop_turn(*state, -1);
	assert_string_equal(said, "aa");
}

static void a_deferred_call_may_be_stopped_by_another(void **state)
{
	struct later b = { .name = 'b' };
	struct later a = { .name = 'a', .stops = &b };

	loop_defer_start(*state, &a.defer, on_later);
	loop_defer_start(*state, &b.defer, on_later);
	loop_turn(*state, 0);
	loop_defer_stop(&b.defer);
	assert_string_equal(said, "a");
}

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
	assert_string_equal(said, "");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
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
	assert_string_equal(said, "rctd");
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
	assert_string_equal(said, "");
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	loop_turn(*state, PATIENCE_MS);
	loop_turn(*state, 0);
	assert_string_equal(said, "T");
	loop_signal_stop(&sig);
	loop_signal_stop(&sig);
	assert_int_equal(sig.io.fd, -1);
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
	assert_string_equal(said, "qd");
	loop_timer_start(*state, &a.timer, now, on_quit);
	loop_run(*state); /* runs again */
	assert_string_equal(said, "qdq");
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

#define LOOP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(any_source_may_be_stopped_in_any_callback_and_its_owner_freed),
		LOOP_TEST(a_signals_owner_may_be_freed_in_its_callback),
		LOOP_TEST(stopping_a_source_drops_its_queued_event),
		LOOP_TEST(a_source_tells_the_events_asked_for_and_the_end),
		LOOP_TEST(a_bad_descriptor_is_refused),
		LOOP_TEST(a_number_that_comes_back_after_a_stop_is_a_new_source),
		LOOP_TEST(a_regular_file_is_ready_in_every_turn),
		LOOP_TEST(a_paused_regular_file_is_quiet_and_lets_the_loop_wait),
		LOOP_TEST(regular_files_may_stop_each_other),
		LOOP_TEST(timers_run_by_deadline_and_ties_first_come),
		LOOP_TEST(any_timer_of_many_may_be_stopped),
		LOOP_TEST(a_timer_started_by_a_timer_waits_for_the_next_turn),
		LOOP_TEST(a_due_timer_may_be_stopped_by_an_earlier_one),
		LOOP_TEST(starting_a_running_timer_moves_it),
		LOOP_TEST(a_far_timer_does_not_overflow_the_wait),
		LOOP_TEST(deferred_calls_run_once_in_order),
		LOOP_TEST(a_deferred_call_from_a_deferred_call_runs_next_turn),
		LOOP_TEST(a_deferred_call_may_be_stopped_by_another),
		LOOP_TEST(a_child_is_reported_once_and_reaped),
		LOOP_TEST(a_killed_child_tells_its_signal),
		LOOP_TEST(a_child_no_longer_watched_is_the_callers_to_reap),
		LOOP_TEST(a_process_that_is_not_there_is_refused),
		LOOP_TEST(in_one_turn_come_descriptors_children_timers_deferred),
		LOOP_TEST(a_signal_is_an_event_and_not_the_end),
		LOOP_TEST(running_ends_with_the_turn_that_quits),
		cmocka_unit_test(our_own_mistakes_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
