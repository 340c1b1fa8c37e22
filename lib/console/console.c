/* SPDX-License-Identifier: MIT */
/*
 * console.c - the table of the commands that a server takes, and the life of its socket. A command
 * is done within the turn of the loop in which its request arrived.
 */
#include "console/console.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "console/console_internal.h"
#include "json/get.h"
#include "session/table.h"
#include "tools/service.h"
#include "workspace/home.h"

struct session *console_find(const struct console *console, const json_t *request, struct err *err)
{
	const char *id = "";

	if (json_get_required(request, "request", "session_id", err) < 0 ||
	    json_get_text(request, "request", "session_id", &id, NULL, err) < 0)
		return NULL;
	if (console->service->table != NULL)
		return table_find(console->service->table, id, err);
	(void)err_set(err, ERR_NOT_FOUND, "this server has no session");
	return NULL;
}

static const struct command {
	const char *word;
	void (*run)(struct console *console, struct peer *peer, const json_t *request);
} commands[] = {
	{ "ps", console_ps },
	{ "stop", console_stop },
	{ "interrupt", console_interrupt },
	{ "watch", console_watch },
	{ "type", console_type },
	{ "adopt", console_adopt },
	{ "end", console_end },
	{ "release", console_release },
};

static void on_request(struct peer *peer, const json_t *request, void *data)
{
	const char *word = "";
	struct err err;

	if (json_get_required(request, "request", "command", &err) < 0 ||
	    json_get_text(request, "request", "command", &word, NULL, &err) < 0) {
		listener_refuse(peer, &err);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!str_eq(commands[i].word, word))
			continue;
		commands[i].run(data, peer, request);
		return;
	}
	(void)err_set(&err, ERR_UNSUPPORTED,
		      "this server does not know the command: use the ptycell that it runs");
	listener_refuse(peer, &err);
}

static void on_gone(struct peer *peer, void *data)
{
	console_watch_gone(data, peer);
}

static const struct listener_handlers handlers = { .request = on_request, .gone = on_gone };

static void on_ready(void *data)
{
	struct console *console = data;
	const struct service *service = console->service;
	struct err err;
	cleanup_fd int home = -1;

	if (console->tried)
		return;
	console->tried = true;
	home = home_open_root(service->settings->home, &err);
	if (home >= 0)
		console->listener = listener_new(service->loop, home, &handlers, console, &err);
	if (console->listener == NULL)
		log_info("console", "no commands reach this server: %s", err.msg);
}

static void on_sessions_changed(void *data)
{
	struct console *console = data;

	if (console->until_ms > 0 && !service_has_sessions(console->service))
		console->linger->end(console->linger->data);
}

bool console_is_reachable(const struct console *console)
{
	return console->listener != NULL && listener_is_reachable(console->listener);
}

static void show_leaving(struct console *console, bool leaving)
{
	console->leaving = leaving;
	console->left_ms = clock_ms();
	if (console->service->host.home != NULL)
		home_show_leaving(console->service->host.home, leaving);
}

void console_leave(struct console *console)
{
	show_leaving(console, true);
}

void console_linger(struct console *console, uint64_t until_ms)
{
	console->until_ms = until_ms;
	show_leaving(console, false);
}

struct console *console_new(struct service *service, const struct mcp_server *server,
			    const struct console_linger *linger)
{
	struct console *console = xcalloc(1, sizeof(*console));

	console->service = service;
	console->server = server;
	console->linger = linger;
	console->began_ms = clock_ms();
	list_init(&console->watchers);
	list_init(&console->taps);
	list_init(&console->wants);
	console->observer = (struct service_observer){ .ready = on_ready,
						       .wanted = console_want,
						       .sessions_changed = on_sessions_changed,
						       .data = console };
	service_observe(service, &console->observer);
	return console;
}

void console_free(struct console *console)
{
	if (console == NULL)
		return;
	service_observe(console->service, NULL);
	console_watch_end(console);
	console_forget_offer(console);
	console_forget_wants(console);
	listener_free(console->listener);
	free(console->typed);
	free(console);
}
