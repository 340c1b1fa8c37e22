/* SPDX-License-Identifier: MIT */
/*
 * stop.c - ends one session or all, or interrupts what runs there, or ends servers without a host.
 * Nothing is ended by default.
 */
#include "stop.h"

#include <stdio.h>

#include "base/mem.h"
#include "invocation.h"
#include "json/make.h"
#include "remote.h"
#include "text/sanitize.h"

static void report(const struct invocation *inv, const char *id, const json_t *reply)
{
	cleanup_free char *quoted = sanitize_quote(id);

	if (inv->cell)
		printf("What ran in session '%s' was interrupted.\n", quoted);
	else if (json_is_true(json_object_get(reply, "lasts")))
		printf("Session '%s' has ended. Its files stay: the same id in a chat resumes it.\n",
		       quoted);
	else
		printf("Session '%s' has ended.\n", quoted);
}

/* Returns the exit code. */
static int stop_one(const struct remote *remote, const struct invocation *inv,
		    const struct remote_session *session)
{
	const char *id = json_string_value(json_object_get(session->row, "session_id"));
	cleanup_json json_t *request = json_object();
	cleanup_json json_t *reply = NULL;
	struct err err;

	json_put_str(request, "command", inv->cell ? "interrupt" : "stop");
	json_put_str(request, "session_id", id);
	reply = remote_call(remote, session->server, request, &err);
	if (reply == NULL)
		return remote_complain(&err);
	if (!inv->cell)
		remote_await_end(remote, session); /* it saves its variables */
	report(inv, id, reply);
	return 0;
}

static bool is_running(const json_t *row)
{
	return json_array_size(json_object_get(row, "running")) > 0;
}

static int stop_all(const struct remote *remote, const struct invocation *inv)
{
	size_t done = 0;
	size_t silent = 0;
	int code = 0;

	for (size_t i = 0; i < remote->count; i++) {
		struct remote_session session = { .server = &remote->servers[i] };
		size_t index;
		json_t *row;

		if (inv->server != 0 && inv->server != session.server->pid)
			continue;
		if (session.server->facts == NULL) {
			code |= remote_complain(&session.server->err);
			silent++;
		}
		json_array_foreach (json_object_get(session.server->facts, "sessions"), index,
				    row) {
			session.row = row;
			if (inv->cell && !is_running(row))
				continue;
			code |= stop_one(remote, inv, &session);
			done++;
		}
	}
	if (done + silent == 0)
		puts(inv->cell ? "No cell runs." : "No session is live.");
	return code;
}

static int stop_server(const struct remote *remote, const struct remote_server *server)
{
	cleanup_json json_t *request = json_object();
	cleanup_json json_t *reply = NULL;
	struct err err;

	if (server->facts == NULL)
		return remote_complain(&server->err);
	json_put_str(request, "command", "end");
	reply = remote_call(remote, server, request, &err);
	if (reply == NULL)
		return remote_complain(&err);
	remote_await_server_end(remote, server); /* its sessions can then be resumed */
	printf("Server %d ends.\n", (int)server->pid);
	return 0;
}

/* Ends the server that was named, or all that linger. */
static int stop_servers(const struct remote *remote, const struct invocation *inv)
{
	size_t done = 0;
	int code = 0;

	for (size_t i = 0; i < remote->count; i++) {
		const struct remote_server *server = &remote->servers[i];
		bool lingers = json_object_get(server->facts, "lingers_seconds") != NULL;

		if (inv->servers ? !lingers : inv->server != server->pid)
			continue;
		code |= stop_server(remote, server);
		done++;
	}
	if (done > 0)
		return code;
	if (inv->servers) {
		puts("No server waits for a host.");
		return 0;
	}
	(void)fprintf(stderr, "ptycell: there is no server %d; ptycell ps lists them.\n",
		      (int)inv->server);
	return 1;
}

static int ask_what(void)
{
	(void)fputs("Say what to stop:\n"
		    "  ptycell stop SESSION          ends a session; its files stay\n"
		    "  ptycell stop SESSION --cell   interrupts what runs in it\n"
		    "  ptycell stop --all            ends every session of every server\n"
		    "  ptycell stop --server         ends the servers that wait for a host\n"
		    "ptycell ps lists them.\n",
		    stderr);
	return 2;
}

int stop_main(int argc, char **argv)
{
	cleanup_remote struct remote remote = { .home_fd = -1, .folder_fd = -1 };
	struct remote_session session;
	struct invocation inv;
	struct err err;
	int code = invocation_begin(argc, argv,
				    INVOCATION_SESSION | INVOCATION_ALL | INVOCATION_CELL |
					    INVOCATION_SERVER | INVOCATION_SERVERS,
				    &inv, &remote);

	if (code != 0)
		return code;
	if (!inv.all && inv.session == NULL && !inv.cell && (inv.servers || inv.server != 0))
		return stop_servers(&remote, &inv);
	if (inv.all == (inv.session != NULL) || inv.servers)
		return ask_what();
	if (inv.all)
		return stop_all(&remote, &inv);
	if (remote_find(&remote, inv.session, inv.server, &session, &err) < 0)
		return remote_complain(&err);
	if (session.server == NULL) {
		printf("Session '%s' has ended already.\n", inv.session);
		return 0;
	}
	return stop_one(&remote, &inv, &session);
}
