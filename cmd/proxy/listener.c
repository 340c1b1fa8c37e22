/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "connection.h"
#include "resolver.h"

enum { PAUSE_MS = 100 };

static void watch_arrivals(struct listener *gate);

static void on_pause(struct loop_timer *timer)
{
	watch_arrivals(container_of(timer, struct listener, pause));
}

static void on_arrival(struct loop_io *io, uint32_t events)
{
	struct listener *gate = container_of(io, struct listener, arrivals);
	int fd = accept4(gate->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return;
	if (fd < 0) { /* out of descriptors or memory: it would be told at once again */
		loop_io_stop(&gate->arrivals);
		loop_timer_start(gate->loop, &gate->pause, loop_now(gate->loop) + PAUSE_MS,
				 on_pause);
		return;
	}
	gate->count++;
	connection_start(gate, fd);
	if (gate->count >= LISTENER_CONNECTIONS_MAX)
		loop_io_stop(&gate->arrivals);
}

static void watch_arrivals(struct listener *gate)
{
	struct err err;

	if (loop_io_active(&gate->arrivals) || loop_timer_active(&gate->pause) ||
	    gate->count >= LISTENER_CONNECTIONS_MAX)
		return;
	if (loop_io_start(gate->loop, &gate->arrivals, gate->listener, EPOLLIN, on_arrival, &err) <
	    0) {
		log_error("proxy", "%s", err.msg);
		exit(EXIT_FAILURE);
	}
}

void listener_forget(struct listener *gate)
{
	gate->count--;
	watch_arrivals(gate);
}

static void hand_out(struct listener *gate, const struct resolver_answer *answer)
{
	struct list *node;
	struct list *next;

	list_for_each (node, next, &gate->connections)
		if (connection_answer(connection_of(node), answer))
			return;
}

static void on_answer(struct loop_io *io, uint32_t events)
{
	struct listener *gate = container_of(io, struct listener, answers);
	struct resolver_answer answer;
	int got = resolver_take(gate->resolver, &answer);

	(void)events;
	if (got > 0)
		hand_out(gate, &answer);
	if (got < 0) { /* without names nothing can be reached: the server starts another proxy */
		log_error("proxy", "the resolver has ended");
		exit(EXIT_FAILURE);
	}
}

uint32_t listener_question(struct listener *gate)
{
	if (++gate->next_question == 0)
		gate->next_question = 1;
	return gate->next_question;
}

int listener_init(struct listener *gate, struct loop *loop, const struct request *order,
		  int resolver, int listener, struct err *err)
{
	*gate = (struct listener){ .loop = loop,
				   .order = order,
				   .resolver = resolver,
				   .listener = listener,
				   .tally = stats_new(loop) };
	list_init(&gate->connections);
	if (loop_io_start(loop, &gate->answers, resolver, EPOLLIN, on_answer, err) < 0)
		return -1;
	return loop_io_start(loop, &gate->arrivals, listener, EPOLLIN, on_arrival, err);
}

void listener_release(struct listener *gate)
{
	while (!list_empty(&gate->connections))
		connection_free(connection_of(gate->connections.next));
	loop_io_stop(&gate->answers);
	loop_io_stop(&gate->arrivals);
	loop_timer_stop(&gate->pause);
	stats_free(gate->tally);
}
