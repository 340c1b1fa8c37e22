/* SPDX-License-Identifier: MIT */
/*
 * stdio.c - the server's process on two descriptors, and the ways in which it ends. While output is
 * full nothing is read, so the end of input is not noticed: a timer then looks whether the client
 * still lives. SIGXFSZ is ignored, so that writing to a file past ulimit -f fails like a full disk
 * and does not kill the server.
 */
#include "mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/output.h"

enum {
	READ_MAX = 16 << 10,
	FILE_READ_MAX = 4 << 10, /* a file delivers more at once than any client does */
	FILE_LIVE_MAX = 32,
	STUCK_MS = 10 * 1000, /* a client that takes nothing for so long is gone */
	FLUSH_POLL_MS = 10,
	PARENT_POLL_MS = 2000,
};

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP };

struct end_signal {
	struct loop_signal source;
	struct mcp_stdio *stdio;
};

struct mcp_stdio {
	struct loop *loop;
	struct mcp_server *server;
	struct mcp_stdio_options options;
	struct output *output;
	struct output_handlers output_handlers;
	struct loop_io input;
	struct loop_io reader; /* watches whether stdout's reader has gone */
	struct loop_io owner;
	int reader_fd;           /* a copy, because `output` watches the descriptor itself */
	struct loop_defer check; /* checks, after a line was written, whether reading or the end may
				    continue */
	struct loop_timer flush; /* after the end of input: checks whether everything is written */
	struct loop_timer parent;
	struct end_signal signals[ARRAY_SIZE(end_signals)];
	pid_t parent_pid;
	bool from_file;
	bool from_terminal;
	bool ended; /* of input */
	bool done;
	int input_error;
	uint64_t written;      /* bytes of output */
	uint64_t before_ended; /* the same at the end of input */
	size_t left;           /* bytes of output at the last check after the end of input */
	uint64_t give_up_ms;
	size_t stuck; /* bytes that waited at the last check; 0: none, or the client lives */
};

static int check_open(struct err *err)
{
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		return err_set(err, ERR_INVALID, "stdin is closed, and requests come from there");
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return err_set(err, ERR_INVALID, "stdout is closed, and answers go there");
	return 0;
}

int mcp_stdio_take(int *ret_in_fd, int *ret_out_fd, struct err *err)
{
	cleanup_fd int in = check_open(err) < 0 ? -1 : fd_dup(STDIN_FILENO, err);
	cleanup_fd int out = in < 0 ? -1 : fd_dup(STDOUT_FILENO, err);
	cleanup_fd int null = -1;

	if (out < 0)
		return -1;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return err_sys(err, "opening /dev/null, which ptycell and all programs need");
	/* Some hosts start us without a stderr. */
	if (dup2(null, STDIN_FILENO) < 0 ||
	    (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && dup2(null, STDOUT_FILENO) < 0))
		return err_sys(err, "moving stdin and stdout away");
	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	/* Past a limit of file sizes, writing then fails as on a full disk. */
	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	*ret_in_fd = fd_steal(&in);
	*ret_out_fd = fd_steal(&out);
	return 0;
}

static void stop_signals(struct mcp_stdio *stdio)
{
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		loop_signal_stop(&stdio->signals[i].source);
}

static void finish_stdio(struct mcp_stdio *stdio, enum mcp_stdio_end end)
{
	if (stdio->done)
		return;
	stdio->done = true;
	stop_signals(stdio);
	loop_io_stop(&stdio->input);
	loop_io_stop(&stdio->reader);
	loop_io_stop(&stdio->owner);
	loop_timer_stop(&stdio->flush);
	loop_timer_stop(&stdio->parent);
	stdio->options.done(stdio->options.context, end);
}

/* ---- output ---- */

static void on_output_closed(struct output *output)
{
	finish_stdio(output_owner(output), MCP_STDIO_CLOSED);
}

/* ---- input ---- */

static bool may_read(const struct mcp_stdio *stdio)
{
	if (stdio->done || stdio->ended || output_is_full(stdio->output))
		return false;
	return !stdio->from_file || mcp_server_live_calls(stdio->server) < FILE_LIVE_MAX;
}

/* Returns whether we wait for ever: a file has no impatient host, and its reader may be a pager. */
static bool is_patient(const struct mcp_stdio *stdio)
{
	return stdio->options.drain || stdio->from_file;
}

static void on_flush_poll(struct loop_timer *timer);

/*
 * Ends the server, after the end of input, once all is answered and written. The last answer
 * arrives through on_check, so only its way out must be watched.
 */
static void finish_if_answered(struct mcp_stdio *stdio)
{
	uint64_t now = loop_now(stdio->loop);
	size_t left = output_pending(stdio->output);

	if (!stdio->ended || stdio->done || mcp_server_live_calls(stdio->server) > 0)
		return;
	if (left != stdio->left)
		stdio->give_up_ms = now + STUCK_MS;
	stdio->left = left;
	if (left == 0 || (now >= stdio->give_up_ms && !is_patient(stdio))) {
		finish_stdio(stdio, MCP_STDIO_EOF);
		return;
	}
	loop_timer_start(stdio->loop, &stdio->flush, now + FLUSH_POLL_MS, on_flush_poll);
}

static void on_flush_poll(struct loop_timer *timer)
{
	finish_if_answered(container_of(timer, struct mcp_stdio, flush));
}

static void on_check(struct loop_defer *defer);

static void end_input(struct mcp_stdio *stdio)
{
	loop_io_stop(&stdio->input);
	stdio->ended = true;
	stdio->before_ended = stdio->written;
	mcp_server_feed_end(stdio->server);
	if (stdio->options.ended != NULL)
		stdio->options.ended(stdio->options.context);
	loop_defer_start(stdio->loop, &stdio->check, on_check);
}

/*
 * Records an error, unless the client has gone, which may cause one: a terminal EIO, a socket
 * ECONNRESET.
 */
static void note_input_error(struct mcp_stdio *stdio, int error)
{
	log_debug("stdio", "reading stdin: %s", strerrordesc_np(error));
	if (error != ECONNRESET && !(error == EIO && stdio->from_terminal))
		stdio->input_error = error;
}

static void on_readable(struct loop_io *io, uint32_t events)
{
	struct mcp_stdio *stdio = container_of(io, struct mcp_stdio, input);
	char data[READ_MAX];
	ssize_t len;

	(void)events;
	len = read(io->fd, data, stdio->from_file ? FILE_READ_MAX : READ_MAX);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0)
		note_input_error(stdio, errno);
	if (len <= 0) {
		end_input(stdio);
		return;
	}
	mcp_server_feed(stdio->server, data, (size_t)len);
	if (!may_read(stdio))
		loop_io_stop(&stdio->input);
}

static void read_on(struct mcp_stdio *stdio)
{
	struct err err;

	if (!may_read(stdio) || loop_io_active(&stdio->input))
		return;
	if (loop_io_start(stdio->loop, &stdio->input, stdio->options.in_fd, EPOLLIN, on_readable,
			  &err) < 0) {
		note_input_error(stdio, err.sys);
		end_input(stdio);
	}
}

static void on_drained(struct output *output)
{
	read_on(output_owner(output));
}

/* The answer may be the one that reading, or the end, was waiting for. */
static void on_check(struct loop_defer *defer)
{
	struct mcp_stdio *stdio = container_of(defer, struct mcp_stdio, check);

	read_on(stdio);
	finish_if_answered(stdio);
}

static void write_line(void *context, const char *line, size_t len)
{
	struct mcp_stdio *stdio = context;

	stdio->written += len;
	output_write(stdio->output, line, len);
	if (!loop_io_active(&stdio->input))
		loop_defer_start(stdio->loop, &stdio->check, on_check);
}

static bool is_flowing(void *context)
{
	const struct mcp_stdio *stdio = context;

	return output_pending(stdio->output) == 0;
}

/* Drops lines that the server writes after the end. */
static void drop_line(void *context, const char *line, size_t len)
{
	(void)context;
	(void)line;
	(void)len;
}

/* ---- other ends ---- */

static void on_signal(struct loop_signal *signal, int signo)
{
	struct end_signal *end = container_of(signal, struct end_signal, source);

	log_debug("stdio", "signal %d", signo);
	finish_stdio(end->stdio, MCP_STDIO_SIGNAL);
}

/*
 * Returns whether the client has gone without our noticing. While output is full nothing is read,
 * so an end of input would go unnoticed for ever. A client that has closed its end and took nothing
 * between two checks has gone.
 */
static bool is_abandoned(struct mcp_stdio *stdio)
{
	struct pollfd in = { .fd = stdio->options.in_fd, .events = 0 };
	size_t stuck = stdio->stuck;

	stdio->stuck = 0;
	if (stdio->ended || stdio->options.drain || !output_is_full(stdio->output) ||
	    poll(&in, 1, 0) != 1 || (in.revents & POLLHUP) == 0)
		return false;
	stdio->stuck = output_pending(stdio->output);
	return stdio->stuck == stuck;
}

static void on_parent_poll(struct loop_timer *timer)
{
	struct mcp_stdio *stdio = container_of(timer, struct mcp_stdio, parent);

	if (stdio->options.owner_fd == 0 && getppid() != stdio->parent_pid) {
		finish_stdio(stdio, MCP_STDIO_ORPHANED);
		return;
	}
	if (is_abandoned(stdio)) {
		finish_stdio(stdio, MCP_STDIO_EOF);
		return;
	}
	loop_timer_start(stdio->loop, timer, loop_now(stdio->loop) + PARENT_POLL_MS,
			 on_parent_poll);
}

static void on_reader_gone(struct loop_io *io, uint32_t events)
{
	struct mcp_stdio *stdio = container_of(io, struct mcp_stdio, reader);

	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		finish_stdio(stdio, MCP_STDIO_CLOSED);
}

static void on_owner_gone(struct loop_io *io, uint32_t events)
{
	struct mcp_stdio *stdio = container_of(io, struct mcp_stdio, owner);

	if ((events & (EPOLLERR | EPOLLHUP)) != 0)
		finish_stdio(stdio, MCP_STDIO_ORPHANED);
}

/*
 * Notices a closed stdout without waiting for the next write, which may come late during a long
 * call.
 */
static int watch_reader(struct mcp_stdio *stdio, struct err *err)
{
	struct stat status;

	/* Files and some devices cannot be watched: epoll would count them as always ready. */
	if (fstat(stdio->options.out_fd, &status) < 0 ||
	    !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
		return 0;
	stdio->reader_fd = fd_dup(stdio->options.out_fd, err);
	if (stdio->reader_fd < 0)
		return -1;
	return loop_io_start(stdio->loop, &stdio->reader, stdio->reader_fd, 0, on_reader_gone, err);
}

static int start_sources(struct mcp_stdio *stdio, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++) {
		stdio->signals[i].stdio = stdio;
		if (loop_signal_start(stdio->loop, &stdio->signals[i].source, end_signals[i],
				      on_signal, err) < 0)
			return -1;
	}
	loop_timer_start(stdio->loop, &stdio->parent, loop_now(stdio->loop) + PARENT_POLL_MS,
			 on_parent_poll);
	if (watch_reader(stdio, err) < 0)
		return -1;
	if (stdio->options.owner_fd > 0 &&
	    loop_io_start(stdio->loop, &stdio->owner, stdio->options.owner_fd, 0, on_owner_gone,
			  err) < 0)
		return -1;
	return loop_io_start(stdio->loop, &stdio->input, stdio->options.in_fd, EPOLLIN, on_readable,
			     err);
}

struct mcp_stdio *mcp_stdio_new(struct loop *loop, struct mcp_server *server,
				const struct mcp_stdio_options *options, struct err *err)
{
	struct mcp_stdio *stdio = xcalloc(1, sizeof(*stdio));
	struct stat status;

	stdio->loop = loop;
	stdio->server = server;
	stdio->options = *options;
	stdio->reader_fd = -1;
	stdio->parent_pid = getppid();
	stdio->from_file = fstat(options->in_fd, &status) == 0 && S_ISREG(status.st_mode);
	stdio->from_terminal = isatty(options->in_fd) == 1;
	stdio->output_handlers = (struct output_handlers){ .closed = on_output_closed,
							   .drained = on_drained,
							   .owner = stdio };
	stdio->output = output_new(loop, options->out_fd, &stdio->output_handlers);
	mcp_server_set_write(server, write_line, stdio);
	mcp_server_set_flowing(server, is_flowing);
	if (start_sources(stdio, err) < 0) {
		mcp_stdio_free(stdio);
		return NULL;
	}
	return stdio;
}

void mcp_stdio_free(struct mcp_stdio *stdio)
{
	if (stdio == NULL)
		return;
	stop_signals(stdio);
	loop_io_stop(&stdio->input);
	loop_io_stop(&stdio->reader);
	loop_io_stop(&stdio->owner);
	fd_close(&stdio->reader_fd);
	loop_defer_stop(&stdio->check);
	loop_timer_stop(&stdio->flush);
	loop_timer_stop(&stdio->parent);
	output_free(stdio->output);
	mcp_server_set_flowing(stdio->server, NULL);
	mcp_server_set_write(stdio->server, drop_line, NULL);
	free(stdio);
}

int mcp_stdio_output_error(const struct mcp_stdio *stdio)
{
	int error = output_error(stdio->output);

	return error == EPIPE || error == ECONNRESET ? 0 : error;
}

int mcp_stdio_input_error(const struct mcp_stdio *stdio)
{
	return stdio->input_error;
}

uint64_t mcp_stdio_written(const struct mcp_stdio *stdio)
{
	return stdio->written;
}

/*
 * Returns how many bytes the kernel holds for the reader. A socket whose reader has gone has
 * dropped them: then it is not known, and as many as can be.
 */
static uint64_t held_by_kernel(int fd)
{
	struct stat status;
	int error = 0;
	int bytes = 0;
	socklen_t len = sizeof(error);

	if (fstat(fd, &status) < 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
		return 0;
	if (S_ISSOCK(status.st_mode) &&
	    (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error != 0))
		return UINT64_MAX;
	if (ioctl(fd, S_ISSOCK(status.st_mode) ? SIOCOUTQ : FIONREAD, &bytes) < 0)
		return UINT64_MAX;
	return (uint64_t)bytes;
}

uint64_t mcp_stdio_surely_read(const struct mcp_stdio *stdio)
{
	uint64_t taken = stdio->written - output_pending(stdio->output);
	uint64_t held = output_error(stdio->output) != 0 ? UINT64_MAX
							 : held_by_kernel(stdio->options.out_fd);
	uint64_t read = held < taken ? taken - held : 0;

	return stdio->ended && read > stdio->before_ended ? stdio->before_ended : read;
}

size_t mcp_stdio_pending(const struct mcp_stdio *stdio)
{
	return output_pending(stdio->output);
}
