/* SPDX-License-Identifier: MIT */
/*
 * listener.c - accepts connections and delivers the resolver's answers. At the maximum of
 * connections the listening socket leaves the loop, and further clients wait in its backlog. The
 * process exits when its resolver ends or the loop fails: the server then starts another proxy.
 */
#include "listener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "connection.h"
#include "resolver.h"

enum { PAUSE_MS = 100 };

static void watch_incoming(struct listener *listener);

static void on_pause(struct loop_timer *timer)
{
	watch_incoming(container_of(timer, struct listener, pause));
}

static void on_incoming(struct loop_io *io, uint32_t events)
{
	struct listener *listener = container_of(io, struct listener, incoming);
	int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return;
	if (fd < 0) { /* out of descriptors or memory: the event would come again at once */
		loop_io_stop(&listener->incoming);
		loop_timer_start(listener->loop, &listener->pause,
				 loop_now(listener->loop) + PAUSE_MS, on_pause);
		return;
	}
	listener->count++;
	connection_start(listener, fd);
	if (listener->count >= LISTENER_CONNECTIONS_MAX)
		loop_io_stop(&listener->incoming);
}

static void watch_incoming(struct listener *listener)
{
	struct err err;

	if (loop_io_active(&listener->incoming) || loop_timer_active(&listener->pause) ||
	    listener->count >= LISTENER_CONNECTIONS_MAX)
		return;
	if (loop_io_start(listener->loop, &listener->incoming, listener->fd, EPOLLIN, on_incoming,
			  &err) < 0) {
		log_error("proxy", "%s", err.msg);
		exit(EXIT_FAILURE);
	}
}

void listener_forget(struct listener *listener)
{
	listener->count--;
	watch_incoming(listener);
}

static void deliver_answer(struct listener *listener, const struct resolver_answer *answer)
{
	struct list *head = &listener->connections;

	for (struct list *node = head->next; node != head; node = node->next)
		if (connection_answer(connection_of(node), answer))
			return;
}

static void on_answer(struct loop_io *io, uint32_t events)
{
	struct listener *listener = container_of(io, struct listener, answers);
	struct resolver_answer answer;
	int got = resolver_take(listener->resolver, &answer);

	(void)events;
	if (got > 0)
		deliver_answer(listener, &answer);
	if (got < 0) { /* no host can be reached without names: the server starts another proxy */
		log_error("proxy", "the resolver has ended");
		exit(EXIT_FAILURE);
	}
}

uint32_t listener_question(struct listener *listener)
{
	if (++listener->next_question == 0)
		listener->next_question = 1;
	return listener->next_question;
}

int listener_init(struct listener *listener, struct loop *loop, const struct request *request,
		  int resolver, int listen_fd, struct err *err)
{
	*listener = (struct listener){ .loop = loop,
				       .request = request,
				       .resolver = resolver,
				       .fd = listen_fd,
				       .stats = stats_new(loop) };
	list_init(&listener->connections);
	if (loop_io_start(loop, &listener->answers, resolver, EPOLLIN, on_answer, err) < 0)
		return -1;
	return loop_io_start(loop, &listener->incoming, listen_fd, EPOLLIN, on_incoming, err);
}

void listener_release(struct listener *listener)
{
	while (!list_empty(&listener->connections))
		connection_free(connection_of(listener->connections.next));
	loop_io_stop(&listener->answers);
	loop_io_stop(&listener->incoming);
	loop_timer_stop(&listener->pause);
	stats_free(listener->stats);
}
