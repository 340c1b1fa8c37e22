/* SPDX-License-Identifier: MIT */
/*
 * installer.c - a sandbox, a program in it, and the descriptors between them. A step ends with the
 * program's reply, its exit, a deadline, or a folder that is too large. If the program ends without
 * a reply, its last terminal output explains why. That output may arrive after the exit, so it is
 * read first.
 */
#include "install/installer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/settings.h"
#include "install/program.h"
#include "install/progress.h"
#include "install/response.h"
#include "json/make.h"
#include "json/write.h"
#include "net/verdict.h"
#include "proc/interpreter.h"
#include "proc/sandbox.h"
#include "proxy/proxy.h"
#include "text/sanitize.h"
#include "workspace/disk_usage.h"
#include "workspace/workspace.h"

enum { ANSWER_MAX = 8 << 20, TERMINAL_MAX = 4096, READ_CHUNK = 16 << 10, SHOWN_MAX = 600 };
enum { LOOK_MS = 250, LAST_READS_MAX = 4 };

#define CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"

struct installer {
	struct loop *loop;
	const struct settings *settings;
	char *proxy_helper;
	char *hosts;
	bool allow_private;
	struct sandbox *sandbox;
	struct proxy *proxy;
	size_t index_count; /* if none of so many is reached, the step ends; 0: not checked */
	bool ends_itself;   /* as in struct program */
	struct interpreter *interpreter;
	struct loop_io control;
	struct loop_io commands; /* the pipe of the request, if there is one */
	struct loop_io pty;
	struct loop_timer deadline;
	struct loop_timer look; /* the next measurement of its folder */
	struct disk *disk;
	struct loop_defer ended;
	char *request; /* the request line, until it is written */
	size_t written;
	struct progress progress;
	struct buf answer;
	struct buf terminal;  /* early error messages on its terminal */
	struct err err;       /* the error, if there is no reply */
	struct err unreached; /* the error that replaces a reply without success */
	bool exited;
	bool over;
	installer_done_fn *done;
	void *data;
};

static void stop(struct installer *i)
{
	loop_io_stop(&i->control);
	loop_io_stop(&i->commands);
	loop_io_stop(&i->pty);
	loop_timer_stop(&i->deadline);
	loop_timer_stop(&i->look);
	disk_free(i->disk);
	i->disk = NULL;
	loop_defer_stop(&i->ended);
	interpreter_free(i->interpreter);
	i->interpreter = NULL;
	proxy_free(i->proxy);
	i->proxy = NULL;
}

void installer_free(struct installer *i)
{
	if (i == NULL)
		return;
	stop(i);
	buf_release(&i->answer);
	buf_release(&i->terminal);
	free(i->request);
	free(i->proxy_helper);
	free(i->hosts);
	free(i);
}

/* ---- end of a step ---- */

static void on_closed(void *data)
{
	struct installer *i = data;
	cleanup_json json_t *answer = NULL;
	installer_done_fn *done = i->done;
	void *done_data = i->data;
	struct err err = i->err;

	i->sandbox = NULL;
	if (err.code == ERR_NONE &&
	    (answer = response_read(buf_str(&i->answer), i->answer.len, &err)) == NULL)
		(void)err_wrap(&err, "the installer");
	if (i->unreached.code != ERR_NONE && !json_is_true(json_object_get(answer, "ok"))) {
		err = i->unreached;
		json_decref(answer);
		answer = NULL;
	}
	installer_free(i);
	done(done_data, answer, answer == NULL ? &err : NULL);
}

/*
 * Returns true if at least `least` indexes were requested and none was reached. Retries would not
 * help, and the program's own message, "no such package", would be wrong.
 */
static bool reaches_none(const struct installer *i, size_t least, struct err *ret_why)
{
	const struct proxy_row *last = NULL;
	const struct proxy_row *row;
	size_t count = 0;

	for (; i->proxy != NULL && (row = proxy_row(i->proxy, count)) != NULL; count++) {
		if (row->allowed > 0 || row->host[0] == '\0')
			return false;
		last = row;
	}
	if (last == NULL || i->index_count == 0 || count < least)
		return false;
	(void)err_set(ret_why, ERR_NOT_FOUND, "the index cannot be reached: '%s:%u' %s%s",
		      last->host, last->port, verdict_clause(last->last),
		      last->last == VERDICT_PRIVATE ? " (PTYCELL_ALLOW_PRIVATE_HOSTS=1 allows that)"
						    : "");
	return true;
}

/* Ends the step: its reply is complete, or will not come. */
static void finish_step(struct installer *i)
{
	struct sandbox *sandbox = i->sandbox;

	if (i->over)
		return;
	i->over = true;
	/* A program may end its search at the first index that is not reached. */
	(void)reaches_none(i, 1, &i->unreached);
	stop(i);
	i->sandbox = NULL;
	sandbox_close(sandbox, on_closed, i);
}

void installer_stop(struct installer *i)
{
	finish_step(i);
}

struct sandbox *installer_abandon(struct installer *i)
{
	struct sandbox *sandbox;

	if (i == NULL || i->over)
		return NULL;
	sandbox = i->sandbox;
	installer_free(i);
	return sandbox;
}

static void fail_step(struct installer *i, enum err_code code, const char *what)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (i->over)
		return;
	sanitize_line(&line, buf_str(&i->terminal), i->terminal.len, SHOWN_MAX);
	(void)err_set(&i->err, code, "the installer %s%s%s", what, line.len > 0 ? ": " : "",
		      buf_str(&line));
	finish_step(i);
}

/* ---- request and reply ---- */

static ssize_t send_some(const struct installer *i)
{
	int pipe = interpreter_descriptor(i->interpreter, "commands");
	const char *rest = i->request + i->written;

	if (pipe >= 0)
		return write(pipe, rest, strlen(rest));
	return send(interpreter_control(i->interpreter), rest, strlen(rest),
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Writes the request. A closed end is detected on the other descriptor. */
static void send_request(struct installer *i)
{
	bool by_pipe = loop_io_active(&i->commands);
	bool writable = true;
	bool waits;

	while (i->request[i->written] != '\0' && writable) {
		ssize_t n = send_some(i);

		if (n > 0)
			i->written += (size_t)n;
		writable = n > 0 || errno == EINTR;
	}
	waits = i->request[i->written] != '\0' && errno == EAGAIN;
	if (by_pipe && !waits)
		loop_io_stop(&i->commands);
	else if (!by_pipe)
		loop_io_set_events(&i->control, EPOLLIN | (waits ? EPOLLOUT : 0U));
}

static void on_commands(struct loop_io *io, uint32_t events)
{
	(void)events;
	send_request(container_of(io, struct installer, commands));
}

static ssize_t read_pty(struct installer *i)
{
	char chunk[READ_CHUNK];
	ssize_t n = read(interpreter_pty(i->interpreter), chunk, sizeof(chunk));
	size_t room = TERMINAL_MAX - i->terminal.len;

	if (n > 0)
		buf_put(&i->terminal, chunk, (size_t)n < room ? (size_t)n : room);
	return n;
}

static void on_ended(struct loop_defer *defer)
{
	struct installer *i = container_of(defer, struct installer, ended);

	/* A process that the program left may write forever. */
	for (int n = 0; n < LAST_READS_MAX && loop_io_active(&i->pty) && read_pty(i) > 0; n++)
		;
	fail_step(i, ERR_INTERNAL, "ended without an answer");
}

/* Waits for the exit: the reason is on the terminal, but may arrive later. */
static void await_end(struct installer *i)
{
	loop_io_stop(&i->control);
	if (i->exited)
		loop_defer_start(i->loop, &i->ended, on_ended);
}

/* Takes the lines that are complete: progress, and at last the reply. */
static void take_lines(struct installer *i)
{
	const char *end;

	while ((end = memchr(i->answer.data, '\n', i->answer.len)) != NULL) {
		size_t len = (size_t)(end - i->answer.data);

		if (!progress_read(i->answer.data, len, &i->progress)) {
			finish_step(i);
			return;
		}
		buf_consume(&i->answer, len + 1);
	}
}

static void take_answer(struct installer *i)
{
	char chunk[READ_CHUNK];
	ssize_t n = read(interpreter_control(i->interpreter), chunk, sizeof(chunk));
	struct err err;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		await_end(i);
	else if (buf_add(&i->answer, chunk, (size_t)n, &err) < 0)
		fail_step(i, ERR_LIMIT, "says too much");
	else
		take_lines(i);
}

void installer_progress(const struct installer *i, struct progress *ret)
{
	const struct proxy_row *row;

	*ret = i->progress;
	if (ret->done > 0 || i->proxy == NULL)
		return;
	for (size_t n = 0; (row = proxy_row(i->proxy, n)) != NULL; n++)
		ret->done += row->received;
}

static void on_control(struct loop_io *io, uint32_t events)
{
	struct installer *i = container_of(io, struct installer, control);

	if ((events & EPOLLOUT) != 0)
		send_request(i);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		take_answer(i);
}

static void on_pty(struct loop_io *io, uint32_t events)
{
	struct installer *i = container_of(io, struct installer, pty);

	if (read_pty(i) <= 0 && (events & (EPOLLHUP | EPOLLERR)) != 0)
		loop_io_stop(&i->pty);
}

static void on_started(struct interpreter *interpreter)
{
	struct installer *i = interpreter_data(interpreter);
	int pipe = interpreter_descriptor(interpreter, "commands");
	struct err err;

	if (loop_io_start(i->loop, &i->pty, interpreter_pty(interpreter), EPOLLIN, on_pty, &err) <
		    0 ||
	    loop_io_start(i->loop, &i->control, interpreter_control(interpreter), EPOLLIN,
			  on_control, &err) < 0 ||
	    (pipe >= 0 &&
	     loop_io_start(i->loop, &i->commands, pipe, EPOLLOUT, on_commands, &err) < 0)) {
		fail_step(i, ERR_SYSTEM, err.msg);
		return;
	}
	send_request(i);
}

static void on_failed(struct interpreter *interpreter, const struct err *err)
{
	struct installer *i = interpreter_data(interpreter);
	cleanup_free char *what = xasprintf("could not be started: %s", err->msg);

	fail_step(i, err->code, what);
}

/* Handles the exit. Output from before the exit is read first. */
static void on_exited(struct interpreter *interpreter, int wait_status)
{
	struct installer *i = interpreter_data(interpreter);

	(void)wait_status;
	i->exited = true;
	if (!loop_io_active(&i->control))
		loop_defer_start(i->loop, &i->ended, on_ended);
}

static void on_gone(struct interpreter *interpreter)
{
	struct installer *i = interpreter_data(interpreter);

	loop_defer_start(i->loop, &i->ended, on_ended);
}

static void on_deadline(struct loop_timer *timer)
{
	struct installer *i = container_of(timer, struct installer, deadline);
	cleanup_free char *what = xasprintf("was not done after %ju s (PTYCELL_INSTALL_TIMEOUT)",
					    (uintmax_t)i->settings->install_timeout);

	fail_step(i, ERR_TIMEOUT, what);
}

static void on_look(struct loop_timer *timer);

static void on_measured(struct disk *disk, uint64_t bytes)
{
	struct installer *i = disk_data(disk);
	const struct settings *settings = i->settings;

	if (bytes > settings->install_max)
		fail_step(i, ERR_LIMIT, "needs more room than PTYCELL_INSTALL_MAX allows");
	else if (disk_entries(disk) > settings->install_files_max)
		fail_step(i, ERR_LIMIT, "makes more files than a set of packages may have");
	else
		loop_timer_start(i->loop, &i->look, loop_now(i->loop) + LOOK_MS, on_look);
}

static void on_look(struct loop_timer *timer)
{
	struct installer *i = container_of(timer, struct installer, look);

	if (!i->ends_itself && reaches_none(i, i->index_count, &i->err))
		finish_step(i);
	else
		disk_start(i->disk, on_measured);
}

static void on_listener(void *data, int listener_own)
{
	struct installer *i = data;
	const struct proxy_spec spec = { .helper = i->proxy_helper,
					 .hosts = i->hosts,
					 .allow_private = i->allow_private,
					 .bytes_max = i->settings->install_max,
					 .environment = i->settings->environment };

	i->proxy = proxy_new(i->loop, &spec, listener_own);
}

/* ---- start of a step ---- */

static char **make_environment(const struct workspace *workspace, const struct program *program)
{
	const char *data = workspace_data_path(workspace);
	const char *tmp = workspace_tmp_path(workspace);
	char **env = xcalloc(9, sizeof(*env));
	size_t n = 0;

	env[n++] = xstrdup("PATH=/usr/local/bin:/usr/bin:/bin");
	env[n++] = xasprintf("HOME=%s", data);
	env[n++] = xstrdup("LC_ALL=C.UTF-8");
	env[n++] = xstrdup("TERM=dumb");
	if (program->variable != NULL)
		env[n++] = xstrdup(program->variable);
	if (tmp != NULL)
		env[n++] = xasprintf("TMPDIR=%s", tmp);
	/* The certificate authorities of this machine, also for the user's own indexes. */
	if (access(CERTIFICATES, R_OK) == 0) {
		env[n++] = xstrdup("SSL_CERT_FILE=" CERTIFICATES);
		env[n++] = xstrdup("REQUESTS_CA_BUNDLE=" CERTIFICATES);
	}
	return env;
}

static void free_strings(char **strings)
{
	for (size_t i = 0; strings[i] != NULL; i++)
		free(strings[i]);
	free(strings);
}

static char **make_arguments(const struct program *program, const char *path)
{
	size_t count = 0;
	char **argv;

	while (program->arguments[count] != NULL)
		count++;
	argv = xcalloc(count + 2, sizeof(*argv));
	argv[0] = xstrdup(path);
	for (size_t n = 0; n < count; n++)
		argv[n + 1] = xstrdup(program->arguments[n]);
	return argv;
}

static void start_program(struct installer *i, const struct installer_spec *spec, const char *path)
{
	static const struct interpreter_handlers handlers = {
		.started = on_started, .failed = on_failed, .exited = on_exited, .gone = on_gone
	};
	const struct program *program = program_find(spec->language->name);
	char **argv = make_arguments(program, path);
	char **envp = make_environment(spec->workspace, program);
	const struct interpreter_spec start = { .argv = argv,
						.envp = envp,
						.cwd = workspace_data_path(spec->workspace),
						.descriptors = program->descriptors,
						.descriptor_count = program->descriptor_count };

	i->interpreter = interpreter_start(i->sandbox, &start, &handlers, i);
	free_strings(argv);
	free_strings(envp);
}

static void open_sandbox(struct installer *i, const struct installer_spec *spec)
{
	const struct confinement_installer needs = {
		.network = spec->hosts != NULL && spec->proxy_helper != NULL,
		.folders = spec->folders,
		.folder_fds = spec->folder_fds,
		.folder_count = spec->folder_count,
	};

	i->sandbox = confinement_open_installer(spec->confinement, spec->workspace, &needs);
	if (needs.network)
		sandbox_watch_listener(i->sandbox, on_listener, i);
}

struct installer *installer_start(const struct installer_spec *spec, installer_done_fn *done,
				  void *data, struct err *err)
{
	struct interpreter_path path;
	const struct program *program = program_find(spec->language->name);
	struct installer *i;
	cleanup_free char *request = json_write_text(spec->request);

	if (program == NULL) {
		(void)err_set(err, ERR_UNSUPPORTED,
			      "%s has no packages; install_packages with language brings those of "
			      "python, javascript and r",
			      spec->language->name);
		return NULL;
	}
	if (confinement_locate(spec->confinement, spec->language, &path, err) < 0)
		return NULL;
	i = xcalloc(1, sizeof(*i));
	i->loop = spec->loop;
	i->settings = spec->settings;
	i->proxy_helper = spec->proxy_helper != NULL ? xstrdup(spec->proxy_helper) : NULL;
	i->hosts = spec->hosts != NULL ? xstrdup(spec->hosts) : NULL;
	i->allow_private = spec->allow_private;
	i->index_count = spec->index_count;
	i->ends_itself = program->ends_itself;
	i->request = xasprintf("%s\n", request);
	buf_init(&i->answer, ANSWER_MAX);
	buf_init(&i->terminal, BUF_UNBOUNDED);
	i->done = done;
	i->data = data;
	open_sandbox(i, spec);
	start_program(i, spec, path.path);
	locate_release(&path);
	i->disk = disk_new(i->loop, spec->workspace, i);
	loop_timer_start(i->loop, &i->look, loop_now(i->loop) + LOOK_MS, on_look);
	loop_timer_start(i->loop, &i->deadline, spec->deadline_ms, on_deadline);
	return i;
}
