/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"

void endpoint_init(struct endpoint *side, struct loop *loop, void (*moved)(struct endpoint *side))
{
	*side = (struct endpoint){ .loop = loop, .fd = -1, .moved = moved };
	buf_init(&side->in, ENDPOINT_BUFFER);
	buf_init(&side->out, BUF_UNBOUNDED);
}

void endpoint_open(struct endpoint *side, int fd_own)
{
	side->fd = fd_own;
}

void endpoint_release(struct endpoint *side)
{
	loop_io_stop(&side->io);
	fd_close(&side->fd);
	buf_release(&side->in);
	buf_release(&side->out);
}

bool endpoint_flushed(const struct endpoint *side)
{
	return side->out.len == 0 || side->broken;
}

static void break_off(struct endpoint *side)
{
	side->broken = true;
	buf_clear(&side->out);
}

static void write_some(struct endpoint *side)
{
	ssize_t n;

	if (side->out.len == 0 || side->broken)
		return;
	n = send(side->fd, side->out.data, side->out.len, MSG_NOSIGNAL);
	if (n > 0)
		buf_consume(&side->out, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		break_off(side);
}

static void read_some(struct endpoint *side)
{
	size_t room = ENDPOINT_BUFFER - side->in.len;
	struct err err;
	char *at = room > 0 ? buf_reserve(&side->in, room, &err) : NULL;
	ssize_t n;

	if (at == NULL)
		return;
	n = recv(side->fd, at, room, 0);
	if (n > 0) {
		buf_commit(&side->in, (size_t)n);
	} else if (n == 0) {
		side->ended = true;
	} else if (errno != EAGAIN && errno != EINTR) {
		side->ended = true;
		break_off(side);
	}
}

static bool wants_to_read(const struct endpoint *side)
{
	return side->reading && !side->ended && side->in.len < ENDPOINT_BUFFER;
}

static void on_event(struct loop_io *io, uint32_t events)
{
	struct endpoint *side = container_of(io, struct endpoint, io);

	/* An error shows in whatever is done next. */
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && wants_to_read(side))
		read_some(side);
	if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
		write_some(side);
	side->moved(side);
}

/*
 * A socket that nothing is wanted of is taken out of the loop: epoll would go on telling of its
 * end.
 */
static void wait_for(struct endpoint *side, uint32_t events)
{
	struct err err;

	if (events == 0)
		loop_io_stop(&side->io);
	else if (loop_io_active(&side->io))
		loop_io_set_events(&side->io, events);
	else if (loop_io_start(side->loop, &side->io, side->fd, events, on_event, &err) < 0)
		break_off(side);
}

void endpoint_update(struct endpoint *side)
{
	if (side->fd < 0)
		return;
	write_some(side);
	if (side->closing && side->out.len == 0 && !side->shut) {
		side->shut = true;
		(void)shutdown(side->fd, SHUT_WR);
	}
	wait_for(side, (wants_to_read(side) ? EPOLLIN : 0U) | (side->out.len > 0 ? EPOLLOUT : 0U));
}
