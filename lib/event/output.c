/* SPDX-License-Identifier: MIT */
/*
 * output.c - a queue before a descriptor. We must not set O_NONBLOCK on stdout: the flag belongs to
 * the open file, which a terminal's shell and its other programs share. A blocking pipe that polls
 * writable takes PIPE_BUF bytes without blocking (POSIX), so those are the pieces.
 */
#include "event/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

struct output {
	struct loop *loop;
	int fd;
	const struct output_handlers *handlers;
	struct loop_io io;
	struct loop_defer report_closed;
	struct buf queue;
	size_t written; /* bytes of the queue */
	size_t piece;   /* the most bytes of one write */
	bool full;
	bool closed;
	int error; /* errno for which it was closed */
};

struct output *output_new(struct loop *loop, int fd, const struct output_handlers *handlers)
{
	struct output *output = xcalloc(1, sizeof(*output));
	int flags = fcntl(fd, F_GETFL);

	output->loop = loop;
	output->fd = fd;
	output->handlers = handlers;
	/* A blocking pipe that polls writable takes PIPE_BUF bytes without blocking, not more. */
	output->piece = flags >= 0 && (flags & O_NONBLOCK) != 0 ? (size_t)1 << 20 : PIPE_BUF;
	buf_init(&output->queue, BUF_UNBOUNDED);
	return output;
}

void output_free(struct output *output)
{
	if (output == NULL)
		return;
	loop_io_stop(&output->io);
	loop_defer_stop(&output->report_closed);
	buf_release(&output->queue);
	free(output);
}

static void on_report_closed(struct loop_defer *defer)
{
	struct output *output = container_of(defer, struct output, report_closed);

	output->handlers->closed(output);
}

static void mark_closed(struct output *output)
{
	output->closed = true;
	output->full = false;
	loop_io_stop(&output->io);
	buf_release(&output->queue);
	output->written = 0;
	/* Deferred, because the owner may free us and may be deep within its own call. */
	loop_defer_start(output->loop, &output->report_closed, on_report_closed);
}

static bool writable_now(const struct output *output)
{
	struct pollfd ready = { .fd = output->fd, .events = POLLOUT };

	return poll(&ready, 1, 0) == 1;
}

/* Writes until the write would block, everything is written, or the reader is gone. */
static void flush_queue(struct output *output)
{
	while (output->written < output->queue.len && writable_now(output)) {
		size_t len = size_min(output->queue.len - output->written, output->piece);
		ssize_t n = write(output->fd, output->queue.data + output->written, len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0) {
			output->error = errno;
			log_debug("output", "descriptor %d: %s", output->fd,
				  strerrordesc_np(output->error));
			mark_closed(output);
			return;
		}
		output->written += (size_t)n;
	}
	if (output->written == output->queue.len) {
		output->written = 0;
		if (output->queue.cap > OUTPUT_LOW_MARK)
			buf_release(&output->queue);
		else
			buf_clear(&output->queue);
	}
}

static void on_writable(struct loop_io *io, uint32_t events)
{
	struct output *output = container_of(io, struct output, io);

	(void)events;
	flush_queue(output);
	if (output->closed)
		return;
	if (output->queue.len == 0)
		loop_io_stop(&output->io);
	if (output->full && output_pending(output) < OUTPUT_LOW_MARK) {
		output->full = false;
		if (output->handlers->drained != NULL)
			output->handlers->drained(output);
	}
}

void output_write(struct output *output, const void *data, size_t len)
{
	struct err err;

	if (output->closed)
		return;
	buf_put(&output->queue, data, len);
	if (!loop_io_active(&output->io))
		flush_queue(output); /* else on_writable continues in order */
	if (output->closed || output->queue.len == 0)
		return;
	output->full = output->full || output_pending(output) > OUTPUT_HIGH_MARK;
	if (loop_io_active(&output->io))
		return;
	if (loop_io_start(output->loop, &output->io, output->fd, EPOLLOUT, on_writable, &err) < 0)
		mark_closed(output);
}

void *output_owner(const struct output *output)
{
	return output->handlers->owner;
}

bool output_is_full(const struct output *output)
{
	return output->full;
}

int output_error(const struct output *output)
{
	return output->error;
}

size_t output_pending(const struct output *output)
{
	return output->queue.len - output->written;
}
