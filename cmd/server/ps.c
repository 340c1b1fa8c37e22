/* SPDX-License-Identifier: MIT */
/*
 * ps.c - a table of what servers have, and one of the sessions that can be resumed. A server
 * without sessions, or that does not answer, has a row too.
 */
#include "ps.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "invocation.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "remote.h"
#include "resumable.h"
#include "terminal.h"
#include "text/status_line.h"

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* ---- rows ---- */

static enum terminal_colour colour_of(const char *state)
{
	if (str_eq(state, "running") || str_eq(state, "starting"))
		return TERMINAL_GREEN;
	return str_eq(state, "waiting_for_input") ? TERMINAL_YELLOW : TERMINAL_PLAIN;
}

/* Returns "7 python 12 s", or "-". The caller frees it. */
static char *describe_running(const json_t *row)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t index;
	json_t *cell;

	json_array_foreach (json_object_get(row, "running"), index, cell) {
		double seconds = json_number_value(json_object_get(cell, "seconds"));
		cleanup_free char *span = resumable_span((json_int_t)seconds);

		buf_putf(&out, "%s%" JSON_INTEGER_FORMAT " %s %s", index > 0 ? ", " : "",
			 number_of(cell, "cell"), json_text_at(cell, "language"), span);
	}
	return out.len > 0 ? buf_steal(&out) : xstrdup("-");
}

static char *describe_memory(const json_t *row)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	json_int_t bytes = number_of(row, "memory_bytes");

	if (bytes > 0)
		status_size(&out, (uint64_t)bytes);
	return out.len > 0 ? buf_steal(&out) : xstrdup("-");
}

static char *describe_server(const struct remote_server *server)
{
	const char *client = json_text_at(server->facts, "client");
	cleanup_free char *rest = resumable_span(number_of(server->facts, "lingers_seconds"));

	if (json_object_get(server->facts, "lingers_seconds") != NULL)
		return xasprintf("%d lingers %s", (int)server->pid, rest);
	if (client[0] == '\0')
		return xasprintf("%d", (int)server->pid);
	return xasprintf("%d %s", (int)server->pid, client);
}

static void add_session(struct table_view *table, const struct remote_server *server,
			const json_t *row)
{
	const char *state = json_text_at(row, "state");
	cleanup_free char *running = describe_running(row);
	cleanup_free char *age = resumable_span(number_of(row, "age_seconds"));
	cleanup_free char *memory = describe_memory(row);
	cleanup_free char *process = describe_server(server);
	cleanup_free char *path = resumable_folder(row);

	terminal_add(table, TERMINAL_BOLD, json_text_at(row, "session_id"));
	terminal_add(table, colour_of(state), str_eq(state, "waiting_for_input") ? "waits" : state);
	terminal_add(table, TERMINAL_PLAIN, running);
	terminal_add(table, TERMINAL_PLAIN, age);
	terminal_add(table, TERMINAL_PLAIN, memory);
	terminal_add(table, TERMINAL_DIM, process);
	terminal_add(table, TERMINAL_DIM, path);
}

/* Adds a row with a remark in the last column. */
static void add_remark(struct table_view *table, const char *state, const char *age,
		       const char *process, const char *remark)
{
	terminal_add(table, TERMINAL_DIM, "-");
	terminal_add(table, TERMINAL_DIM, state);
	terminal_add(table, TERMINAL_DIM, "-");
	terminal_add(table, TERMINAL_DIM, age);
	terminal_add(table, TERMINAL_DIM, "-");
	terminal_add(table, TERMINAL_DIM, process);
	terminal_add(table, TERMINAL_DIM, remark);
}

static void add_server(struct table_view *table, const struct remote_server *server)
{
	const json_t *sessions = json_object_get(server->facts, "sessions");
	cleanup_free char *process = describe_server(server);
	size_t index;
	json_t *row;

	json_array_foreach (sessions, index, row) {
		add_session(table, server, row);
	}
	if (server->facts == NULL) {
		add_remark(table, "silent", "-", process, server->err.msg);
	} else if (json_array_size(sessions) == 0) {
		cleanup_free char *age = resumable_span(number_of(server->facts, "age_seconds"));

		add_remark(table, "no session", age, process, "-");
	}
}

static void print_live(const struct remote *remote)
{
	static const char *const head[] = { "SESSION", "STATE",  "CELL",  "AGE",
					    "MEMORY",  "SERVER", "FOLDER" };
	struct table_view table;

	resumable_begin(&table, head, ARRAY_SIZE(head));
	for (size_t i = 0; i < remote->count; i++)
		add_server(&table, &remote->servers[i]);
	terminal_print_table(&table);
}

static void print_rows(struct remote *remote, const struct invocation *inv)
{
	const json_t *ended = remote_ended(remote);
	size_t count = json_array_size(ended);

	if (remote->count == 0 && count == 0)
		puts("No server runs, and no session can be resumed. Servers of another PTYCELL_HOME: "
		     "ptycell ps --home FOLDER");
	if (remote->count > 0)
		print_live(remote);
	if (remote->count > 0 && count > 0)
		(void)putchar('\n');
	if (count > 0)
		resumable_print(ended, inv->all);
}

/* ---- for programs ---- */

static json_t *server_json(const struct remote_server *server)
{
	json_t *object = server->facts != NULL ? json_copy(server->facts) : json_object();

	(void)json_object_del(object, "ok");
	json_put_int(object, "pid", (json_int_t)server->pid);
	if (server->facts == NULL)
		json_put_str(object, "problem", server->err.msg);
	return object;
}

static void print_json(struct remote *remote)
{
	cleanup_json json_t *object = json_object();
	cleanup_free char *text = NULL;
	json_t *servers = json_array();

	for (size_t i = 0; i < remote->count; i++)
		json_append(servers, server_json(&remote->servers[i]));
	json_put(object, "servers", servers);
	json_put(object, "resumable", json_deep_copy(remote_ended(remote)));
	text = json_write_text(object);
	puts(text);
}

int ps_main(int argc, char **argv)
{
	cleanup_remote struct remote remote = { .home_fd = -1, .folder_fd = -1 };
	struct invocation inv;
	int code = invocation_begin(argc, argv, INVOCATION_JSON | INVOCATION_ALL, &inv, &remote);

	if (code != 0)
		return code;
	if (inv.json)
		print_json(&remote);
	else
		print_rows(&remote, &inv);
	return 0;
}
