/* SPDX-License-Identifier: MIT */
/*
 * endpoint.c - reads and writes as its socket and its buffers allow. endpoint_update() is the only
 * place that decides which events the loop waits for. A socket from which nothing is wanted leaves
 * the loop, because epoll reports a hangup even when no event is asked for.
 */
#include "endpoint.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"

void endpoint_init(struct endpoint *endpoint, struct loop *loop,
		   void (*moved)(struct endpoint *endpoint))
{
	*endpoint = (struct endpoint){ .loop = loop, .fd = -1, .moved = moved };
	buf_init(&endpoint->in, ENDPOINT_BUFFER);
	buf_init(&endpoint->out, BUF_UNBOUNDED);
}

void endpoint_open(struct endpoint *endpoint, int fd_own)
{
	endpoint->fd = fd_own;
}

void endpoint_release(struct endpoint *endpoint)
{
	loop_io_stop(&endpoint->io);
	fd_close(&endpoint->fd);
	buf_release(&endpoint->in);
	buf_release(&endpoint->out);
}

bool endpoint_flushed(const struct endpoint *endpoint)
{
	return endpoint->out.len == 0 || endpoint->broken;
}

static void break_off(struct endpoint *endpoint)
{
	endpoint->broken = true;
	buf_clear(&endpoint->out);
}

static void write_some(struct endpoint *endpoint)
{
	ssize_t n;

	if (endpoint->out.len == 0 || endpoint->broken)
		return;
	n = send(endpoint->fd, endpoint->out.data, endpoint->out.len, MSG_NOSIGNAL);
	if (n > 0)
		buf_consume(&endpoint->out, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		break_off(endpoint);
}

static void read_some(struct endpoint *endpoint)
{
	size_t room = ENDPOINT_BUFFER - endpoint->in.len;
	struct err err;
	char *at = room > 0 ? buf_reserve(&endpoint->in, room, &err) : NULL;
	ssize_t n;

	if (at == NULL)
		return;
	n = recv(endpoint->fd, at, room, 0);
	if (n > 0) {
		buf_commit(&endpoint->in, (size_t)n);
	} else if (n == 0) {
		endpoint->ended = true;
	} else if (errno != EAGAIN && errno != EINTR) {
		endpoint->ended = true;
		break_off(endpoint);
	}
}

static bool wants_to_read(const struct endpoint *endpoint)
{
	return endpoint->reading && !endpoint->ended && endpoint->in.len < ENDPOINT_BUFFER;
}

static void on_event(struct loop_io *io, uint32_t events)
{
	struct endpoint *endpoint = container_of(io, struct endpoint, io);

	/* A socket error shows in the next read or write. */
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && wants_to_read(endpoint))
		read_some(endpoint);
	if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
		write_some(endpoint);
	endpoint->moved(endpoint);
}

/*
 * Removes a socket without wanted events from the loop: epoll would report its hangup again and
 * again.
 */
static void wait_for(struct endpoint *endpoint, uint32_t events)
{
	struct err err;

	if (events == 0)
		loop_io_stop(&endpoint->io);
	else if (loop_io_active(&endpoint->io))
		loop_io_set_events(&endpoint->io, events);
	else if (loop_io_start(endpoint->loop, &endpoint->io, endpoint->fd, events, on_event,
			       &err) < 0)
		break_off(endpoint);
}

void endpoint_update(struct endpoint *endpoint)
{
	if (endpoint->fd < 0)
		return;
	write_some(endpoint);
	if (endpoint->closing && endpoint->out.len == 0 && !endpoint->shut) {
		endpoint->shut = true;
		(void)shutdown(endpoint->fd, SHUT_WR);
	}
	wait_for(endpoint, (wants_to_read(endpoint) ? EPOLLIN : 0U) |
				   (endpoint->out.len > 0 ? EPOLLOUT : 0U));
}
