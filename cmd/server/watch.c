/* SPDX-License-Identifier: MIT */
/*
 * watch.c - waits for lines of one server, or of all, and for what the user types. In `attach` the
 * user's own terminal edits and echoes a line, as the session's terminal does neither, and Enter
 * sends it; it does not echo what a cell asks for as a password. Ctrl-C interrupts the cell, Ctrl-D
 * leaves. A line is a request of its own: the stream stays for output.
 */
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "control/client.h"
#include "invocation.h"
#include "json/make.h"
#include "remote.h"
#include "view.h"

enum {
	READ_CHUNK = 4096,
	TYPED_MAX = 32 << 10, /* of a line that has no end yet: then it is sent as it is */
	LINE_MS = 5000,       /* for the rest of a line of the server that has begun to arrive */
};

struct watch {
	struct remote remote;
	struct invocation inv;
	struct remote_session session; /* of attach and of one session */
	struct view view;
	struct client *clients;
	struct pollfd *ready; /* of each client; the last one is that of stdin */
	size_t count;         /* of clients */
	struct buf typed;     /* the begin of a line */
	bool types;
	bool hides; /* the terminal does not echo */
	bool over;
};

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t asked_to_end;
static struct termios shown;  /* the terminal as it was */
static sigset_t open_signals; /* while the command waits: at no other time a signal comes */

static void on_signal(int signo)
{
	if (signo == SIGINT)
		interrupted = 1;
	else
		asked_to_end = 1;
}

/* ---- the terminal ---- */

static void restore_terminal(void)
{
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &shown);
}

/* Takes Ctrl-C for the session. Signals that end the command leave an echoing terminal. */
static void take_terminal(struct watch *watch)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT };

	sigset_t blocked;

	if (tcgetattr(STDIN_FILENO, &shown) < 0)
		return;
	(void)sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		(void)sigaddset(&blocked, signals[i]);
		(void)sigaction(signals[i], &(struct sigaction){ .sa_handler = on_signal }, NULL);
	}
	(void)sigprocmask(SIG_BLOCK, &blocked, NULL);
	(void)atexit(restore_terminal);
	view_remark(&watch->view,
		    "Lines go to the cell that runs. Ctrl-C interrupts it, Ctrl-D leaves.");
}

/* Has the terminal echo what is typed, or not. */
static void hide_typing(struct watch *watch, bool hide)
{
	struct termios now = shown;

	if (!watch->types || !isatty(STDIN_FILENO) || watch->hides == hide)
		return;
	watch->hides = hide;
	if (hide)
		now.c_lflag &= ~(tcflag_t)ECHO;
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

/* ---- typing ---- */

/* `kind` is a word of the command `type`. */
static void type(struct watch *watch, const char *kind, const char *text, size_t len)
{
	cleanup_json json_t *request = json_object();
	cleanup_json json_t *reply = NULL;
	struct err err;

	json_put_str(request, "command", "type");
	json_put_str(request, "session_id",
		     json_string_value(json_object_get(watch->session.row, "session_id")));
	json_put(request, "text", json_make_text(text, len));
	json_put_str(request, "kind", kind);
	reply = remote_call(&watch->remote, watch->session.server, request, &err);
	if (reply == NULL)
		view_remark(&watch->view, err.msg);
}

/* Sends the lines that are whole, the rest at the end or when it is long. */
static void type_lines(struct watch *watch, bool ends)
{
	struct buf *typed = &watch->typed;
	const char *last = typed->len > 0 ? memrchr(typed->data, '\n', typed->len) : NULL;
	size_t whole = last != NULL ? (size_t)(last - typed->data) + 1 : 0;

	if (whole > 0)
		type(watch, "line", typed->data, whole);
	buf_consume(typed, whole);
	if (typed->len == 0 || (!ends && typed->len < TYPED_MAX))
		return;
	type(watch, "raw", typed->data, typed->len);
	buf_clear(typed);
}

static void take_typed(struct watch *watch)
{
	char chunk[READ_CHUNK];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		buf_put(&watch->typed, chunk, (size_t)n);
	view_typed(&watch->view);
	type_lines(watch, n <= 0);
	watch->over = n <= 0;
}

static void take_interrupt(struct watch *watch)
{
	if (interrupted)
		type(watch, "key", "\003", 1);
	interrupted = 0;
}

/* ---- lines ---- */

static void take_lines(struct watch *watch, size_t index)
{
	struct client *client = &watch->clients[index];
	struct err err;

	do {
		cleanup_json json_t *line = client_read(client, clock_ms() + LINE_MS, &err);

		if (line == NULL) {
			view_remark(&watch->view, err.msg);
			client_close(client);
			watch->ready[index].fd = -1;
			return;
		}
		if (!view_print(&watch->view, line))
			watch->over = true;
		if (str_eq(json_string_value(json_object_get(line, "event")), "state"))
			hide_typing(watch, json_is_true(json_object_get(line, "secret")));
	} while (!watch->over && client_has_line(client));
}

static bool has_clients(const struct watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->ready[i].fd >= 0)
			return true;
	return false;
}

static void run(struct watch *watch)
{
	/* Lines that came with the first one are read already: poll does not report them. */
	for (size_t i = 0; i < watch->count && !watch->over; i++)
		if (client_has_line(&watch->clients[i]))
			take_lines(watch, i);
	while (!watch->over && !asked_to_end && has_clients(watch)) {
		if (ppoll(watch->ready, watch->count + 1, NULL, &open_signals) < 0) {
			watch->over = errno != EINTR;
			take_interrupt(watch);
			continue;
		}
		for (size_t i = 0; i < watch->count && !watch->over; i++)
			if (watch->ready[i].revents != 0)
				take_lines(watch, i);
		if (watch->ready[watch->count].revents != 0 && !watch->over)
			take_typed(watch);
	}
}

/* ---- beginning ---- */

/* Opens a stream, whose first line says that it is open. */
static int open_stream(struct watch *watch, const struct remote_server *server, const char *id,
		       struct err *err)
{
	struct client *client = &watch->clients[watch->count];
	cleanup_json json_t *request = json_object();
	cleanup_json json_t *reply = NULL;

	json_put_str(request, "command", "watch");
	json_put_str(request, "session_id", id);
	json_put_bool(request, "all", id == NULL);
	if (remote_ask(&watch->remote, server, request, client, err) == 0)
		reply = client_read(client, clock_ms() + REMOTE_ANSWER_MS, err);
	if (reply == NULL) {
		client_close(client);
		return -1;
	}
	watch->ready[watch->count++] = (struct pollfd){ .fd = client->fd, .events = POLLIN };
	return 0;
}

static int open_one(struct watch *watch, struct err *err)
{
	const char *id = watch->inv.session;

	if (remote_find(&watch->remote, id, watch->inv.server, &watch->session, err) < 0)
		return -1;
	if (watch->session.server == NULL)
		return err_set(err, ERR_NOT_FOUND,
			       "session '%s' has ended; ptycell log %s shows what it did", id, id);
	return open_stream(watch, watch->session.server, id, err);
}

static int open_all(struct watch *watch, struct err *err)
{
	for (size_t i = 0; i < watch->remote.count; i++)
		if (open_stream(watch, &watch->remote.servers[i], NULL, err) < 0)
			view_remark(&watch->view, err->msg);
	if (watch->count == 0)
		return err_set(err, ERR_NOT_FOUND, "no server runs");
	if (!watch->inv.json)
		view_remark(&watch->view, "Output of all sessions appears here. Ctrl-C ends this.");
	return 0;
}

static void watch_free(struct watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		client_close(&watch->clients[i]);
	buf_release(&watch->typed);
	free(watch->clients);
	free(watch->ready);
	remote_close(&watch->remote);
}

static int watch_run(struct watch *watch)
{
	struct err err;

	watch->clients = xcalloc(watch->remote.count + 1, sizeof(*watch->clients));
	watch->ready = xcalloc(watch->remote.count + 1, sizeof(*watch->ready));
	buf_init(&watch->typed, BUF_UNBOUNDED);
	watch->view.all = watch->inv.all;
	watch->view.json = watch->inv.json;
	if ((watch->inv.all ? open_all(watch, &err) : open_one(watch, &err)) < 0)
		return remote_complain(&err);
	watch->ready[watch->count] =
		(struct pollfd){ .fd = watch->types ? STDIN_FILENO : -1, .events = POLLIN };
	(void)sigprocmask(SIG_BLOCK, NULL, &open_signals);
	if (watch->types && isatty(STDIN_FILENO))
		take_terminal(watch);
	run(watch);
	return 0;
}

static int start(int argc, char **argv, bool types)
{
	struct watch watch = { .types = types };
	unsigned takes = INVOCATION_SESSION | INVOCATION_SERVER |
			 (types ? 0U : INVOCATION_ALL | INVOCATION_JSON);
	int code = invocation_begin(argc, argv, takes, &watch.inv, &watch.remote);

	if (code != 0)
		return code;
	if (watch.inv.all == (watch.inv.session != NULL)) {
		(void)fprintf(stderr,
			      "Name a session: ptycell %s SESSION%s; ptycell ps lists them.\n",
			      argv[0], types ? "" : ", or --all");
		code = 2;
	} else {
		code = watch_run(&watch);
	}
	watch_free(&watch);
	return code;
}

int watch_main(int argc, char **argv)
{
	return start(argc, argv, false);
}

int watch_attach_main(int argc, char **argv)
{
	return start(argc, argv, true);
}
