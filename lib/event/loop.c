/* SPDX-License-Identifier: MIT */
/*
 * loop.c - epoll, a heap of timers, pidfds and signalfds. Stopping a source clears it from the
 * batch that epoll returned, so its owner may be freed within a callback. Where a filter forbids
 * pidfd_open, SIGCHLD and waitid replace it. An overlong sleep (a paused container) moves all
 * timers.
 */
#include "event/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { LOOP_BATCH = 64, LOOP_PAUSE_MS = 2000 };

struct loop {
	int epoll_fd;
	bool quit;
	bool running;
	uint64_t now;
	uint64_t (*now_ms)(void);
	size_t source_count; /* started descriptors, those of children and signals included */
	struct epoll_event batch[LOOP_BATCH];
	int batch_len; /* -1: a signal came first */
	struct list always_ready;
	struct list ended;               /* children of this turn */
	struct list unheld;              /* children without a pidfd */
	struct loop_signal child_signal; /* started with the first child without a pidfd */
	struct list deferred;
	struct list deferred_now; /* running in this turn */
	struct loop_timer **heap; /* a heap, ordered by deadline, then by order of starting */
	size_t heap_len;
	size_t heap_cap;
	uint64_t next_order;
	uint64_t linger_us; /* clock_us() until which turns do not sleep; 0: they do */
	uint64_t busy_us;   /* clock_us() until which turns always sleep */
};

struct loop *loop_new(uint64_t (*now_ms)(void), struct err *err)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0) {
		(void)err_sys(err, "creating an event loop");
		free(loop);
		return NULL;
	}
	loop->now_ms = now_ms;
	loop->now = now_ms();
	list_init(&loop->always_ready);
	list_init(&loop->ended);
	list_init(&loop->unheld);
	list_init(&loop->deferred);
	list_init(&loop->deferred_now);
	return loop;
}

void loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	assert(loop->source_count == 0);
	assert(loop->heap_len == 0);
	assert(list_empty(&loop->deferred));
	fd_close(&loop->epoll_fd);
	free(loop->heap);
	free(loop);
}

uint64_t loop_now(const struct loop *loop)
{
	return loop->now;
}

uint64_t loop_update_now(struct loop *loop)
{
	loop->now = loop->now_ms();
	return loop->now;
}

void loop_quit(struct loop *loop)
{
	loop->quit = true;
}

int loop_io_start(struct loop *loop, struct loop_io *io, int fd, uint32_t events, loop_io_fn *fn,
		  struct err *err)
{
	struct epoll_event event = { .events = events, .data.ptr = io };

	assert(io->loop == NULL);
	io->always_ready = false;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		if (errno != EPERM)
			return err_sys(err, "watching descriptor %d", fd);
		io->always_ready = true;
		list_init(&io->node);
		list_append(&loop->always_ready, &io->node);
	}
	io->loop = loop;
	io->fd = fd;
	io->fn = fn;
	io->events = events;
	loop->source_count++;
	return 0;
}

void loop_io_set_events(struct loop_io *io, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = io };

	assert(io->loop != NULL);
	if (io->events == events)
		return;
	io->events = events;
	if (io->always_ready) {
		list_remove(&io->node);
		if (events != 0)
			list_append(&io->loop->always_ready, &io->node);
		return;
	}
	if (epoll_ctl(io->loop->epoll_fd, EPOLL_CTL_MOD, io->fd, &event) < 0)
		abort(); /* only a descriptor that was closed without stopping it can fail here */
}

void loop_io_stop(struct loop_io *io)
{
	struct loop *loop = io->loop;

	if (loop == NULL)
		return;
	if (io->always_ready)
		list_remove(&io->node);
	else
		(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
	/* The rest of the batch may name this source, and its owner may be freed next. */
	for (int i = 0; i < loop->batch_len; i++)
		if (loop->batch[i].data.ptr == io)
			loop->batch[i].data.ptr = NULL;
	io->loop = NULL;
	loop->source_count--;
}

bool loop_io_active(const struct loop_io *io)
{
	return io->loop != NULL;
}

/* ---- timers: a binary heap that knows each timer's place ---- */

static bool timer_before(const struct loop_timer *a, const struct loop_timer *b)
{
	if (a->deadline_ms != b->deadline_ms)
		return a->deadline_ms < b->deadline_ms;
	return a->order < b->order;
}

static void heap_place(struct loop *loop, size_t index, struct loop_timer *timer)
{
	loop->heap[index] = timer;
	timer->index = index;
}

static void heap_up(struct loop *loop, size_t index)
{
	struct loop_timer *timer = loop->heap[index];

	while (index > 0 && timer_before(timer, loop->heap[(index - 1) / 2])) {
		heap_place(loop, index, loop->heap[(index - 1) / 2]);
		index = (index - 1) / 2;
	}
	heap_place(loop, index, timer);
}

static void heap_down(struct loop *loop, size_t index)
{
	struct loop_timer *timer = loop->heap[index];

	for (;;) {
		size_t child = index * 2 + 1;

		if (child >= loop->heap_len)
			break;
		if (child + 1 < loop->heap_len &&
		    timer_before(loop->heap[child + 1], loop->heap[child]))
			child++;
		if (!timer_before(loop->heap[child], timer))
			break;
		heap_place(loop, index, loop->heap[child]);
		index = child;
	}
	heap_place(loop, index, timer);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint64_t deadline_ms,
		      loop_timer_fn *fn)
{
	loop_timer_stop(timer);
	if (deadline_ms == CLOCK_NEVER)
		return;
	timer->loop = loop;
	timer->fn = fn;
	timer->deadline_ms = deadline_ms;
	timer->order = loop->next_order++;
	if (loop->heap_len == loop->heap_cap) {
		loop->heap_cap = loop->heap_cap > 0 ? loop->heap_cap * 2 : 16;
		loop->heap = xrealloc(loop->heap, loop->heap_cap * sizeof(struct loop_timer *));
	}
	heap_place(loop, loop->heap_len, timer);
	heap_up(loop, loop->heap_len++);
}

void loop_timer_stop(struct loop_timer *timer)
{
	struct loop *loop = timer->loop;
	size_t index = timer->index;

	if (loop == NULL)
		return;
	timer->loop = NULL;
	loop->heap_len--;
	if (index == loop->heap_len)
		return;
	heap_place(loop, index, loop->heap[loop->heap_len]);
	heap_down(loop, index);
	heap_up(loop, index);
}

bool loop_timer_active(const struct loop_timer *timer)
{
	return timer->loop != NULL;
}

/* ---- children ---- */

static void on_signalfd(struct loop_io *io, uint32_t events);

static void on_pidfd(struct loop_io *io, uint32_t events)
{
	struct loop_child *child = container_of(io, struct loop_child, io);

	(void)events;
	if (list_empty(&child->node))
		list_append(&io->loop->ended, &child->node);
}

/* Without pidfds SIGCHLD says that a child ended, not which one. */
static void on_child_signal(struct loop_signal *signal, int signo)
{
	struct loop *loop = container_of(signal, struct loop, child_signal);

	(void)signo;
	list_for_each (struct loop_child, child, &loop->unheld, unheld)
		if (list_empty(&child->node))
			list_append(&loop->ended, &child->node);
}

/* Returns -1 if there is no such child. */
static int poll_child(pid_t pid, bool *ret_ended)
{
	siginfo_t info = { .si_pid = 0 };
	int result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

	*ret_ended = result < 0 || info.si_pid != 0;
	return result;
}

/* Watches a child where a filter of system calls forbids pidfds. */
static int start_unheld(struct loop *loop, struct loop_child *child, struct err *err)
{
	bool ended;

	if (poll_child(child->pid, &ended) < 0) {
		errno = ESRCH;
		return err_sys(err, "watching process %d", (int)child->pid);
	}
	if (list_empty(&loop->unheld) &&
	    loop_signal_start(loop, &loop->child_signal, SIGCHLD, on_child_signal, err) < 0)
		return -1;
	child->io.loop = loop;
	child->io.fd = -1;
	list_init(&child->unheld);
	list_append(&loop->unheld, &child->unheld);
	/* It may have ended before the signal was watched. */
	list_append(&loop->ended, &child->node);
	return 0;
}

static void stop_unheld(struct loop_child *child)
{
	struct loop *loop = child->io.loop;

	list_remove(&child->unheld);
	child->io.loop = NULL;
	if (list_empty(&loop->unheld))
		loop_signal_stop(&loop->child_signal);
}

static int start_held(struct loop *loop, struct loop_child *child, int *pidfd, struct err *err)
{
	child->io.loop = NULL;
	if (loop_io_start(loop, &child->io, *pidfd, EPOLLIN, on_pidfd, err) < 0)
		return -1;
	(void)fd_steal(pidfd);
	return 0;
}

int loop_child_start(struct loop *loop, struct loop_child *child, pid_t pid, loop_child_fn *fn,
		     struct err *err)
{
	cleanup_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0 && errno != ENOSYS && errno != EPERM)
		return err_sys(err, "watching process %d", (int)pid);
	child->fn = fn;
	child->pid = pid;
	list_init(&child->node);
	return pidfd >= 0 ? start_held(loop, child, &pidfd, err) : start_unheld(loop, child, err);
}

void loop_child_stop(struct loop_child *child)
{
	if (child->io.loop == NULL)
		return;
	list_remove(&child->node);
	if (child->io.fd < 0) {
		stop_unheld(child);
		return;
	}
	loop_io_stop(&child->io);
	fd_close(&child->io.fd);
}

bool loop_child_active(const struct loop_child *child)
{
	return child->io.loop != NULL;
}

static bool await_unheld(struct loop_child *child, int timeout_ms)
{
	struct loop_signal *signal = &child->io.loop->child_signal;
	struct pollfd any = { .fd = signal->io.fd, .events = POLLIN };
	uint64_t until_ms = clock_ms() + (uint64_t)timeout_ms;
	bool ended;

	while (poll_child(child->pid, &ended) == 0 && !ended) {
		uint64_t now_ms = clock_ms();

		if (now_ms >= until_ms || poll(&any, 1, (int)(until_ms - now_ms)) == 0)
			return false;
		on_signalfd(&signal->io, EPOLLIN);
	}
	return true;
}

bool loop_child_await(struct loop_child *child, int timeout_ms)
{
	struct pollfd pidfd = { .fd = child->io.fd, .events = POLLIN };

	return child->io.fd < 0 ? await_unheld(child, timeout_ms) : poll(&pidfd, 1, timeout_ms) > 0;
}

static void run_children(struct loop *loop)
{
	while (!list_empty(&loop->ended)) {
		struct loop_child *child = list_entry(loop->ended.next, struct loop_child, node);
		int wait_status = 0;
		pid_t reaped = waitpid(child->pid, &wait_status, WNOHANG);

		if (reaped < 0) {
			wait_status = W_EXITCODE(EXIT_FAILURE, 0);
		} else if (reaped == 0) {
			list_remove(&child->node);
			continue;
		}
		loop_child_stop(child);
		child->fn(child, wait_status);
	}
}

/* ---- deferred calls ---- */

void loop_defer_start(struct loop *loop, struct loop_defer *defer, loop_defer_fn *fn)
{
	if (defer->loop != NULL)
		return;
	defer->loop = loop;
	defer->fn = fn;
	list_init(&defer->node);
	list_append(&loop->deferred, &defer->node);
}

void loop_defer_stop(struct loop_defer *defer)
{
	if (defer->loop == NULL)
		return;
	list_remove(&defer->node);
	defer->loop = NULL;
}

static void move_nodes(struct list *from, struct list *to)
{
	while (!list_empty(from)) {
		struct list *node = from->next;

		list_remove(node);
		list_append(to, node);
	}
}

static void run_deferred(struct loop *loop)
{
	move_nodes(&loop->deferred, &loop->deferred_now);
	while (!list_empty(&loop->deferred_now)) {
		struct loop_defer *defer =
			list_entry(loop->deferred_now.next, struct loop_defer, node);

		loop_defer_stop(defer);
		defer->fn(defer);
	}
}

/* ---- signals ---- */

static void on_signalfd(struct loop_io *io, uint32_t events)
{
	struct loop_signal *sig = container_of(io, struct loop_signal, io);
	struct signalfd_siginfo info;

	(void)events;
	if (read(io->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		sig->fn(sig, (int)info.ssi_signo);
}

int loop_signal_start(struct loop *loop, struct loop_signal *signal, int signo, loop_signal_fn *fn,
		      struct err *err)
{
	cleanup_fd int fd = -1;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, signo);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(err, "blocking signal %d", signo);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_sys(err, "watching signal %d", signo);
	signal->io.loop = NULL;
	if (loop_io_start(loop, &signal->io, fd, EPOLLIN, on_signalfd, err) < 0)
		return -1;
	(void)fd_steal(&fd);
	signal->fn = fn;
	signal->signo = signo;
	return 0;
}

void loop_signal_stop(struct loop_signal *signal)
{
	if (signal->io.loop == NULL)
		return;
	loop_io_stop(&signal->io);
	fd_close(&signal->io.fd);
}

/* ---- a turn ---- */

static int turn_wait_ms(const struct loop *loop, int timeout_ms)
{
	uint64_t until;

	if (!list_empty(&loop->always_ready) || !list_empty(&loop->deferred) ||
	    !list_empty(&loop->ended))
		return 0;
	if (loop->heap_len == 0)
		return timeout_ms;
	until = loop->heap[0]->deadline_ms;
	until = until > loop->now_ms() ? until - loop->now_ms() : 0;
	if (timeout_ms >= 0 && (uint64_t)timeout_ms < until)
		return timeout_ms;
	return until > INT_MAX ? INT_MAX : (int)until;
}

static void run_io(struct loop *loop)
{
	struct list ready;

	for (int i = 0; i < loop->batch_len; i++) {
		struct loop_io *io = loop->batch[i].data.ptr;

		if (io != NULL)
			io->fn(io, loop->batch[i].events);
	}
	loop->batch_len = 0;
	/* One by one: a callback may stop any. A source that it starts waits a turn. */
	list_init(&ready);
	move_nodes(&loop->always_ready, &ready);
	while (!list_empty(&ready)) {
		struct loop_io *io = list_entry(ready.next, struct loop_io, node);

		list_remove(&io->node);
		list_append(&loop->always_ready, &io->node);
		io->fn(io, io->events);
	}
}

static void run_timers(struct loop *loop)
{
	uint64_t started_before = loop->next_order;

	while (loop->heap_len > 0) {
		struct loop_timer *timer = loop->heap[0];

		/* A timer started in this turn waits for the next: io must not starve. */
		if (timer->deadline_ms > loop->now || timer->order >= started_before)
			break;
		loop_timer_stop(timer);
		timer->fn(timer);
	}
}

void loop_linger(struct loop *loop, uint64_t us)
{
	uint64_t now = clock_us();

	if (now >= loop->busy_us)
		loop->linger_us = now + (us < LOOP_LINGER_US ? us : LOOP_LINGER_US);
}

static int wait_for_events(struct loop *loop, int timeout_ms)
{
	uint64_t looked_us = loop->linger_us != 0 ? clock_us() : 0;
	int n = 0;

	while (n == 0 && looked_us < loop->linger_us && timeout_ms != 0) {
		uint64_t now;

		(void)sched_yield();
		n = epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH, 0);
		now = clock_us();
		if (now - looked_us > LOOP_LOOK_US) {
			loop->busy_us = now + LOOP_BUSY_US;
			break;
		}
		looked_us = now;
	}
	if (n == 0) /* else more may follow */
		loop->linger_us = 0;
	return n != 0 ? n : epoll_wait(loop->epoll_fd, loop->batch, LOOP_BATCH, timeout_ms);
}

/* Moves deadlines after a sleep much longer than requested, as in a paused container. */
static void allow_for_pause(struct loop *loop, uint64_t slept_ms, uint64_t wanted_ms)
{
	uint64_t late_ms = slept_ms > wanted_ms ? slept_ms - wanted_ms : 0;

	if (late_ms < LOOP_PAUSE_MS)
		return;
	for (size_t i = 0; i < loop->heap_len; i++)
		loop->heap[i]->deadline_ms += late_ms;
}

void loop_turn(struct loop *loop, int timeout_ms)
{
	uint64_t before = loop->now_ms();

	assert(!loop->running);
	loop->running = true;
	timeout_ms = turn_wait_ms(loop, timeout_ms);
	loop->batch_len = wait_for_events(loop, timeout_ms);
	loop->now = loop->now_ms();
	if (timeout_ms >= 0)
		allow_for_pause(loop, loop->now - before, (uint64_t)timeout_ms);
	run_io(loop);
	run_children(loop);
	run_timers(loop);
	loop->now = loop->now_ms(); /* the turn took time that must not count for cells */
	run_deferred(loop);
	loop->running = false;
}

void loop_run(struct loop *loop)
{
	while (!loop->quit)
		loop_turn(loop, -1);
	loop->quit = false;
}
