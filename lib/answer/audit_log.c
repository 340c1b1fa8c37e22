/* SPDX-License-Identifier: MIT */
/*
 * audit_log.c - makes the lines of the audit file, and queues those that cannot be written.
 *
 * Several servers may append to one file. So every line names its server (`instance`) and counts
 * the lines of that server (`seq`): a gap in the numbers shows that a line was removed. Lines are
 * written in their order, so a line that cannot be written holds back the later ones.
 */
#include "answer/audit_log.h"

#include <stdint.h>
#include <stdlib.h>

#include "answer/audit_events.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "config/settings.h"
#include "journal/audit.h"
#include "json/make.h"
#include "redact/redact_json.h"
#include "session/session.h"
#include "text/sanitize.h"

enum { VERSION = 1, INSTANCE_DIGITS = 8 };

struct audit_log {
	const struct settings *settings;
	char instance[INSTANCE_DIGITS + 1];
	json_t *client;
	uint64_t lines;
	struct audit_events *events;
	json_t *unwritten; /* lines that could not be written, in their order */
};

struct audit_log *audit_log_new(const struct settings *settings)
{
	struct audit_log *log = xcalloc(1, sizeof(*log));

	log->settings = settings;
	audit_log_set_client(log, "", "");
	log->events = audit_events_new(log);
	log->unwritten = json_array();
	random_hex(log->instance, INSTANCE_DIGITS);
	return log;
}

/* Writes the queued lines. Returns -1 and sets *err when one cannot be written. */
static int write_queued(struct audit_log *log, struct err *err)
{
	while (json_array_size(log->unwritten) > 0) {
		if (audit_append(log->settings->audit, json_array_get(log->unwritten, 0), err) < 0)
			return -1;
		(void)json_array_remove(log->unwritten, 0);
	}
	return 0;
}

void audit_log_free(struct audit_log *log)
{
	struct err err;

	if (log == NULL)
		return;
	if (write_queued(log, &err) < 0)
		log_warn("audit", "PTYCELL_AUDIT: %zu events are not recorded there: %s",
			 json_array_size(log->unwritten), err.msg);
	audit_events_free(log->events);
	json_decref(log->unwritten);
	json_decref(log->client);
	free(log);
}

static bool is_client(const json_t *client, const char *name, const char *version)
{
	const char *known_name = json_string_value(json_object_get(client, "name"));
	const char *known_version = json_string_value(json_object_get(client, "version"));

	return known_name != NULL && known_version != NULL && str_eq(known_name, name) &&
	       str_eq(known_version, version);
}

void audit_log_set_client(struct audit_log *log, const char *name, const char *version)
{
	if (is_client(log->client, name, version))
		return; /* nearly always, and this runs in every call */
	json_decref(log->client);
	log->client = json_object();
	json_put(log->client, "name", json_make_str(name));
	json_put(log->client, "version", json_make_str(version));
}

struct audit_events *audit_log_events(const struct audit_log *log)
{
	return log->events;
}

json_t *audit_log_describe(const struct audit_log *log)
{
	json_t *object = json_object();

	json_put_str(object, "target", log->settings->audit);
	json_put_str(object, "instance", log->instance);
	json_put(object, "client", json_deep_copy(log->client));
	return object;
}

bool audit_log_is_on(const struct audit_log *log)
{
	return log->settings->audit != NULL;
}

bool audit_log_waits(const struct audit_log *log)
{
	return json_array_size(log->unwritten) > 0;
}

char *audit_log_refusal(struct audit_log *log)
{
	struct err err;

	if (log->settings->audit == NULL)
		return NULL;
	return write_queued(log, &err) < 0 ? audit_refuse(log->settings->audit, &err)
					   : audit_refusal(log->settings->audit);
}

/* Reports the first failure only: from then on every call is refused with the reason. */
static void report_failure(const struct audit_log *log, struct session *session,
			   const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (json_array_size(log->unwritten) > 1)
		return;
	log_warn("audit", "PTYCELL_AUDIT: %s; events wait to be recorded there", err->msg);
	if (session == NULL)
		return;
	buf_putf(&text, "What was done could not be recorded in the user's audit %s: ",
		 audit_kind(log->settings->audit));
	sanitize_line(&text, err->msg, strlen(err->msg), sizeof(err->msg));
	buf_puts(&text, ". Nothing more is done until it is recorded there. Tell the user.");
	session_add_notice(session, buf_str(&text));
}

/* Returns the fields that every line has. */
static json_t *new_line(struct audit_log *log, const struct session *session,
			const char *session_id, const char *event)
{
	json_t *line = json_object();
	char now[CLOCK_UTC_LEN];

	clock_utc(now);
	json_put_int(line, "v", VERSION);
	json_put_int(line, "seq", (json_int_t)++log->lines);
	json_put_str(line, "time", now);
	json_put_str(line, "instance", log->instance);
	json_put(line, "client", json_deep_copy(log->client));
	json_put_str(line, "session_id", session_id);
	if (session != NULL) {
		json_put_int(line, "generation", (json_int_t)session_generation(session));
		json_put_str(line, "kept_folder", session_keep_folder(session));
	}
	json_put_str(line, "event", event);
	return line;
}

void audit_log_add(struct audit_log *log, struct session *session, const char *session_id,
		   const char *event, json_t *fields_own)
{
	cleanup_json json_t *fields = fields_own;
	cleanup_json json_t *line = NULL;
	struct err err;

	if (log->settings->audit == NULL)
		return;
	line = new_line(log, session, session_id, event);
	json_put(line, "generation", json_incref(json_object_get(fields, "generation")));
	(void)!json_object_update_missing(line, fields);
	redact_json(line, log->settings->redact);
	json_append(log->unwritten, json_incref(line));
	if (write_queued(log, &err) < 0)
		report_failure(log, session, &err);
}
