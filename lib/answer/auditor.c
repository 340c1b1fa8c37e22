/* SPDX-License-Identifier: MIT */
/*
 * auditor.c - makes the lines of the audit file, and queues those that cannot be written.
 *
 * Several servers may append to one file. So every line names its server (`instance`) and counts
 * the lines of that server (`seq`): a gap in the numbers shows that a line was removed. Lines are
 * written in their order, so a line that cannot be written holds back the later ones.
 */
#include "answer/auditor.h"

#include <stdint.h>
#include <stdlib.h>

#include "answer/audited.h"
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

struct auditor {
	const struct settings *settings;
	char instance[INSTANCE_DIGITS + 1];
	json_t *client;
	uint64_t lines;
	struct audited *audited;
	json_t *unwritten; /* lines that could not be written, in their order */
};

struct auditor *auditor_new(const struct settings *settings)
{
	struct auditor *auditor = xcalloc(1, sizeof(*auditor));

	auditor->settings = settings;
	auditor_set_client(auditor, "", "");
	auditor->audited = audited_new(auditor);
	auditor->unwritten = json_array();
	random_hex(auditor->instance, INSTANCE_DIGITS);
	return auditor;
}

/* Writes the queued lines. Returns -1 and sets *err when one cannot be written. */
static int write_queued(struct auditor *auditor, struct err *err)
{
	while (json_array_size(auditor->unwritten) > 0) {
		if (audit_append(auditor->settings->audit, json_array_get(auditor->unwritten, 0),
				 err) < 0)
			return -1;
		(void)json_array_remove(auditor->unwritten, 0);
	}
	return 0;
}

void auditor_free(struct auditor *auditor)
{
	struct err err;

	if (auditor == NULL)
		return;
	if (write_queued(auditor, &err) < 0)
		log_warn("auditor", "PTYCELL_AUDIT: %zu events are not recorded there: %s",
			 json_array_size(auditor->unwritten), err.msg);
	audited_free(auditor->audited);
	json_decref(auditor->unwritten);
	json_decref(auditor->client);
	free(auditor);
}

void auditor_set_client(struct auditor *auditor, const char *name, const char *version)
{
	json_decref(auditor->client);
	auditor->client = json_object();
	json_put(auditor->client, "name", json_make_str(name));
	json_put(auditor->client, "version", json_make_str(version));
}

struct audited *auditor_audited(const struct auditor *auditor)
{
	return auditor->audited;
}

json_t *auditor_describe(const struct auditor *auditor)
{
	json_t *object = json_object();

	json_put_str(object, "target", auditor->settings->audit);
	json_put_str(object, "instance", auditor->instance);
	json_put(object, "client", json_deep_copy(auditor->client));
	return object;
}

bool auditor_is_on(const struct auditor *auditor)
{
	return auditor->settings->audit != NULL;
}

char *auditor_refusal(struct auditor *auditor)
{
	struct err err;

	if (auditor->settings->audit == NULL)
		return NULL;
	return write_queued(auditor, &err) < 0 ? audit_refuse(auditor->settings->audit, &err)
					       : audit_refusal(auditor->settings->audit);
}

/* Reports the first failure only: from then on every call is refused with the reason. */
static void report_failure(const struct auditor *auditor, struct session *session,
			   const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (json_array_size(auditor->unwritten) > 1)
		return;
	log_warn("auditor", "PTYCELL_AUDIT: %s; events wait to be recorded there", err->msg);
	if (session == NULL)
		return;
	buf_puts(&text, "What was done could not be recorded in the user's audit file: ");
	sanitize_line(&text, err->msg, strlen(err->msg), sizeof(err->msg));
	buf_puts(&text, ". Nothing more is done until it is recorded there. Tell the user.");
	session_add_notice(session, buf_str(&text));
}

/* Returns the fields that every line has. */
static json_t *new_line(struct auditor *auditor, const struct session *session,
			const char *session_id, const char *event)
{
	json_t *line = json_object();
	char now[CLOCK_UTC_LEN];

	clock_utc(now);
	json_put_int(line, "v", VERSION);
	json_put_int(line, "seq", (json_int_t)++auditor->lines);
	json_put_str(line, "time", now);
	json_put_str(line, "instance", auditor->instance);
	json_put(line, "client", json_deep_copy(auditor->client));
	json_put_str(line, "session_id", session_id);
	if (session != NULL) {
		json_put_int(line, "generation", (json_int_t)session_generation(session));
		json_put_str(line, "kept_folder", session_keep_folder(session));
	}
	json_put_str(line, "event", event);
	return line;
}

void auditor_add(struct auditor *auditor, struct session *session, const char *session_id,
		 const char *event, json_t *fields_own)
{
	cleanup_json json_t *fields = fields_own;
	cleanup_json json_t *line = NULL;
	struct err err;

	if (auditor->settings->audit == NULL)
		return;
	line = new_line(auditor, session, session_id, event);
	json_put(line, "generation", json_incref(json_object_get(fields, "generation")));
	(void)!json_object_update_missing(line, fields);
	redact_json(line, auditor->settings->redact);
	json_append(auditor->unwritten, json_incref(line));
	if (write_queued(auditor, &err) < 0)
		report_failure(auditor, session, &err);
}
