/* SPDX-License-Identifier: MIT */
/*
 * audit_events.c - makes the events that are no cell's, for the journal and for the lines of the
 * audit, and collects what a cell can repeat.
 *
 * Typed input and the installations that code asks for are collected for each cell. The memory of
 * the input is overwritten when it is freed. Hosts are counted by the session's proxy, which never
 * resets its counts: a line has the difference to the counts of the line before, which are kept for
 * each session.
 */
#include "answer/audit_events.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "answer/audit_killed.h"
#include "answer/audit_log.h"
#include "answer/install_result.h"
#include "answer/install_sum.h"
#include "answer/journal_events.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/broker.h"
#include "journal/journal.h"
#include "json/make.h"
#include "proxy/proxy.h"
#include "session/table.h"
#include "storage/object_name.h"
#include "text/sanitize.h"
#include "transfer/uploads.h"
#include "workspace/lostcells.h"

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

/* The installations of one cell so far. */
struct installed {
	struct list node;
	const struct session *session;
	uint64_t cell;
	struct install_sum *sum;
};

struct audit_events {
	struct audit_log *log;
	struct list typed;
	struct list installed;
	struct list reached;
};

struct audit_events *audit_events_new(struct audit_log *log)
{
	struct audit_events *events = xcalloc(1, sizeof(*events));

	events->log = log;
	list_init(&events->typed);
	list_init(&events->installed);
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

static void installed_free(struct installed *installed)
{
	list_remove(&installed->node);
	install_sum_free(installed->sum);
	free(installed);
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
	while (!list_empty(&events->installed))
		installed_free(list_entry(events->installed.next, struct installed, node));
	while (!list_empty(&events->reached))
		reached_free(list_entry(events->reached.next, struct reached, node));
	free(events);
}

/* Adds the line of an event that the journal has in another form. */
static void add_line(struct audit_events *events, struct session *session, const char *event,
		     json_t *fields_own)
{
	audit_log_add(events->log, session, session_id(session), event, fields_own);
}

/* Adds an event to the journal and, drawn from it, a line to the audit. */
static void add_event(struct audit_events *events, struct session *session, const char *event,
		      json_t *fields_own)
{
	journal_events_other(session, event, json_deep_copy(fields_own));
	add_line(events, session, event, fields_own);
}

/* Returns whether anything records what happens in the session. */
static bool is_recorded(const struct audit_events *events, const struct session *session)
{
	return audit_log_is_on(events->log) || !journal_is_off(session_journal(session));
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
	if (typed->text.len + len <= LOSTCELLS_TYPED_MAX)
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
	add_line(events, session, "typed", fields);
}

/* ---- packages ---- */

static void write_installed(struct audit_events *events, struct session *session,
			    struct installed *installed)
{
	journal_events_other(session, "installed", install_sum_event(installed->sum));
	add_line(events, session, "installed", install_sum_line(installed->sum));
	installed_free(installed);
}

/* Adds what the code of this cell installed; `cell` is 0 for all cells. */
static void add_installed(struct audit_events *events, struct session *session, uint64_t cell)
{
	list_for_each (struct installed, installed, &events->installed, node)
		if (installed->session == session && (cell == 0 || installed->cell == cell))
			write_installed(events, session, installed);
}

static struct installed *find_installed(struct audit_events *events, const struct session *session,
					uint64_t cell, const json_t *fields)
{
	struct installed *found;

	list_for_each (struct installed, installed, &events->installed, node)
		if (installed->session == session &&
		    install_sum_takes(installed->sum, cell, fields))
			return installed;
	found = xcalloc(1, sizeof(*found));
	list_init(&found->node);
	list_append(&events->installed, &found->node);
	found->session = session;
	found->cell = cell;
	found->sum = install_sum_new(cell, fields);
	return found;
}

/* Other packages are in the journal at once, which a killed server's successor reads. */
static void take_installed(struct audit_events *events, struct session *session, uint64_t cell,
			   const json_t *fields)
{
	struct installed *installed = find_installed(events, session, cell, fields);

	if (install_sum_add(installed->sum, fields))
		journal_events_packages(session, fields);
	if (install_sum_is_full(installed->sum))
		write_installed(events, session, installed);
}

void audit_events_installation(struct audit_events *events, struct session *session,
			       const struct broker_event *event)
{
	cleanup_json json_t *fields = NULL;

	if (session == NULL || !is_recorded(events, session))
		return; /* a session's end cancels its installations */
	fields = journal_events_installation(event);
	if (event->cell != 0) {
		take_installed(events, session, event->cell, fields);
		return;
	}
	journal_events_packages(session, fields);
	if (event->result != NULL)
		json_put(fields, "packages",
			 install_result_names(json_object_get(event->result, "packages")));
	add_line(events, session, "installed", json_incref(fields));
}

void audit_events_own_installation(struct audit_events *events, struct session *session,
				   uint64_t cell, const json_t *fields)
{
	if (is_recorded(events, session))
		take_installed(events, session, cell, fields);
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

/*
 * Adds the line of hosts, if any count has changed: of the cell that has ended, or of the session
 * that ends, with NULL.
 */
static void add_hosts(struct audit_events *events, struct session *session, const struct cell *cell)
{
	const struct proxy *proxy = session_proxy(session);
	struct reached *reached = find_reached(events, session);
	cleanup_json json_t *fields = NULL;
	json_t *hosts;
	const struct proxy_row *row;
	uint64_t count = 0;

	if (proxy == NULL || proxy_row(proxy, 0) == NULL)
		return;
	fields = cell != NULL ? cell_fields(cell) : json_object();
	hosts = json_array();
	json_put(fields, "hosts", hosts);
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
	if (!is_recorded(events, result->session))
		return;
	add_typed(events, result->session, result->cell);
	add_installed(events, result->session, result->cell->number);
	add_hosts(events, result->session, result->cell);
	add_limits(events, result->session, result->cell);
}

/* ---- sessions ---- */

static void begin_session(struct audit_events *events, struct session *session)
{
	json_t *fields;

	if (journal_any(session_journal(session))) { /* of an earlier life */
		fields = json_object();
		json_put_int(fields, "generation", (json_int_t)session_generation(session));
		journal_events_other(session, "resumed", fields);
	}
	if (!audit_log_is_on(events->log))
		return;
	audit_killed_record(events->log, session);
	add_line(events, session, "session_created", NULL);
}

/* A session without events leaves no journal. */
static void end_session(struct audit_events *events, struct session *session, const char *why)
{
	const char *event = str_eq(why, table_destroyed) ? "session_destroyed" : "session_ended";
	struct reached *reached;
	json_t *fields = json_object();

	add_installed(events, session, 0);
	add_hosts(events, session, NULL);
	reached = find_reached(events, session);
	if (reached != NULL)
		reached_free(reached);
	json_put_str(fields, "why", why);
	if (journal_any(session_journal(session)))
		journal_events_end(session, event, json_deep_copy(fields));
	add_line(events, session, event, fields);
}

/* The journal has it as the event `lost`. */
static void reset_session(struct audit_events *events, struct session *session,
			  const struct session_event *event)
{
	json_t *fields = json_object();

	json_put_str(fields, "language", event->language->name);
	json_put_str(fields, "why", event->why);
	audit_killed_record(events->log, session);
	add_line(events, session, "session_reset", fields);
}

static void report_restored(struct audit_events *events, struct session *session,
			    const struct session_event *event)
{
	json_t *fields = json_object();

	add_installed(events, session, 0); /* by cells that have no end of their own */
	json_put(fields, "report", json_make_text(event->text, event->len));
	if (event->failed)
		json_put_bool(fields, "failed", true);
	if (event->partly)
		json_put_bool(fields, "partly", true);
	if (event->saved_cell > 0)
		json_put_int(fields, "saved_after_cell", (json_int_t)event->saved_cell);
	add_event(events, session,
		  event->kind == SESSION_VALUES ? "variables_restored" : "cells_run_again", fields);
}

void audit_events_session(struct audit_events *events, struct session *session,
			  const struct session_event *event)
{
	bool audited = audit_log_is_on(events->log);

	switch (event->kind) {
	case SESSION_MADE:
		begin_session(events, session);
		break;
	case SESSION_RESET:
		if (audited)
			reset_session(events, session, event);
		break;
	case SESSION_TYPED:
		if (audited)
			take_typed(events, session, event);
		break;
	case SESSION_RESTORED:
	case SESSION_VALUES:
		report_restored(events, session, event);
		break;
	case SESSION_LATE:
		break; /* outputs are in the journal alone */
	case SESSION_ENDED:
		if (is_recorded(events, session))
			end_session(events, session, event->why);
		break;
	}
}

/* ---- files, questions ---- */

void audit_events_stored(struct audit_events *events, struct session *session,
			 const struct uploads_event *event)
{
	const char *kind = event->expires != 0 ? "link_signed" : "result_stored";
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
	if (session != NULL)
		journal_events_other(session, kind, json_deep_copy(fields));
	audit_log_add(events->log, session, event->session_id, kind, fields);
}

void audit_events_import(struct audit_events *events, struct session *session,
			 const struct audit_import *import)
{
	add_line(events, session, "upload", journal_events_import(session, import));
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
