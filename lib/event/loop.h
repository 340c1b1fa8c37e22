/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the one event loop of a process: descriptors, timers, children, signals.
 *
 * Sources are embedded in their owners and recovered with container_of. What is guaranteed:
 *  1. Any source may be stopped in any callback, its own or another's; after the stop its
 *     owner may be freed at once.
 *  2. Order in one turn: descriptors, then children, then timers by deadline (first come first
 *     on a tie), then deferred calls. A timer that is due when started from a timer, and a
 *     deferred call started from a deferred call, runs in the next turn.
 *  3. A child is reported once; its pidfd is then closed.
 *  4. loop_run does not nest.
 *  5. loop_free asserts that nothing is registered.
 *  6. epoll refuses regular files: such a source counts as ready in every turn, unless paused.
 * Stopping a source that is not started is harmless; starting one twice is a bug.
 */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"

enum { LOOP_LINGER_US = 200, LOOP_LOOK_US = 15, LOOP_BUSY_US = 1000000 };

struct loop;
struct loop_io;
struct loop_timer;
struct loop_child;
struct loop_defer;
struct loop_signal;

/* `events` are EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR as epoll reports them. */
typedef void loop_io_fn(struct loop_io *io, uint32_t events);
typedef void loop_timer_fn(struct loop_timer *timer);
/* `wait_status` as waitpid gives it; a failure when somebody else has it. The child has been
 * reaped. */
typedef void loop_child_fn(struct loop_child *child, int wait_status);
typedef void loop_defer_fn(struct loop_defer *defer);
typedef void loop_signal_fn(struct loop_signal *signal, int signo);

struct loop_io {
	struct loop *loop; /* NULL while stopped */
	struct list node;  /* among the always-ready ones */
	loop_io_fn *fn;
	int fd; /* borrowed: stop before closing it */
	bool always_ready;
	uint32_t events;
};

struct loop_timer {
	struct loop *loop;
	loop_timer_fn *fn;
	uint64_t deadline_ms;
	uint64_t order; /* first come, first served */
	size_t index;   /* in the heap */
};

struct loop_child {
	struct loop_io io;  /* the pidfd, owned; -1 where there are none */
	struct list node;   /* among those that ended in this turn */
	struct list unheld; /* among those without a pidfd */
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

/* `now_ms` is the clock (clock_ms but in tests). NULL with `err` set when the kernel refuses. */
struct loop *loop_new(uint64_t (*now_ms)(void), struct err *err) MUST_CHECK;
void loop_free(struct loop *loop);
/* Turns until loop_quit is called. */
void loop_run(struct loop *loop);
/* One turn that waits at most `timeout_ms` (-1: as long as it takes). */
void loop_turn(struct loop *loop, int timeout_ms);
void loop_quit(struct loop *loop);
/*
 * Something is expected within microseconds: until then (LOOP_LINGER_US at most) the next turn
 * looks for it again and again, which saves waking a processor that fell asleep. Where others want
 * the processor, which a look that takes long shows, it is theirs: for LOOP_BUSY_US nothing
 * lingers.
 */
void loop_linger(struct loop *loop, uint64_t us);
/* The time of this turn; what is deferred has one of its own. */
uint64_t loop_now(const struct loop *loop);

int loop_io_start(struct loop *loop, struct loop_io *io, int fd, uint32_t events, loop_io_fn *fn,
		  struct err *err) MUST_CHECK;
/* Another set of events for a started source; 0 pauses it. */
void loop_io_set_events(struct loop_io *io, uint32_t events);
void loop_io_stop(struct loop_io *io);
bool loop_io_active(const struct loop_io *io);

/*
 * Restarts a running timer with the new deadline. CLOCK_NEVER stops it. Deadlines move on by the
 * time for which the process was stopped in its sleep, when that was 2 s or more.
 */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint64_t deadline_ms,
		      loop_timer_fn *fn);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_active(const struct loop_timer *timer);

/* `pid` is a child of this process that nobody else waits for. */
int loop_child_start(struct loop *loop, struct loop_child *child, pid_t pid, loop_child_fn *fn,
		     struct err *err) MUST_CHECK;
/* Stops watching; the child is then the caller's to reap. */
void loop_child_stop(struct loop_child *child);
bool loop_child_active(const struct loop_child *child);
/* Waits for the end of an active child, outside of the loop; false after `timeout_ms`. */
bool loop_child_await(struct loop_child *child, int timeout_ms);

/* Once, after this turn's other callbacks. Starting it again before it ran changes nothing. */
void loop_defer_start(struct loop *loop, struct loop_defer *defer, loop_defer_fn *fn);
void loop_defer_stop(struct loop_defer *defer);

/* Blocks `signo` for the process and reports it here. */
int loop_signal_start(struct loop *loop, struct loop_signal *signal, int signo, loop_signal_fn *fn,
		      struct err *err) MUST_CHECK;
void loop_signal_stop(struct loop_signal *signal);

#endif
