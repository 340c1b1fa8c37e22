/* SPDX-License-Identifier: MIT */
/*
 * audit_events.c - makes the fields of the audit's lines, and collects what a cell can repeat.
 *
 * Typed input is collected for each cell; its memory is overwritten when it is freed. Hosts are
 * counted by the session's proxy, which never resets its counts: a line has the difference to the
 * counts of the line before, which are kept for each session.
 */
#include "answer/audit_events.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "answer/audit_log.h"
#include "answer/install_result.h"
#include "answer/killed.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/broker.h"
#include "journal/digest.h"
#include "json/make.h"
#include "proxy/proxy.h"
#include "session/table.h"
#include "storage/object_name.h"
#include "text/sanitize.h"
#include "transfer/uploads.h"

/* The input of one cell so far. */
struct typed {
	struct list node;
	const struct session *session;
	uint64_t cell;
	uint64_t count;
	uint64_t bytes;
	struct buf text;
};

/* The counts of a session's hosts that lines have reported so far. */
struct reached {
	struct list node;
	const struct session *session;
	struct proxy_row rows[PROXY_ROWS_MAX];
	size_t count;
};

struct audit_events {
	struct audit_log *log;
	struct list typed;
	struct list reached;
};

struct audit_events *audit_events_new(struct audit_log *log)
{
	struct audit_events *events = xcalloc(1, sizeof(*events));

	events->log = log;
	list_init(&events->typed);
	list_init(&events->reached);
	return events;
}

static void typed_free(struct typed *typed)
{
	list_remove(&typed->node);
	if (typed->text.data != NULL)
		explicit_bzero(typed->text.data, typed->text.cap);
	buf_release(&typed->text);
	free(typed);
}

static void reached_free(struct reached *reached)
{
	list_remove(&reached->node);
	free(reached);
}

void audit_events_free(struct audit_events *events)
{
	if (events == NULL)
		return;
	while (!list_empty(&events->typed))
		typed_free(list_entry(events->typed.next, struct typed, node));
	while (!list_empty(&events->reached))
		reached_free(list_entry(events->reached.next, struct reached, node));
	free(events);
}

static void add_event(struct audit_events *events, struct session *session, const char *event,
		      json_t *fields_own)
{
	audit_log_add(events->log, session, session_id(session), event, fields_own);
}

static json_t *cell_fields(const struct cell *cell)
{
	json_t *fields = json_object();

	json_put_int(fields, "cell", (json_int_t)cell->number);
	json_put_str(fields, "language", cell->language);
	return fields;
}

/* ---- typed input ---- */

static struct typed *find_typed(struct audit_events *events, const struct session *session,
				uint64_t cell)
{
	list_for_each (struct typed, typed, &events->typed, node)
		if (typed->session == session && typed->cell == cell)
			return typed;
	return NULL;
}

static struct typed *typed_new(struct audit_events *events, const struct session *session,
			       uint64_t cell)
{
	struct typed *typed = xcalloc(1, sizeof(*typed));

	list_init(&typed->node);
	list_append(&events->typed, &typed->node);
	buf_init(&typed->text, BUF_UNBOUNDED);
	typed->session = session;
	typed->cell = cell;
	return typed;
}

static void take_typed(struct audit_events *events, const struct session *session,
		       const struct session_event *event)
{
	static const char hidden[] = "[hidden input]\n";
	const char *text = event->hidden ? hidden : event->text;
	size_t len = event->hidden ? strlen(hidden) : event->len;
	struct typed *typed = find_typed(events, session, event->cell);

	if (typed == NULL)
		typed = typed_new(events, session, event->cell);
	typed->count++;
	typed->bytes += event->len;
	if (typed->text.len + len <= AUDIT_TYPED_MAX)
		buf_put(&typed->text, text, len);
}

static void add_typed(struct audit_events *events, struct session *session, const struct cell *cell)
{
	struct typed *typed = find_typed(events, session, cell->number);
	json_t *fields;

	if (typed == NULL)
		return;
	fields = cell_fields(cell);
	json_put_int(fields, "count", (json_int_t)typed->count);
	json_put_int(fields, "bytes", (json_int_t)typed->bytes);
	json_put(fields, "input", json_make_text(buf_str(&typed->text), typed->text.len));
	typed_free(typed);
	add_event(events, session, "typed", fields);
}

/* ---- hosts ---- */

static struct reached *find_reached(struct audit_events *events, const struct session *session)
{
	list_for_each (struct reached, reached, &events->reached, node)
		if (reached->session == session)
			return reached;
	return NULL;
}

static struct reached *reached_new(struct audit_events *events, const struct session *session)
{
	struct reached *reached = xcalloc(1, sizeof(*reached));

	list_init(&reached->node);
	list_append(&events->reached, &reached->node);
	reached->session = session;
	return reached;
}

static const struct proxy_row *reported_row(const struct reached *reached,
					    const struct proxy_row *now)
{
	static const struct proxy_row none;

	for (size_t i = 0; i < reached->count; i++)
		if (reached->rows[i].port == now->port && str_eq(reached->rows[i].host, now->host))
			return &reached->rows[i];
	return &none;
}

/* Returns NULL when no count has changed. Adds the new requests to *count. */
static json_t *describe_host(const struct proxy_row *now, const struct proxy_row *before,
			     uint64_t *count)
{
	json_t *host;

	if (now->allowed == before->allowed && now->refused == before->refused &&
	    now->failed == before->failed)
		return NULL;
	*count += now->allowed - before->allowed + now->refused - before->refused;
	host = json_object();
	if (now->host[0] != '\0')
		json_put(host, "host", json_make_fmt("%s:%u", now->host, now->port));
	else
		json_put_str(host, "host", "others");
	json_put_int(host, "allowed", (json_int_t)(now->allowed - before->allowed));
	json_put_int(host, "refused", (json_int_t)(now->refused - before->refused));
	json_put_int(host, "failed", (json_int_t)(now->failed - before->failed));
	return host;
}

/* Adds the line of hosts with `fields_own`, if any count has changed. Takes ownership of it. */
static void add_hosts(struct audit_events *events, struct session *session, json_t *fields_own)
{
	const struct proxy *proxy = session_proxy(session);
	struct reached *reached = find_reached(events, session);
	cleanup_json json_t *fields = fields_own;
	json_t *hosts = json_array();
	const struct proxy_row *row;
	uint64_t count = 0;

	json_put(fields, "hosts", hosts);
	if (proxy == NULL || proxy_row(proxy, 0) == NULL)
		return;
	if (reached == NULL)
		reached = reached_new(events, session);
	for (size_t i = 0; (row = proxy_row(proxy, i)) != NULL; i++) {
		json_t *host = describe_host(row, reported_row(reached, row), &count);

		if (host != NULL)
			json_append(hosts, host);
	}
	for (reached->count = 0; (row = proxy_row(proxy, reached->count)) != NULL; reached->count++)
		reached->rows[reached->count] = *row;
	json_put_int(fields, "count", (json_int_t)count);
	if (json_array_size(hosts) > 0)
		add_event(events, session, "hosts", json_incref(fields));
}

/* ---- limits ---- */

/* Adds the limits that the server enforced itself. The kernel's refusals are known to the program
 * alone. */
static void add_limits(struct audit_events *events, struct session *session,
		       const struct cell *cell)
{
	const struct {
		bool met;
		const char *name;
	} rows[] = {
		{ cell->memory_stopped > 0, "memory_max" },
		{ cell->cpu_stopped_ms > 0, "cpu_max" },
		{ cell->disk_stopped, "disk_max" },
		{ cell->signal == SIGXFSZ, "file_max" },
		{ cell->state == CELL_TIMED_OUT || cell->overdue, "timeout" },
		{ cell->spool_cut, "spool_max" },
	};
	json_t *fields;
	json_t *limits = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].met)
			json_append(limits, json_make_str(rows[i].name));
	if (json_array_size(limits) == 0) {
		json_decref(limits);
		return;
	}
	fields = cell_fields(cell);
	json_put_int(fields, "count", (json_int_t)json_array_size(limits));
	json_put(fields, "limits", limits);
	add_event(events, session, "limits", fields);
}

void audit_events_end_cell(struct audit_events *events, const struct exec_result *result)
{
	if (!audit_log_is_on(events->log))
		return;
	add_typed(events, result->session, result->cell);
	add_hosts(events, result->session, cell_fields(result->cell));
	add_limits(events, result->session, result->cell);
}

/* ---- sessions ---- */

static void end_session(struct audit_events *events, struct session *session, const char *why)
{
	struct reached *reached;
	json_t *fields = json_object();

	add_hosts(events, session, json_object());
	reached = find_reached(events, session);
	if (reached != NULL)
		reached_free(reached);
	json_put_str(fields, "why", why);
	add_event(events, session,
		  str_eq(why, table_destroyed) ? "session_destroyed" : "session_ended", fields);
}

static void reset_session(struct audit_events *events, struct session *session,
			  const struct session_event *event)
{
	json_t *fields = json_object();

	json_put_str(fields, "language", event->language->name);
	json_put_str(fields, "why", event->why);
	killed_record(events->log, session);
	add_event(events, session, "session_reset", fields);
}

void audit_events_session(struct audit_events *events, struct session *session,
			  const struct session_event *event)
{
	if (!audit_log_is_on(events->log))
		return;
	switch (event->kind) {
	case SESSION_MADE:
		killed_record(events->log, session);
		add_event(events, session, "session_created", NULL);
		break;
	case SESSION_RESET:
		reset_session(events, session, event);
		break;
	case SESSION_TYPED:
		take_typed(events, session, event);
		break;
	case SESSION_LATE:
		break; /* outputs are in the journal alone */
	case SESSION_ENDED:
		end_session(events, session, event->why);
		break;
	}
}

/* ---- files, packages, questions ---- */

void audit_events_stored(struct audit_events *events, struct session *session,
			 const struct uploads_event *event)
{
	cleanup_free char *path = sanitize_path_string(event->path);
	json_t *fields = json_object();
	char expires[STORAGE_TIME_LEN + 1];

	json_put_str(fields, "path", path);
	json_put_str(fields, "name", event->name);
	if (event->expires != 0) {
		storage_time(event->expires, expires);
		json_put_str(fields, "expires", expires);
	} else {
		json_put_int(fields, "size_bytes", (json_int_t)event->size);
	}
	audit_log_add(events->log, session, event->session_id,
		      event->expires != 0 ? "link_signed" : "result_stored", fields);
}

void audit_events_installation(struct audit_events *events, struct session *session,
			       const struct broker_event *event)
{
	json_t *fields;

	if (session == NULL)
		return; /* its end cancelled the installation */
	fields = json_object();
	json_put_str(fields, "language", event->language->name);
	json_put(fields, "asked", json_deep_copy(event->asked));
	json_put_str(fields, "from", event->from);
	if (event->result != NULL) {
		json_put(fields, "packages",
			 install_result_names(json_object_get(event->result, "packages")));
		json_put(fields, "files", json_deep_copy(json_object_get(event->result, "files")));
	}
	json_put_str(fields, "problem", event->problem);
	add_event(events, session, "installed", fields);
}

void audit_events_import(struct audit_events *events, struct session *session,
			 const struct audit_import *import)
{
	json_t *fields = json_object();
	char digest[DIGEST_LEN + 1];

	json_put_str(fields, "from", import->from);
	json_put_str(fields, "source", import->source);
	json_put_str(fields, "path", import->path);
	if (import->problem == NULL)
		json_put_int(fields, "size_bytes", (json_int_t)import->size);
	if (import->content != NULL && audit_log_is_on(events->log)) {
		digest_sha256(import->content, import->size, digest);
		json_put_str(fields, "sha256", digest);
	} else {
		json_put_str(fields, "sha256", import->sha256);
	}
	json_put_str(fields, "problem", import->problem);
	add_event(events, session, "upload", fields);
}

void audit_events_question(struct audit_events *events, struct session *session, uint64_t cell,
			   const char *language, const char *answer)
{
	json_t *fields = json_object();

	json_put_int(fields, "cell", (json_int_t)cell);
	json_put_str(fields, "language", language);
	json_put_str(fields, "answer", answer);
	add_event(events, session, "question", fields);
}
