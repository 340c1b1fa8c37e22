/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the one event loop of a process: descriptors, timers, children, signals.
 *
 * Sources are members of their owners, which are recovered with container_of. Guarantees:
 *
 * - A callback may stop any source, its own or another's. After the stop, the owner may be
 *   freed at once.
 * - The order in one turn is: descriptors, children, timers by deadline, deferred calls. Timers
 *   with equal deadlines run in the order in which they were started.
 * - A timer that a timer starts, and a deferred call that a deferred call starts, run in the
 *   next turn at the earliest.
 * - A child is reported once; its pidfd is then closed.
 * - loop_run does not nest. loop_free asserts that nothing is registered.
 * - epoll refuses regular files: such a source counts as ready in every turn, unless paused.
 *
 * Stopping a source that is not started is harmless; starting one twice is a bug.
 */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"

/* See loop_linger. */
enum {
	LOOP_LINGER_US = 200,
	LOOP_LOOK_US = 15, /* a poll that takes longer yielded the processor to another process */
	LOOP_BUSY_US = 1000000,
};

struct loop;
struct loop_io;
struct loop_timer;
struct loop_child;
struct loop_defer;
struct loop_signal;

/* `events` are EPOLLIN, EPOLLOUT, EPOLLHUP and EPOLLERR as epoll reports them. */
typedef void loop_io_fn(struct loop_io *io, uint32_t events);
typedef void loop_timer_fn(struct loop_timer *timer);
/*
 * `wait_status` is as waitpid returns it, or a failure if other code reaped the child. The child
 * has been reaped.
 */
typedef void loop_child_fn(struct loop_child *child, int wait_status);
typedef void loop_defer_fn(struct loop_defer *defer);
typedef void loop_signal_fn(struct loop_signal *signal, int signo);

struct loop_io {
	struct loop *loop; /* NULL while stopped */
	struct list node;  /* among the always-ready sources */
	loop_io_fn *fn;
	int fd; /* borrowed; must be stopped before it is closed */
	bool always_ready;
	uint32_t events;
};

struct loop_timer {
	struct loop *loop;
	loop_timer_fn *fn;
	uint64_t deadline_ms;
	uint64_t order; /* of starting: first come, first served */
	size_t index;   /* in the heap */
};

struct loop_child {
	struct loop_io io;  /* the pidfd, owned; -1 if pidfds are forbidden */
	struct list node;   /* among the children that ended in this turn */
	struct list unheld; /* among the children without a pidfd */
	loop_child_fn *fn;
	pid_t pid;
};

struct loop_defer {
	struct loop *loop;
	struct list node;
	loop_defer_fn *fn;
};

struct loop_signal {
	struct loop_io io; /* the signalfd, owned */
	loop_signal_fn *fn;
	int signo;
};

/*
 * Makes a loop with the clock `now_ms`, which is clock_ms except in tests. Returns NULL and sets
 * *err.
 */
struct loop *loop_new(uint64_t (*now_ms)(void), struct err *err) MUST_CHECK;
void loop_free(struct loop *loop);
/* Runs turns until loop_quit is called. */
void loop_run(struct loop *loop);
/* Runs one turn that waits at most `timeout_ms`; -1 means for ever. */
void loop_turn(struct loop *loop, int timeout_ms);
void loop_quit(struct loop *loop);
/*
 * Polls without sleeping for up to `us` (at most LOOP_LINGER_US), because something is expected
 * within microseconds: this saves waking a sleeping processor. A poll that takes long shows that
 * other processes want the processor; then nothing lingers for LOOP_BUSY_US.
 */
void loop_linger(struct loop *loop, uint64_t us);
/* Returns when this turn last read the clock: before its events, or before its deferred calls. */
uint64_t loop_now(const struct loop *loop);
/* Reads the clock again. loop_now() returns this time from then on. */
uint64_t loop_update_now(struct loop *loop);

/* Watches `fd`, which is borrowed until loop_io_stop. Returns -1 and sets *err. */
int loop_io_start(struct loop *loop, struct loop_io *io, int fd, uint32_t events, loop_io_fn *fn,
		  struct err *err) MUST_CHECK;
/* Changes the events of a started source; 0 pauses it. */
void loop_io_set_events(struct loop_io *io, uint32_t events);
void loop_io_stop(struct loop_io *io);
bool loop_io_active(const struct loop_io *io);

/*
 * Starts a timer, or restarts it with a new deadline; CLOCK_NEVER stops it. If the process was
 * stopped for 2 s or more while it slept, all deadlines move by that time.
 */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint64_t deadline_ms,
		      loop_timer_fn *fn);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_active(const struct loop_timer *timer);

/*
 * Watches `pid`, a child of this process for which no other code waits. Returns -1 and sets *err.
 */
int loop_child_start(struct loop *loop, struct loop_child *child, pid_t pid, loop_child_fn *fn,
		     struct err *err) MUST_CHECK;
/* Stops watching. The caller must reap the child. */
void loop_child_stop(struct loop_child *child);
bool loop_child_active(const struct loop_child *child);
/* Waits for the end of an active child, outside the loop. Returns false after `timeout_ms`. */
bool loop_child_await(struct loop_child *child, int timeout_ms);

/*
 * Calls `fn` once, after the other callbacks of this turn. A second start before that has no
 * effect.
 */
void loop_defer_start(struct loop *loop, struct loop_defer *defer, loop_defer_fn *fn);
void loop_defer_stop(struct loop_defer *defer);

/* Blocks `signo` for the process and reports it here. Returns -1 and sets *err. */
int loop_signal_start(struct loop *loop, struct loop_signal *signal, int signo, loop_signal_fn *fn,
		      struct err *err) MUST_CHECK;
void loop_signal_stop(struct loop_signal *signal);

#endif
