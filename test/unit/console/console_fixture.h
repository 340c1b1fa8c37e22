/* SPDX-License-Identifier: MIT */
/*
 * console_fixture.h - a console over the sessions of session_fixture.h, and a command that asks it.
 *
 * Include after cmocka.h.
 */
#ifndef TEST_CONSOLE_FIXTURE_H
#define TEST_CONSOLE_FIXTURE_H

#include "console/console.h"
#include "control/client.h"
#include "control/sockets.h"
#include "json/make.h"
#include "json/parse.h"
#include "mcp/server.h"
#include "session/table.h"
#include "session_fixture.h"
#include "tools/service.h"

static struct {
	struct service service;
	struct mcp_features features;
	struct mcp_limits limits;
	struct mcp_server *server;
	struct console *console;
	int home_fd;
	int folder_fd;
	size_t written; /* bytes of output */
	char home[128];
	char notice[600]; /* of the last answer */
	int ended;        /* calls of console_fixture_run that were answered */
	int socket_fd;    /* of the front that took the server over; -1: none did */
	int fds[HANDOVER_FDS];
	bool leaves; /* the client does */
	int ends;    /* times that the server was told to end */
} console_fixture;

FIXTURE_FN void console_on_adopt(void *data, int socket_fd, const int fds[HANDOVER_FDS])
{
	(void)data;
	assert_int_equal(console_fixture.socket_fd, -1);
	console_fixture.socket_fd = socket_fd;
	memcpy(console_fixture.fds, fds, sizeof(console_fixture.fds));
}

FIXTURE_FN void console_on_end(void *data)
{
	(void)data;
	console_fixture.ends++;
}

FIXTURE_FN bool console_is_leaving(void *data)
{
	(void)data;
	return console_fixture.leaves;
}

static const struct console_linger console_fixture_linger = { .likeness = "alike",
							      .is_leaving = console_is_leaving,
							      .adopt = console_on_adopt,
							      .end = console_on_end };

FIXTURE_FN void console_on_changed(void *data)
{
	const struct service_observer *observer = console_fixture.service.observer;

	(void)data;
	if (observer != NULL)
		observer->sessions_changed(observer->data);
}

FIXTURE_FN void console_write(void *context, const char *line, size_t len)
{
	(void)context;
	(void)line;
	(void)len;
}

/* The service has no hosted.c here: these pass on what sessions report. */
FIXTURE_FN void console_on_began(void *owner, struct session *session, const struct cell *cell)
{
	const struct service_observer *observer = console_fixture.service.observer;

	(void)owner;
	if (observer != NULL && observer->began != NULL)
		observer->began(observer->data, session, cell);
}

FIXTURE_FN void console_on_wrote(void *owner, struct session *session,
				 const struct language *language, const char *data, size_t len)
{
	const struct service_observer *observer = console_fixture.service.observer;

	(void)owner;
	console_fixture.written += len;
	if (observer != NULL && observer->wrote != NULL)
		observer->wrote(observer->data, session, language, data, len);
}

FIXTURE_FN void console_on_over(void *owner, const struct exec_result *result)
{
	const struct service_observer *observer = console_fixture.service.observer;

	(void)owner;
	if (observer != NULL && observer->over != NULL)
		observer->over(observer->data, result);
}

FIXTURE_FN void console_on_ends(void *owner, const struct session *session)
{
	const struct service_observer *observer = console_fixture.service.observer;

	(void)owner;
	if (observer != NULL && observer->ends != NULL)
		observer->ends(observer->data, session);
}

FIXTURE_FN bool console_fixture_has_output(void)
{
	return console_fixture.written > 0;
}

FIXTURE_FN int console_set_up(void **state)
{
	struct service *service = &console_fixture.service;
	struct err err = { .msg = "" };

	(void)state;
	fixture_open();
	memset(&console_fixture, 0, sizeof(console_fixture));
	(void)snprintf(console_fixture.home, sizeof(console_fixture.home), "%s/home",
		       fixture.scratch.path);
	fixture.settings.home = console_fixture.home;
	fixture.host.cell_began = console_on_began;
	fixture.host.wrote = console_on_wrote;
	fixture.host.cell_over = console_on_over;
	fixture.host.ends = console_on_ends;
	fixture.settings.limits.session_ttl = 1000000;
	fixture.settings.limits.idle_timeout = 1000000;
	service->loop = fixture.loop;
	service->settings = &fixture.settings;
	service->host = fixture.host;
	service->features.version = "0.0";
	service->table = table_new(&fixture.host);
	table_on_change(service->table, console_on_changed, NULL);
	console_fixture.socket_fd = -1;
	console_fixture.limits = (struct mcp_limits){ .line_max = 1 << 20 };
	console_fixture.server = mcp_server_new(fixture.loop, &console_fixture.features,
						&console_fixture.limits, console_write);
	console_fixture.console =
		console_new(service, console_fixture.server, &console_fixture_linger);
	service->observer->ready(service->observer->data);
	console_fixture.home_fd = open(console_fixture.home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	console_fixture.folder_fd = sockets_open(console_fixture.home_fd, false, &err);
	if (console_fixture.folder_fd < 0)
		fail_msg("%s", err.msg);
	return 0;
}

FIXTURE_FN void console_fixture_forget_table(void)
{
	table_free(console_fixture.service.table, "the server ended");
	console_fixture.service.table = NULL;
}

FIXTURE_FN int console_tear_down(void **state)
{
	(void)state;
	console_free(console_fixture.console);
	console_fixture_forget_table();
	mcp_server_free(console_fixture.server);
	fd_close(&console_fixture.folder_fd);
	fd_close(&console_fixture.home_fd);
	fixture_close();
	return 0;
}

FIXTURE_FN struct session *console_fixture_session(const char *id)
{
	struct err err = { .msg = "" };
	struct session *session = table_open(console_fixture.service.table, id, NULL, &err);

	if (session == NULL)
		fail_msg("%s", err.msg);
	return session;
}

FIXTURE_FN void console_fixture_done(struct call *call, const struct exec_result *result,
				     void *data)
{
	(void)call;
	(void)data;
	(void)snprintf(console_fixture.notice, sizeof(console_fixture.notice), "%s",
		       result->notice != NULL ? result->notice : "");
	console_fixture.ended++;
}

/* Runs code until its cell has begun. */
FIXTURE_FN void console_fixture_run(struct session *session, const char *code)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = code,
					      .code_len = strlen(code),
					      .timeout_ms = 1000000000,
					      .wait_ms = 1000000000 };
	struct err err = { .msg = "" };

	if (session_exec(session, &request, console_fixture_done, NULL, &err) == NULL)
		fail_msg("%s", err.msg);
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS),
			  runner_cell_number(session_runner(session, 0)) > 0);
}

/* Sends a request. The connection is then open. */
FIXTURE_FN void console_fixture_ask(const char *request, struct client *client)
{
	cleanup_json json_t *object = json_parse_const(request);
	struct err err = { .msg = "" };
	size_t count;
	char **names = sockets_list(console_fixture.folder_fd, &count);

	assert_int_equal(count, 1);
	if (client_open(client, console_fixture.folder_fd, names[0], object, &err) < 0)
		fail_msg("%s", err.msg);
	free(names[0]);
	free(names);
}

/* Returns the next line, or NULL and sets *err. */
FIXTURE_FN json_t *console_fixture_read(struct client *client, struct err *err)
{
	json_t *line = NULL;

	/* The fake clock passes, as output waits for a timer. */
	patience_do_until(fixture_pass(10);
			  loop_turn(fixture.loop, 1),
			  (line = client_read(client, clock_ms() + 1, err)) != NULL ||
				  err->code != ERR_TIMEOUT);
	return line;
}

/* Returns the reply to a request, a new reference. */
FIXTURE_FN json_t *console_fixture_call(const char *request)
{
	struct err err = { .msg = "" };
	cleanup_client struct client client;
	json_t *reply;

	console_fixture_ask(request, &client);
	reply = console_fixture_read(&client, &err);
	if (reply == NULL)
		fail_msg("%s", err.msg);
	return reply;
}

FIXTURE_FN void console_fixture_refused(const char *request, enum err_code code, const char *words)
{
	struct err err = { .msg = "" };
	cleanup_client struct client client;

	console_fixture_ask(request, &client);
	assert_null(console_fixture_read(&client, &err));
	assert_int_equal(err.code, code);
	if (strstr(err.msg, words) == NULL)
		fail_msg("%s", err.msg);
}

FIXTURE_FN const char *console_fixture_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

#endif
