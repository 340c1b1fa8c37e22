/* SPDX-License-Identifier: MIT */
/*
 * console_linger.c - a server without a client goes to one front, or ends when the user says so. It
 * gives up an idle session that a server with other settings wants, which then resumes it. A server
 * that stood still meanwhile keeps it: the other one waits for a moment only.
 *
 * A server whose client has closed its end, while a cell still runs, does the same once the cell
 * has ended. Just before the other server gives up, the session ends with the cell.
 *
 * A front asks first, and sends its descriptors once the server has agreed: so a server that does
 * not answer never holds them. While one front is handing over, others are turned away. A front
 * that comes while the client is leaving may ask again.
 */
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "console/console_internal.h"
#include "control/client.h"
#include "control/sockets.h"
#include "json/get.h"
#include "json/make.h"
#include "session/session.h"
#include "session/table.h"
#include "workspace/home.h"

enum {
	OFFER_MS = 2000,  /* for a front to hand over, once it may */
	LEAVING_MS = 300, /* for the answers that a client still waits for, before a front comes */
	WANT_LOOK_MS = 50,
	WANT_LAST_MS = 2000, /* before the other server gives up, its session ends with its cell */
};

struct offer {
	struct console *console;
	int fd;
	struct loop_io io;
	struct loop_timer timer;
};

void console_forget_offer(struct console *console)
{
	struct offer *offer = console->offer;

	if (offer == NULL)
		return;
	console->offer = NULL;
	loop_io_stop(&offer->io);
	loop_timer_stop(&offer->timer);
	fd_close(&offer->fd);
	free(offer);
}

static void on_offer_late(struct loop_timer *timer)
{
	console_forget_offer(container_of(timer, struct offer, timer)->console);
}

static void on_offered(struct loop_io *io, uint32_t events)
{
	struct offer *offer = container_of(io, struct offer, io);
	struct console *console = offer->console;
	int fds[HANDOVER_FDS];
	struct err err;
	int socket_fd;

	(void)events;
	if (handover_receive(offer->fd, fds, &err) < 0) {
		if (err.code != ERR_BUSY)
			console_forget_offer(console);
		return;
	}
	loop_io_stop(io);
	socket_fd = fd_steal(&offer->fd);
	console_forget_offer(console);
	console->until_ms = 0;
	console->linger->adopt(console->linger->data, socket_fd, fds);
}

static void await_offer(struct console *console, int fd_own)
{
	struct loop *loop = console->service->loop;
	struct offer *offer = xcalloc(1, sizeof(*offer));
	struct err err;

	offer->console = console;
	offer->fd = fd_own;
	console->offer = offer;
	loop_timer_start(loop, &offer->timer, loop_now(loop) + OFFER_MS, on_offer_late);
	if (loop_io_start(loop, &offer->io, offer->fd, EPOLLIN, on_offered, &err) < 0)
		console_forget_offer(console);
}

static int check_adoption(const struct console *console, const json_t *request, struct err *err)
{
	const char *likeness = "";

	if (json_get_required(request, "request", "likeness", err) < 0 ||
	    json_get_text(request, "request", "likeness", &likeness, NULL, err) < 0)
		return -1;
	if (console->linger == NULL || !str_eq(likeness, console->linger->likeness))
		return err_set(err, ERR_INVALID, "this server has other settings");
	if (console->until_ms > 0 && console->offer == NULL)
		return 0;
	if (console->until_ms == 0 && console->linger->is_leaving(console->linger->data)) {
		if (console->leaving && clock_ms() >= console->left_ms + LEAVING_MS)
			console->linger->leave(console->linger->data);
		return err_set(err, ERR_CANCELLED, "the client of this server is leaving");
	}
	return err_set(err, ERR_BUSY, "this server has a client");
}

void console_adopt(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;
	int fd;

	if (check_adoption(console, request, &err) < 0) {
		listener_refuse(peer, &err);
		return;
	}
	fd = listener_give_away(peer, json_object());
	if (fd >= 0)
		await_offer(console, fd);
}

void console_end(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;

	(void)request;
	if (console->until_ms == 0) {
		(void)err_set(&err, ERR_BUSY,
			      "a host uses this server, which ends with it: close the host, or end "
			      "the sessions");
		listener_refuse(peer, &err);
		return;
	}
	listener_answer(peer, json_object());
	console->linger->end(console->linger->data);
}

/* ---- a session of a server without a client, wanted by another server ---- */

/* A session of a leaving server that another one wants. */
struct want {
	struct list node;
	char *id;
	uint64_t until_ms;
};

static void want_free(struct want *want)
{
	list_remove(&want->node);
	free(want->id);
	free(want);
}

void console_forget_wants(struct console *console)
{
	loop_timer_stop(&console->want);
	list_for_each (struct want, want, &console->wants, node)
		want_free(want);
}

/* Ends a session for the server that wants it. The variables are saved before. */
static int end_wanted(const struct console *console, const char *id, struct err *err)
{
	return table_hand_over(console->service->table, id, "another host asked for it", err);
}

/* Returns whether the session is not wanted any more, or ends. */
static bool settle(const struct console *console, const struct want *want)
{
	struct err err;
	const struct session *session = table_find(console->service->table, want->id, &err);

	if (session == NULL || clock_ms() >= want->until_ms)
		return true;
	if (session_busy(session) && clock_ms() + WANT_LAST_MS < want->until_ms)
		return false;
	return end_wanted(console, want->id, &err) == 0;
}

static void on_want(struct loop_timer *timer)
{
	struct console *console = container_of(timer, struct console, want);
	struct loop *loop = console->service->loop;

	list_for_each (struct want, want, &console->wants, node)
		if (settle(console, want))
			want_free(want);
	if (!list_empty(&console->wants))
		loop_timer_start(loop, timer, loop_now(loop) + WANT_LOOK_MS, on_want);
}

static void add_want(struct console *console, const char *id, uint64_t until_ms)
{
	struct want *want = xcalloc(1, sizeof(*want));
	struct loop *loop = console->service->loop;

	list_init(&want->node);
	want->id = xstrdup(id);
	want->until_ms = until_ms;
	list_append(&console->wants, &want->node);
	loop_timer_start(loop, &console->want, loop_now(loop), on_want);
}

static int check_release(const struct console *console, const struct session *session,
			 const json_t *request, uint64_t *ret_until_ms, struct err *err)
{
	json_int_t until_ms = 0;

	if (json_get_required(request, "request", "until_ms", err) < 0 ||
	    json_get_int(request, "request", "until_ms", &until_ms, err) < 0)
		return -1;
	*ret_until_ms = (uint64_t)until_ms;
	if (*ret_until_ms < clock_ms())
		return err_set(err, ERR_CANCELLED, "the other server does not wait any more");
	if (console->until_ms == 0 && !console->leaving)
		return err_set(err, ERR_BUSY, "a host uses this server");
	if (session_busy(session) && !console->leaving)
		return err_set(err, ERR_BUSY, "session '%s' is busy", session_id(session));
	if (!session_lasts(session))
		return err_set(err, ERR_BUSY, "session '%s' cannot be resumed",
			       session_id(session));
	return 0;
}

void console_release(struct console *console, struct peer *peer, const json_t *request)
{
	struct err err;
	const struct session *session = console_find(console, request, &err);
	uint64_t until_ms;

	if (session == NULL || check_release(console, session, request, &until_ms, &err) < 0) {
		listener_refuse(peer, &err);
		return;
	}
	if (session_busy(session))
		add_want(console, session_id(session), until_ms);
	else if (end_wanted(console, session_id(session), &err) < 0) {
		listener_refuse(peer, &err);
		return;
	}
	listener_answer(peer, json_object());
}

/* Sends one request. A server that is gone or refuses has not released: its session stays held. */
static void send_want(int folder_fd, const char *name, json_t *request)
{
	cleanup_client struct client client = { .fd = -1 };
	struct err err;

	if (client_open(&client, folder_fd, name, request, &err) < 0)
		log_debug("console", "%s", err.msg);
}

void console_want(void *data, const char *id, uint64_t until_ms)
{
	const struct console *console = data;
	cleanup_json json_t *request = json_object();
	struct err err;
	cleanup_fd int home = home_open_root(console->service->settings->home, &err);
	cleanup_fd int folder_fd = home >= 0 ? sockets_open(home, false, &err) : -1;
	size_t count = 0;
	char **names = folder_fd >= 0 ? sockets_list(folder_fd, &count) : NULL;

	json_put_str(request, "command", "release");
	json_put_str(request, "session_id", id);
	json_put_int(request, "until_ms", (json_int_t)until_ms);
	for (size_t i = 0; i < count; i++) {
		send_want(folder_fd, names[i], request);
		free(names[i]);
	}
	free(names);
}
