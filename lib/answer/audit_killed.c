/* SPDX-License-Identifier: MIT */
/*
 * audit_killed.c - writes the lines of the audit that a killed server could not write. They have an
 * instance of their own, because the numbers of its lines are not known: nothing is read back from
 * the target. `killed_instance` names that server.
 */
#include "answer/audit_killed.h"

#include <stdlib.h>

#include "answer/audit_log.h"
#include "answer/install_sum.h"
#include "config/settings.h"
#include "journal/notebook_setup.h"
#include "json/get.h"
#include "json/make.h"
#include "session/session.h"
#include "workspace/lostcells.h"
#include "workspace/workspace.h"

void audit_killed_record(const struct audit_log *log, const struct session *session)
{
	cleanup_json json_t *record = audit_log_describe(log);

	json_put_str(record, "session_id", session_id(session));
	json_put_int(record, "generation", (json_int_t)session_generation(session));
	lostcells_record(workspace_journal_fd(session_workspace(session)), record,
			 session_first_cell(session));
}

/* Adds what each line of the session has. */
static void put_common(json_t *fields, const struct lostcells_report *report)
{
	json_put(fields, "generation", json_incref(json_object_get(report->record, "generation")));
	json_put_str(fields, "kept_folder", report->kept_folder);
	json_put(fields, "killed_instance",
		 json_incref(json_object_get(report->record, "instance")));
}

static void add_sum(struct audit_log *log, const struct lostcells_report *report,
		    struct install_sum *sum_own)
{
	json_t *fields = install_sum_line(sum_own);

	put_common(fields, report);
	audit_log_add(log, NULL, json_text_at(report->record, "session_id"), "installed", fields);
	install_sum_free(sum_own);
}

/* Adds the lines of what a killed cell installed, for each language: its server wrote none. */
static void add_installed(struct audit_log *log, const struct lostcells_report *report,
			  const json_t *cell)
{
	uint64_t number = (uint64_t)json_integer_value(json_object_get(cell, "cell"));
	struct install_sum *sum = NULL;
	size_t n;
	const json_t *fields;

	json_array_foreach (report->installed, n, fields) {
		if ((uint64_t)json_integer_value(json_object_get(fields, NOTE_BY)) != number)
			continue;
		if (sum != NULL &&
		    (install_sum_is_full(sum) || !install_sum_takes(sum, number, fields))) {
			add_sum(log, report, sum);
			sum = NULL;
		}
		if (sum == NULL)
			sum = install_sum_new(number, fields);
		(void)install_sum_add(sum, fields);
	}
	if (sum != NULL)
		add_sum(log, report, sum);
}

/* Adds a line of the cell's, with these fields and what each line of the cell has. */
static void add_line(struct audit_log *log, const struct lostcells_report *report,
		     const json_t *cell, const char *event, json_t *fields_own)
{
	put_common(fields_own, report);
	json_put(fields_own, "cell", json_incref(json_object_get(cell, "cell")));
	json_put(fields_own, "language", json_incref(json_object_get(cell, "language")));
	audit_log_add(log, NULL, json_text_at(report->record, "session_id"), event, fields_own);
}

static json_t *end_of(const json_t *cell)
{
	json_t *fields = json_object();

	json_put(fields, "state", json_incref(json_object_get(cell, "state")));
	json_put_str(fields, "problem", "server killed");
	return fields;
}

void audit_killed_add_lines(const struct settings *settings, const struct lostcells_report *report)
{
	const json_t *client = json_object_get(report->record, "client");
	struct settings theirs = *settings;
	struct audit_log *log;
	size_t index;
	const json_t *cell;

	theirs.audit = (char *)(uintptr_t)json_text_at(report->record, "target");
	log = audit_log_new(&theirs);
	audit_log_set_client(log, json_text_at(client, "name"), json_text_at(client, "version"));
	json_array_foreach (report->cells, index, cell) {
		const json_t *typed = json_object_get(cell, "typed");

		if (typed != NULL)
			add_line(log, report, cell, "typed", json_deep_copy(typed));
		add_installed(log, report, cell);
		add_line(log, report, cell, "ended", end_of(cell));
	}
	audit_log_free(log);
}
