/* SPDX-License-Identifier: MIT */
/*
 * refuser.c - answers session code in place of its proxy, without reading a request: which host was
 * wanted does not matter. The kernel's queue of connections says exactly whether a cell made one.
 */
#include "session/refuser.h"

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

struct refuser {
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

static void accept_all(struct refuser *r)
{
	int fd;

	while (r->listener >= 0 &&
	       (fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		refuse(fd);
		fd_close(&fd);
		r->count++;
	}
}

static void on_connection(struct loop_io *io, uint32_t events)
{
	(void)events;
	accept_all(container_of(io, struct refuser, io));
}

struct refuser *refuser_new(struct loop *loop)
{
	struct refuser *r = xcalloc(1, sizeof(*r));

	r->loop = loop;
	r->listener = -1;
	return r;
}

int refuser_take_listener(struct refuser *r)
{
	loop_io_stop(&r->io);
	return fd_steal(&r->listener);
}

void refuser_free(struct refuser *r)
{
	if (r == NULL)
		return;
	loop_io_stop(&r->io);
	fd_close(&r->listener);
	free(r);
}

/* A listener that cannot be watched is closed: nothing is reached then, and nothing counted. */
void refuser_listen(struct refuser *r, int listener_own)
{
	struct err err;

	loop_io_stop(&r->io);
	fd_close(&r->listener);
	r->listener = listener_own;
	if (fd_set_nonblock(listener_own, &err) < 0 ||
	    loop_io_start(r->loop, &r->io, listener_own, EPOLLIN, on_connection, &err) < 0) {
		log_warn("session", "connections of cells that run again: %s", err.msg);
		fd_close(&r->listener);
	}
}

size_t refuser_count(struct refuser *r)
{
	size_t count;

	accept_all(r);
	count = r->count;
	r->count = 0;
	return count;
}
