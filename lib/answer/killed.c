/* SPDX-License-Identifier: MIT */
/*
 * killed.c - the lines have an instance of their own, because the numbers of the killed server's
 * lines are not known: nothing is read back from the target. `killed_instance` names that server.
 */
#include "answer/killed.h"

#include <stdlib.h>

#include "answer/audit_log.h"
#include "config/settings.h"
#include "json/make.h"
#include "session/session.h"
#include "workspace/lostcells.h"
#include "workspace/workspace.h"

void killed_record(const struct audit_log *log, const struct session *session)
{
	cleanup_json json_t *record = audit_log_describe(log);

	json_put_str(record, "session_id", session_id(session));
	json_put_int(record, "generation", (json_int_t)session_generation(session));
	lostcells_record(workspace_journal_fd(session_workspace(session)), record,
			 session_first_cell(session));
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

static json_t *end_of(const struct lostcells_report *report, const json_t *cell)
{
	json_t *fields = json_object();

	json_put(fields, "generation", json_incref(json_object_get(report->record, "generation")));
	json_put_str(fields, "kept_folder", report->kept_folder);
	json_put(fields, "killed_instance",
		 json_incref(json_object_get(report->record, "instance")));
	json_put(fields, "cell", json_incref(json_object_get(cell, "cell")));
	json_put(fields, "language", json_incref(json_object_get(cell, "language")));
	json_put(fields, "state", json_incref(json_object_get(cell, "state")));
	json_put_str(fields, "problem", "server killed");
	return fields;
}

void killed_audit(const struct settings *settings, const struct lostcells_report *report)
{
	const json_t *client = json_object_get(report->record, "client");
	struct settings theirs = *settings;
	struct audit_log *log;
	size_t index;
	json_t *cell;

	theirs.audit = (char *)(uintptr_t)text_of(report->record, "target");
	log = audit_log_new(&theirs);
	audit_log_set_client(log, text_of(client, "name"), text_of(client, "version"));
	json_array_foreach (report->cells, index, cell)
		audit_log_add(log, NULL, text_of(report->record, "session_id"), "ended",
			      end_of(report, cell));
	audit_log_free(log);
}
