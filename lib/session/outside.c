/* SPDX-License-Identifier: MIT */
/*
 * outside.c - answers session code in place of its proxy, without reading a request: which host was
 * wanted does not matter. The kernel's queue of connections says exactly whether a cell made one.
 */
#include "session/outside.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"

/* Clients print the first line and drop the rest. */
static const char refusal[] =
	"HTTP/1.1 403 Forbidden - ptycell: no host is reached while recorded cells run again.\r\n"
	"Content-Length: 0\r\nConnection: close\r\n\r\n";

enum { READ_MAX = 4096 /* of a request: unread bytes would reset the connection */ };

struct outside {
	struct loop *loop;
	int listener; /* -1: none */
	struct loop_io io;
	size_t count;
};

static void refuse(int fd)
{
	char request[READ_MAX];

	(void)!recv(fd, request, sizeof(request), MSG_DONTWAIT);
	(void)!send(fd, refusal, sizeof(refusal) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void accept_all(struct outside *o)
{
	int fd;

	while (o->listener >= 0 &&
	       (fd = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		refuse(fd);
		fd_close(&fd);
		o->count++;
	}
}

static void on_connection(struct loop_io *io, uint32_t events)
{
	(void)events;
	accept_all(container_of(io, struct outside, io));
}

struct outside *outside_new(struct loop *loop)
{
	struct outside *o = xcalloc(1, sizeof(*o));

	o->loop = loop;
	o->listener = -1;
	return o;
}

int outside_take_listener(struct outside *o)
{
	loop_io_stop(&o->io);
	return fd_steal(&o->listener);
}

void outside_free(struct outside *o)
{
	if (o == NULL)
		return;
	loop_io_stop(&o->io);
	fd_close(&o->listener);
	free(o);
}

/* A listener that cannot be watched is closed: nothing is reached then, and nothing counted. */
void outside_listen(struct outside *o, int listener_own)
{
	struct err err;

	loop_io_stop(&o->io);
	fd_close(&o->listener);
	o->listener = listener_own;
	if (fd_set_nonblock(listener_own, &err) < 0 ||
	    loop_io_start(o->loop, &o->io, listener_own, EPOLLIN, on_connection, &err) < 0) {
		log_warn("session", "connections of cells that run again: %s", err.msg);
		fd_close(&o->listener);
	}
}

size_t outside_count(struct outside *o)
{
	size_t count;

	accept_all(o);
	count = o->count;
	o->count = 0;
	return count;
}
