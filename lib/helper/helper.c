/* SPDX-License-Identifier: MIT */
/*
 * helper.c - starts a helper and takes its reply from a pipe. When the process ends, the pipe is
 * read to its end before `done` is called, because the last line and the exit may be seen in either
 * order. Requests may hold secrets, so their text is wiped once it is handed to the pipe.
 */
#include "helper/helper.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "base/util.h"
#include "event/output.h"
#include "helper/reply.h"
#include "json/write.h"
#include "parts/parts.h"

enum { FIRST_FD = 3, READ_SIZE = 64 << 10, KILL_WAIT_MS = 1000, HANGS_MS = 30 * 1000 };

struct helper {
	struct loop *loop;
	const struct helper_handlers *handlers;
	void *data;
	char *name; /* of the program, for messages */
	struct loop_child child;
	struct loop_io answer;
	struct output *requests;
	struct output_handlers request_handlers;
	int request_fd;
	int answer_fd;
	struct reply reply;
	struct loop_timer quiet;
	uint64_t quiet_ms;
	bool broken;
	struct err err; /* why, when broken */
};

static int spawn_helper(const struct helper_spec *spec, const int ends[2], pid_t *ret_pid,
			struct err *err)
{
	char *minimal[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "LC_ALL=C.UTF-8" }, NULL };
	cleanup_free char *path = xstrdup(spec->path);
	cleanup_free char *version = xstrdup(parts_version);
	int fds[FIRST_FD + HELPER_FDS_MAX] = { ends[0], ends[1], STDERR_FILENO };
	int held = helper_held(spec->path);
	struct spawn spawn = {
		.path = spec->path,
		/* An update may have removed or replaced the file: the held one has our version. */
		.program = held >= 0 && !fd_is_file(held, spec->path) ? held : -1,
		.argv = (char *[]){ path, version, NULL },
		.envp = spec->envp != NULL ? spec->envp : minimal,
		.fds = fds,
		.fd_count = FIRST_FD + spec->fd_count,
		.new_session = true,
	};

	assert(spec->fd_count <= HELPER_FDS_MAX);
	if (spec->fd_count > 0)
		memcpy(fds + FIRST_FD, spec->fds, spec->fd_count * sizeof(fds[0]));
	return spawn_start(&spawn, ret_pid, err);
}

/* ---- its reply ---- */

static void on_reply_progress(struct reply *reply, const json_t *progress)
{
	struct helper *helper = container_of(reply, struct helper, reply);

	if (helper->handlers->progress != NULL)
		helper->handlers->progress(helper, progress);
}

static void stop_reading(struct helper *helper)
{
	loop_io_stop(&helper->answer);
	fd_close(&helper->answer_fd);
}

static void abandon_reply(struct helper *helper)
{
	helper->broken = true;
	loop_timer_stop(&helper->quiet);
	stop_reading(helper);
	if (loop_child_active(&helper->child))
		(void)kill(helper->child.pid, SIGKILL);
}

static void on_quiet(struct loop_timer *timer);

static void restart_quiet_timer(struct helper *helper)
{
	if (helper->quiet_ms > 0)
		loop_timer_start(helper->loop, &helper->quiet,
				 loop_now(helper->loop) + helper->quiet_ms, on_quiet);
}

/*
 * The end of the process is not awaited: where a disk does not respond, even a kill takes effect
 * late.
 */
static void on_quiet(struct loop_timer *timer)
{
	struct helper *helper = container_of(timer, struct helper, quiet);
	struct err err;

	abandon_reply(helper);
	(void)err_set(&err, ERR_TIMEOUT, "'%s' did not get on for %ju s", helper->name,
		      (uintmax_t)(helper->quiet_ms / 1000));
	helper->handlers->done(helper, NULL, &err);
}

/* Reads once. Returns false if there is nothing more to read now, or ever. */
static bool read_some(struct helper *helper)
{
	char data[READ_SIZE];
	ssize_t n = read(helper->answer_fd, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		stop_reading(helper);
		return false;
	}
	restart_quiet_timer(helper);
	if (reply_feed(&helper->reply, data, (size_t)n, &helper->err) == 0)
		return true;
	abandon_reply(helper);
	return false;
}

static void on_reply_readable(struct loop_io *io, uint32_t events)
{
	(void)events;
	(void)read_some(container_of(io, struct helper, answer));
}

static void report_end(struct helper *helper, int wait_status)
{
	struct err err = helper->err;

	if (!helper->broken && reply_complete(&helper->reply)) {
		helper->handlers->done(helper, helper->reply.result,
				       helper->reply.failed ? &helper->reply.error : NULL);
		return;
	}
	if (helper->broken)
		(void)err_wrap(&err, "'%s'", helper->name);
	else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == PARTS_OTHER)
		parts_differ(helper->name, &err);
	else if (WIFSIGNALED(wait_status))
		(void)err_set(&err, ERR_INTERNAL, "'%s' was ended by signal %d", helper->name,
			      WTERMSIG(wait_status));
	else
		(void)err_set(&err, ERR_INTERNAL, "'%s' ended with code %d and no answer",
			      helper->name, WEXITSTATUS(wait_status));
	helper->handlers->done(helper, NULL, &err);
}

static void on_helper_exit(struct loop_child *child, int wait_status)
{
	struct helper *helper = container_of(child, struct helper, child);

	/*
	 * The pipe holds everything that the helper wrote before it ended, and its size is bounded.
	 */
	while (helper->answer_fd >= 0 && read_some(helper))
		;
	stop_reading(helper);
	loop_timer_stop(&helper->quiet);
	report_end(helper, wait_status);
}

static void on_request_closed(struct output *output)
{
	(void)output; /* it ended before it read everything: its exit says more */
}

/* ---- the object ---- */

static void send_request(struct helper *helper, const json_t *request)
{
	char *text = json_write_text(request);
	size_t len = strlen(text);

	output_write(helper->requests, text, len);
	output_write(helper->requests, "\n", 1);
	/* A request may hold a secret. */
	explicit_bzero(text, len);
	free(text);
}

static int helper_watch(struct helper *helper, pid_t pid, struct err *err)
{
	if (loop_child_start(helper->loop, &helper->child, pid, on_helper_exit, err) < 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return -1;
	}
	return loop_io_start(helper->loop, &helper->answer, helper->answer_fd, EPOLLIN,
			     on_reply_readable, err);
}

static int helper_launch(struct helper *helper, const struct helper_spec *spec, struct err *err)
{
	int request[2] = { -1, -1 };
	int answer[2] = { -1, -1 };
	pid_t pid = -1;
	int result = -1;

	if (pipe2(request, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
		(void)err_sys(err, "making a pipe");
	else
		result = spawn_helper(spec, (int[2]){ request[0], answer[1] }, &pid, err);
	helper->request_fd = request[1];
	helper->answer_fd = answer[0];
	fd_close(&request[0]);
	fd_close(&answer[1]);
	if (result == 0)
		result = helper_watch(helper, pid, err);
	if (result == 0)
		result = fd_set_nonblock(helper->answer_fd, err);
	return result;
}

struct helper *helper_start(struct loop *loop, const struct helper_spec *spec,
			    const struct helper_handlers *handlers, void *data, struct err *err)
{
	struct helper *helper = xcalloc(1, sizeof(*helper));

	helper->loop = loop;
	helper->handlers = handlers;
	helper->data = data;
	helper->quiet_ms = spec->quiet_ms;
	helper->name = xstrdup(path_base(spec->path));
	helper->request_fd = -1;
	helper->answer_fd = -1;
	helper->request_handlers.closed = on_request_closed;
	reply_init(&helper->reply, on_reply_progress);
	if (helper_launch(helper, spec, err) < 0) {
		helper_free(helper);
		return NULL;
	}
	helper->requests = output_new(loop, helper->request_fd, &helper->request_handlers);
	send_request(helper, spec->request);
	restart_quiet_timer(helper);
	return helper;
}

void helper_send(struct helper *helper, const json_t *request)
{
	helper->reply.total = 0;
	send_request(helper, request);
}

void *helper_data(const struct helper *helper)
{
	return helper->data;
}

void helper_cancel(struct helper *helper)
{
	if (loop_child_active(&helper->child))
		(void)kill(helper->child.pid, SIGTERM);
}

static void release_helper(struct helper *helper)
{
	output_free(helper->requests);
	loop_timer_stop(&helper->quiet);
	stop_reading(helper);
	fd_close(&helper->request_fd);
	reply_release(&helper->reply);
	free(helper->name);
	free(helper);
}

static bool wait_for_end(struct helper *helper, int wait_ms)
{
	bool ended = loop_child_await(&helper->child, wait_ms);

	if (ended)
		(void)waitpid(helper->child.pid, NULL, WNOHANG);
	return ended;
}

void helper_free(struct helper *helper)
{
	if (helper == NULL)
		return;
	if (loop_child_active(&helper->child)) {
		(void)kill(helper->child.pid, SIGKILL);
		/*
		 * A process that the kernel cannot end within this time is reaped later, by init.
		 */
		(void)wait_for_end(helper, KILL_WAIT_MS);
		loop_child_stop(&helper->child);
	}
	release_helper(helper);
}

/*
 * Returns whether a helper that must report regularly has been silent for long. Only the server can
 * end it.
 */
static bool is_hung(const struct helper *helper)
{
	struct pollfd output = { .fd = helper->answer_fd, .events = POLLIN };

	return loop_timer_active(&helper->quiet) &&
	       loop_now(helper->loop) + helper->quiet_ms >= helper->quiet.deadline_ms + HANGS_MS &&
	       poll(&output, 1, 0) == 0;
}

static void note_unsettled(struct reply *reply, const json_t *progress)
{
	struct helper *helper = container_of(reply, struct helper, reply);

	helper->broken = helper->broken || json_is_true(json_object_get(progress, "again"));
}

/* Reads the rest of the reply, which no handler takes any more. */
static bool has_settled_all(struct helper *helper)
{
	helper->reply.progress = note_unsettled;
	while (helper->answer_fd >= 0 && read_some(helper))
		;
	return !helper->broken && reply_complete(&helper->reply) && !helper->reply.failed;
}

bool helper_leave(struct helper *helper, int wait_ms)
{
	bool ended = true;

	if (helper == NULL)
		return true;
	if (loop_child_active(&helper->child)) {
		bool hung = is_hung(helper);

		if (hung)
			(void)kill(helper->child.pid, SIGKILL);
		ended = wait_for_end(helper, wait_ms) && !hung;
		loop_child_stop(&helper->child);
		ended = ended && has_settled_all(helper);
	}
	release_helper(helper);
	return ended;
}
