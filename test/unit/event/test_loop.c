/* SPDX-License-Identifier: MIT */
/* The guarantees of loop.h: descriptors, and stopping any source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "loop_fixture.h"
#include "scratch.h"

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
		callbacks[0] = '\0';
		victims[0] = victim_new(*state, kinds[i]);
		victims[1] = victim_new(*state, kinds[i]);
		loop_turn(*state, 0);
		loop_turn(*state, 0);
		assert_int_equal(strlen(callbacks), 1); /* no other callback ran */
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
	assert_string_equal(callbacks, "s");
}

/* ---- descriptors ---- */

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
	assert_int_equal(strlen(callbacks), 1);
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
	assert_string_equal(callbacks, "");
	(void)!write(ends[1], "x", 1);
	loop_turn(*state, 0);
	assert_int_equal(r.events, EPOLLIN);
	loop_io_set_events(&r.io, 0);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "r");
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
	assert_string_equal(callbacks, "rrr");
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
	assert_string_equal(callbacks, "fff");
	assert_int_equal(r.events, EPOLLIN);
	loop_io_stop(&r.io);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "fff");
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
	assert_string_equal(callbacks, "");
	loop_io_set_events(&r.io, EPOLLIN);
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "f");
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
	assert_string_equal(callbacks, "aa");
	a.stops = &a.io;
	assert_int_equal(loop_io_start(*state, &b.io, second, EPOLLIN, on_ready, &err), 0);
	loop_turn(*state, 0);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "aaab");
	fd_close(&first);
	fd_close(&second);
	scratch_release(&scratch);
}

/* ---- lingering ---- */

static bool sleeps(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/stat", pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char stat[256] = "";
	const char *end;

	assert_true(read(fd, stat, sizeof(stat) - 1) > 0);
	end = strrchr(stat, ')');
	return end != NULL && end[1] == ' ' && end[2] == 'S';
}

static void a_turn_that_lingers_sees_what_comes_and_then_waits_as_ever(void **state)
{
	struct reader r = { .name = 'r' };
	struct err err;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(loop_io_start(*state, &r.io, ends[0], EPOLLIN, on_ready, &err), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	loop_linger(*state, LOOP_LINGER_US);
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "r");
	assert_int_equal(read(ends[0], callbacks + 1, 1), 1);
	callbacks[1] = '\0';
	loop_linger(*state, LOOP_LINGER_US);
	loop_turn(*state, 0);
	assert_string_equal(callbacks, "r");
	loop_linger(*state, UINT64_MAX / 2);
	pid = fork();
	if (pid == 0) { /* after any lingering */
		while (!sleeps(getppid()))
			(void)sched_yield();
		_exit(write(ends[1], "x", 1) != 1);
	}
	loop_turn(*state, -1);
	assert_string_equal(callbacks, "rr");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	loop_io_stop(&r.io);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

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
		LOOP_TEST(a_turn_that_lingers_sees_what_comes_and_then_waits_as_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
