/* SPDX-License-Identifier: MIT */
/*
 * console_ps.c - describes a server and its sessions. Nothing is measured for it: the watchdog
 * measures memory at intervals of its own.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/paths.h"
#include "config/settings.h"
#include "console/console_internal.h"
#include "journal/journal.h"
#include "json/make.h"
#include "mcp/server.h"
#include "redact/redact.h"
#include "runner/runner.h"
#include "session/session.h"
#include "session/table.h"
#include "text/sanitize.h"
#include "workspace/home.h"
#include "workspace/workspace.h"

/* Returns the first line of the code that has text, clean and without secrets. Owned. */
static char *first_line(const struct session *session, const struct cell *cell)
{
	cleanup_free char *code = xmemdup(cell->code, cell->code_len);
	const char *line = code + strspn(code, " \t\r\n");
	cleanup_free char *text = xmemdup(line, strcspn(line, "\r\n"));

	redact_cut_string(session_settings(session)->redact, &text);
	return sanitize_quote(text);
}

static json_t *describe_cell(const struct session *session, const struct runner *runner)
{
	const struct runner_wait *wait = runner_wait(runner);
	const struct cell *cell = runner_cell(runner);
	json_t *object = json_object();
	cleanup_free char *line = cell->code != NULL ? first_line(session, cell) : NULL;

	json_put_int(object, "cell", (json_int_t)cell->number);
	json_put_str(object, "language", runner_language(runner)->name);
	json_put_real(object, "seconds", (double)runner_elapsed_us(runner) / 1e6);
	json_put_int(object, "queued", (json_int_t)runner_queued(runner));
	json_put_str(object, "code", line);
	if (wait != NULL)
		json_put_str(object, "prompt", wait->prompt);
	return object;
}

static json_t *describe_cells(const struct session *session)
{
	json_t *cells = json_array();
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (runner_cell(runner) != NULL)
			json_append(cells, describe_cell(session, runner));
	return cells;
}

/* The path is absolute: for a command "~" may be another folder. */
static void put_kept(json_t *row, const struct session *session)
{
	const char *folder = session_keep_folder(session);
	cleanup_free char *path =
		folder != NULL ? paths_absolute(environ, geteuid(), folder) : NULL;

	json_put_str(row, "kept", path);
}

static json_t *describe_session(const struct session *session)
{
	const struct workspace *workspace = session_workspace(session);
	json_t *row = json_object();

	json_put_str(row, "session_id", session_id(session));
	json_put_str(row, "state", session_state(session));
	json_put_int(row, "cells", (json_int_t)journal_count(session_journal(session)));
	/* Cells before it that have no end were killed with an earlier server. */
	json_put_int(row, "first_cell", (json_int_t)session_first_cell(session));
	json_put(row, "running", describe_cells(session));
	json_put_int(row, "age_seconds", (json_int_t)(session_age_ms(session) / 1000));
	json_put_int(row, "idle_seconds", (json_int_t)(session_idle_ms(session) / 1000));
	json_put_int(row, "memory_bytes", (json_int_t)session_memory(session));
	json_put_str(row, "folder", workspace_host_data_path(workspace));
	put_kept(row, session);
	/* Relative to the home: commands read the journal there. */
	json_put_str(row, "place", workspace_name(workspace));
	return row;
}

void console_ps(struct console *console, struct peer *peer, const json_t *request)
{
	const struct service *service = console->service;
	cleanup_free char *client = sanitize_quote(mcp_server_client_name(console->server));
	json_t *reply = json_object();
	json_t *sessions = json_array();
	uint64_t now_ms = clock_ms();
	struct session *session;

	(void)request;
	json_put_int(reply, "pid", (json_int_t)getpid());
	json_put_str(reply, "version", service_features(service)->version);
	json_put_str(reply, "client", client);
	json_put_int(reply, "age_seconds", (json_int_t)((now_ms - console->began_ms) / 1000));
	if (console->until_ms > 0)
		json_put_int(reply, "lingers_seconds",
			     console->until_ms > now_ms
				     ? (json_int_t)((console->until_ms - now_ms) / 1000)
				     : 0);
	if (service->host.home != NULL)
		json_put_str(reply, "server", home_server_name(service->host.home));
	for (size_t i = 0;
	     service->table != NULL && (session = table_at(service->table, i)) != NULL; i++)
		json_append(sessions, describe_session(session));
	json_put(reply, "sessions", sessions);
	listener_answer(peer, reply);
}
