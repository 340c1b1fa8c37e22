/* SPDX-License-Identifier: MIT */
#include "install/installer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "install/program.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "proc/sandbox_client.h"
#include "proxy/proxy.h"
#include "text/clean.h"
#include "workspace/workspace.h"

enum { ANSWER_MAX = 8 << 20, SAID_MAX = 4096, READ_CHUNK = 16 << 10, SHOWN_MAX = 600 };

#define CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"

struct installer {
	struct loop *loop;
	const struct settings *settings;
	char *proxy_helper;
	char *hosts;
	bool allow_private;
	struct sandbox *sandbox;
	struct proxy *proxy;
	struct interpreter *interpreter;
	struct loop_io control;
	struct loop_io pty;
	struct loop_timer deadline;
	struct loop_defer ended;
	char *order; /* a line, until it is written */
	size_t written;
	struct buf answer;
	struct buf said; /* on its terminal: what goes wrong early */
	struct err err;  /* why there is no answer */
	bool over;
	installer_done_fn *done;
	void *data;
};

static void stop(struct installer *i)
{
	loop_io_stop(&i->control);
	loop_io_stop(&i->pty);
	loop_timer_stop(&i->deadline);
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
	buf_release(&i->said);
	free(i->order);
	free(i->proxy_helper);
	free(i->hosts);
	free(i);
}

/* ---- its end ---- */

static json_t *read_answer(const struct installer *i, struct err *err)
{
	json_t *answer = json_parse(buf_str(&i->answer), i->answer.len, err);
	const json_t *ok = json_object_get(answer, "ok");

	if (answer == NULL)
		return NULL;
	if (json_is_true(ok) ||
	    (json_is_false(ok) && json_is_string(json_object_get(answer, "text"))))
		return answer;
	json_decref(answer);
	(void)err_set(err, ERR_INVALID, "its answer is none");
	return NULL;
}

static void on_closed(void *data)
{
	struct installer *i = data;
	cleanup_json json_t *answer = NULL;
	installer_done_fn *done = i->done;
	void *done_data = i->data;
	struct err err = i->err;

	i->sandbox = NULL;
	if (err.code == ERR_NONE && (answer = read_answer(i, &err)) == NULL)
		(void)err_wrap(&err, "the installer");
	installer_free(i);
	done(done_data, answer, answer == NULL ? &err : NULL);
}

/* Its last word is there, or none will come. */
static void finish(struct installer *i)
{
	struct sandbox *sandbox = i->sandbox;

	if (i->over)
		return;
	i->over = true;
	stop(i);
	i->sandbox = NULL;
	sandbox_close(sandbox, on_closed, i);
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

static void fail(struct installer *i, enum err_code code, const char *what)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (i->over)
		return;
	clean_line(&line, buf_str(&i->said), i->said.len, SHOWN_MAX);
	(void)err_set(&i->err, code, "the installer %s%s%s", what, line.len > 0 ? ": " : "",
		      buf_str(&line));
	finish(i);
}

/* ---- talking to it ---- */

static void send_order(struct installer *i)
{
	size_t len = strlen(i->order);

	while (i->written < len) {
		ssize_t n = send(interpreter_control(i->interpreter), i->order + i->written,
				 len - i->written, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		i->written += (size_t)n;
	}
	loop_io_set_events(&i->control, EPOLLIN | (i->written < len ? EPOLLOUT : 0U));
}

static void take_answer(struct installer *i)
{
	char chunk[READ_CHUNK];
	ssize_t n = read(interpreter_control(i->interpreter), chunk, sizeof(chunk));
	struct err err;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		fail(i, ERR_INTERNAL, "ended without an answer");
	else if (buf_add(&i->answer, chunk, (size_t)n, &err) < 0)
		fail(i, ERR_LIMIT, "says too much");
	else if (memchr(chunk, '\n', (size_t)n) != NULL)
		finish(i);
}

static void on_control(struct loop_io *io, uint32_t events)
{
	struct installer *i = container_of(io, struct installer, control);

	if ((events & EPOLLOUT) != 0)
		send_order(i);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		take_answer(i);
}

static void on_pty(struct loop_io *io, uint32_t events)
{
	struct installer *i = container_of(io, struct installer, pty);
	char chunk[READ_CHUNK];
	ssize_t n = read(interpreter_pty(i->interpreter), chunk, sizeof(chunk));

	if (n > 0 && i->said.len + (size_t)n <= SAID_MAX)
		buf_put(&i->said, chunk, (size_t)n);
	if (n <= 0 && (events & (EPOLLHUP | EPOLLERR)) != 0)
		loop_io_stop(&i->pty);
}

static void on_started(struct interpreter *interpreter)
{
	struct installer *i = interpreter_data(interpreter);
	struct err err;

	if (loop_io_start(i->loop, &i->pty, interpreter_pty(interpreter), EPOLLIN, on_pty, &err) <
		    0 ||
	    loop_io_start(i->loop, &i->control, interpreter_control(interpreter), EPOLLIN,
			  on_control, &err) < 0) {
		fail(i, ERR_SYSTEM, err.msg);
		return;
	}
	send_order(i);
}

static void on_failed(struct interpreter *interpreter, const struct err *err)
{
	struct installer *i = interpreter_data(interpreter);
	cleanup_free char *what = xasprintf("could not be started: %s", err->msg);

	fail(i, err->code, what);
}

static void on_ended(struct loop_defer *defer)
{
	fail(container_of(defer, struct installer, ended), ERR_INTERNAL, "ended without an answer");
}

/* What it said before is read first. */
static void on_exited(struct interpreter *interpreter, int wait_status)
{
	struct installer *i = interpreter_data(interpreter);

	(void)wait_status;
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

	fail(i, ERR_TIMEOUT, what);
}

static void on_listener(void *data, int listener_own)
{
	struct installer *i = data;
	const struct proxy_spec spec = { .helper = i->proxy_helper,
					 .hosts = i->hosts,
					 .allow_private = i->allow_private,
					 .bytes_max = i->settings->limits.net_max,
					 .environment = i->settings->environment };

	i->proxy = proxy_new(i->loop, &spec, listener_own);
}

/* ---- its start ---- */

static char **make_environment(const struct workspace *workspace)
{
	const char *data = workspace_data_path(workspace);
	const char *tmp = workspace_tmp_path(workspace);
	char **env = xcalloc(8, sizeof(*env));
	size_t n = 0;

	env[n++] = xstrdup("PATH=/usr/local/bin:/usr/bin:/bin");
	env[n++] = xasprintf("HOME=%s", data);
	env[n++] = xstrdup("LC_ALL=C.UTF-8");
	env[n++] = xstrdup("TERM=dumb");
	if (tmp != NULL)
		env[n++] = xasprintf("TMPDIR=%s", tmp);
	/* The authorities of this machine, also of the person's own indexes. */
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

static char **make_arguments(const struct language *language, const char *path)
{
	const char *const *arguments = program_arguments(language->name);
	char **argv = xcalloc(PROGRAM_ARGUMENTS_MAX + 2, sizeof(*argv));

	argv[0] = xstrdup(path);
	for (size_t n = 0; arguments[n] != NULL; n++)
		argv[n + 1] = xstrdup(arguments[n]);
	return argv;
}

static void start_program(struct installer *i, const struct installer_spec *spec, const char *path)
{
	static const struct interpreter_handlers handlers = {
		.started = on_started, .failed = on_failed, .exited = on_exited, .gone = on_gone
	};
	char **argv = make_arguments(spec->language, path);
	char **envp = make_environment(spec->workspace);
	const struct interpreter_spec start = { .argv = argv,
						.envp = envp,
						.cwd = workspace_data_path(spec->workspace) };

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
	struct installer *i;
	cleanup_free char *order = json_write_text(spec->order);

	if (program_arguments(spec->language->name) == NULL) {
		(void)err_set(err, ERR_UNSUPPORTED, "packages of %s cannot be installed here",
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
	i->order = xasprintf("%s\n", order);
	buf_init(&i->answer, ANSWER_MAX);
	buf_init(&i->said, BUF_UNBOUNDED);
	i->done = done;
	i->data = data;
	open_sandbox(i, spec);
	start_program(i, spec, path.path);
	interpreter_path_release(&path);
	loop_timer_start(i->loop, &i->deadline,
			 loop_now(i->loop) + spec->settings->install_timeout * 1000, on_deadline);
	return i;
}
