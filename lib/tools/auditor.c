/* SPDX-License-Identifier: MIT */
/*
 * auditor.c - makes the lines of the audit file.
 *
 * Several servers may add to one file, so every line says which server it is of (`instance`) and
 * counts that server's lines (`seq`): a gap is a line that somebody took out.
 */
#include "tools/auditor.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "config/settings.h"
#include "journal/audit.h"
#include "json/make.h"
#include "json/redact.h"
#include "session/session.h"
#include "text/clean.h"

enum { VERSION = 1, INSTANCE_DIGITS = 8 };

struct auditor {
	const struct settings *settings;
	char instance[INSTANCE_DIGITS + 1];
	char *client;
	uint64_t lines;
	bool failed;
};

struct auditor *auditor_new(const struct settings *settings)
{
	struct auditor *auditor = xcalloc(1, sizeof(*auditor));

	auditor->settings = settings;
	auditor->client = xstrdup("");
	random_hex(auditor->instance, INSTANCE_DIGITS);
	return auditor;
}

void auditor_free(struct auditor *auditor)
{
	if (auditor == NULL)
		return;
	free(auditor->client);
	free(auditor);
}

void auditor_set_client(struct auditor *auditor, const char *name)
{
	free(auditor->client);
	auditor->client = xstrdup(name);
}

bool auditor_is_on(const struct auditor *auditor)
{
	return auditor->settings->audit != NULL;
}

char *auditor_refusal(const struct auditor *auditor)
{
	return auditor->settings->audit == NULL ? NULL : audit_refusal(auditor->settings->audit);
}

static void tell_failed(struct auditor *auditor, struct session *session, const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (!auditor->failed)
		log_warn("auditor", "PTYCELL_AUDIT: %s; events are not recorded there", err->msg);
	auditor->failed = true;
	if (session == NULL)
		return;
	buf_puts(&text, "What ran before could not be recorded in the user's audit file: ");
	clean_line(&text, err->msg, strlen(err->msg), sizeof(err->msg));
	buf_puts(&text, ". Tell the user.");
	session_add_notice(session, buf_str(&text));
}

/* What every line has. */
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
	json_put(line, "client", json_make_str(auditor->client));
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
	json_redact(line, auditor->settings->redact);
	if (audit_append(auditor->settings->audit, line, &err) < 0)
		tell_failed(auditor, session, &err);
}
