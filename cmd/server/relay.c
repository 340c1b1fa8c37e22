/* SPDX-License-Identifier: MIT */
/*
 * relay.c - passes lines of the server on to the host's stderr. As in base/log, lines that it does
 * not take now are dropped: a host that does not read must not stop the server.
 */
#include "relay.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { CHUNK = 4096 /* PIPE_BUF: a pipe that polls as writable takes so many at once */ };

struct relay {
	struct loop_io io;
	int pipe_fd;
	int err_fd; /* -1: the server has no host */
};

/* Passes on one chunk. Returns false if there is nothing more. */
static bool pass_on(const struct relay *relay)
{
	struct pollfd ready = { .fd = relay->err_fd, .events = POLLOUT };
	char data[CHUNK];
	ssize_t n = read(relay->pipe_fd, data, sizeof(data));

	if (n <= 0)
		return false;
	if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0)
		(void)!write(relay->err_fd, data, (size_t)n);
	return true;
}

static void on_written(struct loop_io *io, uint32_t events)
{
	(void)events;
	(void)pass_on(container_of(io, struct relay, io));
}

static int take_over_stderr(struct relay *relay, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "making a pipe");
	relay->pipe_fd = ends[0];
	if (dup2(ends[1], STDERR_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
		(void)err_sys(err, "replacing stderr");
	else if (fd_set_nonblock(ends[0], err) == 0) {
		fd_close(&ends[1]);
		return 0;
	}
	fd_close(&ends[1]);
	return -1;
}

struct relay *relay_new(struct loop *loop, int err_fd, struct err *err)
{
	struct relay *relay = xcalloc(1, sizeof(*relay));

	relay->err_fd = err_fd;
	relay->pipe_fd = -1;
	if (take_over_stderr(relay, err) == 0 &&
	    loop_io_start(loop, &relay->io, relay->pipe_fd, EPOLLIN, on_written, err) == 0)
		return relay;
	relay_free(relay);
	return NULL;
}

void relay_to(struct relay *relay, int err_fd)
{
	while (pass_on(relay))
		;
	fd_close(&relay->err_fd);
	relay->err_fd = err_fd;
}

void relay_free(struct relay *relay)
{
	if (relay == NULL)
		return;
	relay_to(relay, -1);
	loop_io_stop(&relay->io);
	fd_close(&relay->pipe_fd);
	free(relay);
}
