/* SPDX-License-Identifier: MIT */
/*
 * history.c - writes a cell into the journal and the audit file, in the order of its life.
 *
 * The record of a cell that is over is made once: the answer, the journal and the audit share it. A
 * journal or disk that is full is reported to the user once for each journal, by a notice of the
 * session that names the first cell concerned.
 */
#include "answer/history.h"

#include <stdlib.h>
#include <string.h>

#include "answer/audit_log.h"
#include "answer/cell_figures.h"
#include "answer/cell_json.h"
#include "answer/journal_events.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "journal/table.h"
#include "json/make.h"
#include "query/query_text.h"
#include "runner/runner.h"
#include "runtime/language.h"
#include "session/restore.h"
#include "session/session.h"
#include "session/session_values.h"
#include "text/sanitize.h"

struct history {
	struct audit_log *audit_log;
	json_t *record; /* of the last cell that is over; or NULL */
	bool journal_failed;
};

struct history *history_new(const struct settings *settings)
{
	struct history *history = xcalloc(1, sizeof(*history));

	history->audit_log = audit_log_new(settings);
	return history;
}

void history_free(struct history *history)
{
	json_decref(history->record);
	audit_log_free(history->audit_log);
	free(history);
}

struct audit_log *history_audit_log(const struct history *history)
{
	return history->audit_log;
}

static bool is_record_of(const json_t *record, const struct exec_result *result)
{
	const char *id = json_string_value(json_object_get(record, "session_id"));
	json_int_t generation = json_integer_value(json_object_get(record, "generation"));
	json_int_t number = json_integer_value(json_object_get(record, "cell"));

	return id != NULL && str_eq(id, session_id(result->session)) &&
	       generation == (json_int_t)session_generation(result->session) &&
	       number == (json_int_t)result->cell->number;
}

json_t *history_record(const struct history *history, const struct exec_result *result)
{
	return is_record_of(history->record, result) ? json_incref(history->record)
						     : cell_json_make(result);
}

/* Returns how the cell ended, where the traceback does not say so, or NULL. */
static char *note_of(const struct cell *cell)
{
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	switch (cell->state) {
	case CELL_INTERRUPTED:
		return xstrdup("interrupted");
	case CELL_TIMED_OUT:
		return xasprintf("stopped at its deadline of %.15g s",
				 (double)cell->timeout_ms / 1000);
	case CELL_DIED:
	case CELL_NOT_STARTED:
		if (cell->problem != NULL)
			sanitize_line(&why, cell->problem, strlen(cell->problem), 600);
		return xasprintf("%s: %s", cell->state == CELL_DIED ? "died" : "not run",
				 buf_str(&why));
	default:
		return NULL;
	}
}

/* Returns the forms of output that were left out, as "HTML, SVG", or NULL. */
static char *forms_of(const struct cell *cell)
{
	static const char *const names[] = { "HTML", "SVG", "JavaScript" };
	cleanup_buf struct buf forms = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if ((cell->left_out & BIT(i)) != 0)
			buf_putf(&forms, "%s%s", forms.len > 0 ? ", " : "", names[i]);
	return forms.len > 0 ? buf_steal(&forms) : NULL;
}

static json_t *code_fields(uint64_t number, const char *language, const char *code, size_t len)
{
	json_t *fields = json_object();

	json_put_int(fields, "cell", (json_int_t)number);
	json_put_str(fields, "language", language);
	json_put(fields, "code", json_make_text(code, len));
	return fields;
}

/* Logs the first failure. `result` is that of a function of the journal. */
static void check_journal(struct history *history, const struct session *session, int result,
			  const struct err *err)
{
	if (result == 0)
		return;
	if (!history->journal_failed)
		log_warn("history", "a cell of '%s' is not in its journal, or not yet: %s",
			 session_id(session), err->msg);
	history->journal_failed = true;
}

/* Reports, once for a journal, the first cell that is not whole in it. */
static void report_full(struct session *session, uint64_t number, size_t before, size_t after,
			const char *what)
{
	cleanup_free char *text = NULL;

	if (before > 0 || after == 0)
		return;
	text = xasprintf(
		"The record of session '%s' is nearly full, or the disk is: from cell %ju "
		"on %s. Tell the user that PTYCELL_JOURNAL_MAX bounds notebook and script.",
		session_id(session), (uintmax_t)number, what);
	session_add_notice(session, text);
}

static void ask_journal(struct history *history, struct session *session,
			const struct journal_asked *asked)
{
	struct journal *journal = session_journal(session);
	uint64_t before = journal_left_out(journal);
	struct err err;

	check_journal(history, session, journal_ask(journal, asked, &err), &err);
	report_full(session, asked->number, before, journal_left_out(journal),
		    "cells may be missing in it");
}

void history_ask(struct history *history, struct session *session, const struct exec_asked *asked)
{
	const struct journal_asked entry = { .number = asked->number,
					     .language = asked->language->name,
					     .code = asked->code,
					     .code_len = asked->code_len,
					     .timeout_ms = asked->timeout_ms,
					     .title = asked->title,
					     .begins = asked->begins };

	ask_journal(history, session, &entry);
}

static void begin_in_journal(struct history *history, struct session *session, uint64_t number)
{
	struct err err;

	check_journal(history, session, journal_begin(session_journal(session), number, &err),
		      &err);
}

void history_begin(struct history *history, struct session *session, const struct cell *cell)
{
	journal_events_start(session, cell);
	session_keep_first_inputs(session);
	begin_in_journal(history, session, cell->number);
	if (audit_log_is_on(history->audit_log))
		audit_log_add(
			history->audit_log, session, session_id(session), "began",
			code_fields(cell->number, cell->language, cell->code, cell->code_len));
}

static void show_wait(struct history *history, struct session *session, const struct cell *cell)
{
	const struct journal_wait wait = { .number = cell->wait->number,
					   .prompt = cell->wait->prompt,
					   .secret = cell->wait->secret,
					   .guessed = cell->wait->kind == WAIT_GUESSED };
	struct err err;

	check_journal(history, session,
		      journal_wait(session_journal(session), cell->number, &wait, &err), &err);
}

void history_show(struct history *history, struct session *session, const struct cell *cell)
{
	struct err err;

	check_journal(history, session,
		      journal_show(session_journal(session), cell->number, buf_str(&cell->text),
				   cell->text.len, &err),
		      &err);
	if (cell->wait != NULL)
		show_wait(history, session, cell);
}

void history_event(struct history *history, struct session *session,
		   const struct session_event *event)
{
	struct journal *journal = session_journal(session);
	struct err err;

	if (event->kind == SESSION_TYPED)
		check_journal(history, session,
			      journal_type(journal, event->cell, event->text, event->len,
					   event->hidden, &err),
			      &err);
	else if (event->kind == SESSION_LATE)
		check_journal(history, session,
			      journal_add_late(journal, event->language->name, event->text,
					       event->len, &err),
			      &err);
}

static void end_in_journal(struct history *history, struct session *session,
			   const struct journal_entry *entry)
{
	struct journal *journal = session_journal(session);
	size_t before = journal_bare_count(journal);
	enum journal_taken taken;
	struct err err;
	int written = journal_end(journal, entry, &taken, &err);

	check_journal(history, session, written, &err);
	report_full(session, entry->number, before, journal_bare_count(journal),
		    written < 0 ? "outputs, or cells until the disk has room, may be missing in it"
				: "outputs may be missing in it");
	session_keep_notebook(session);
}

/* Returns the cell's value as a table, or NULL. */
static json_t *table_of_value(const struct exec_result *result)
{
	const char *text = result->cell->table;

	if (text == NULL)
		return NULL;
	return table_parse(text, strlen(text), session_settings(result->session)->redact);
}

static void add_to_journal(struct history *history, const struct exec_result *result,
			   json_t *record)
{
	const struct cell *cell = result->cell;
	cleanup_cell_figures struct cell_figures figures;
	cleanup_free char *note = note_of(cell);
	cleanup_free char *left_out = forms_of(cell);
	cleanup_free char *whole = NULL;
	cleanup_json json_t *table = table_of_value(result);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct journal_entry entry = {
		.number = cell->number,
		.language = cell->language,
		.state = cell_state_name(cell->state),
		.ran = cell->ran,
		.spool_path = cell->clipped ? cell->spool_path : NULL,
		.spooled = cell->spooled,
		.lead = cell->lead,
		.value = cell->value,
		.traceback = cell->traceback,
		.settled = true,
		.error_name = cell->error_name,
		.error_text = cell->error_text,
		.note = note,
		.left_out = left_out,
		.table = table,
		.record = record,
	};

	cell_figures_collect(result, &figures);
	entry.images = figures.images;
	entry.image_count = figures.count;
	entry.figures_left_out = figures.left_out;
	buf_put(&text, buf_str(&cell->reported), cell->reported.len);
	buf_put(&text, buf_str(&cell->text), cell->text.len);
	entry.text = buf_str(&text);
	entry.text_len = text.len;
	if (journal_cuts(session_journal(result->session), &entry))
		whole = session_keep_output(result->session, cell->number, cell->language);
	entry.whole = whole;
	end_in_journal(history, result->session, &entry);
}

static void add_end_to_audit(struct history *history, struct session *session, const char *id,
			     uint64_t number, json_t *fields_own)
{
	struct err err;

	audit_log_add(history->audit_log, session, id, "ended", fields_own);
	if (session != NULL && audit_log_is_on(history->audit_log) &&
	    !audit_log_waits(history->audit_log))
		check_journal(history, session,
			      journal_audited(session_journal(session), number, &err), &err);
}

/* Adds the record, which has no outputs: they are in the notebook. The code of a cell that ran is
 * in the line "began". */
static void audit_end(struct history *history, const struct exec_result *result,
		      const json_t *record)
{
	const struct cell *cell = result->cell;
	json_t *fields = json_deep_copy(record);

	json_put_str(fields, "language", cell->language);
	if (result->generation > 0) /* after a death the record has the next generation */
		json_put_int(fields, "generation", (json_int_t)result->generation);
	if (!cell->ran && cell->code != NULL)
		json_put(fields, "code", json_make_text(cell->code, cell->code_len));
	add_end_to_audit(history, result->session, session_id(result->session), cell->number,
			 fields);
}

void history_add(struct history *history, const struct exec_result *result)
{
	json_decref(history->record);
	history->record = cell_json_make(result);
	add_to_journal(history, result, history->record);
	if (audit_log_is_on(history->audit_log))
		audit_end(history, result, history->record);
}

/* ---- queries ---- */

static json_t *record_query(const struct history_query *query)
{
	json_t *record = json_object();

	json_put_str(record, "session_id", query->session_id);
	json_put_int(record, "cell", (json_int_t)query->number);
	json_put_str(record, "state", query->state);
	json_put_real(record, "seconds", (double)query->ms / 1000);
	json_put_str(record, "database", query->database);
	if (json_array_size(query->params) > 0)
		json_put(record, "params", json_deep_copy(query->params));
	if (query->answer != NULL)
		json_put(record, "row_count",
			 json_incref(json_object_get(query->answer, "row_count")));
	if (json_is_integer(json_object_get(query->answer, "bytes")))
		json_put_str(record, "output_path", query->file);
	json_put_str(record, "problem", query->problem);
	return record;
}

void history_begin_query(struct history *history, struct session *session, uint64_t number,
			 const char *sql, size_t sql_len)
{
	const struct journal_asked asked = { .number = number,
					     .language = JOURNAL_SQL,
					     .code = sql,
					     .code_len = sql_len,
					     .begins = true };

	session_keep_first_inputs(session);
	ask_journal(history, session, &asked);
	begin_in_journal(history, session, number);
	audit_log_add(history->audit_log, session, session_id(session), "began",
		      code_fields(number, JOURNAL_SQL, sql, sql_len));
}

/* Returns the rows of the answer as a table, or NULL. Their secrets are removed already. */
static json_t *table_of_query(const struct history_query *query)
{
	json_t *raw;
	json_t *table;

	if (query->answer == NULL || query->session == NULL)
		return NULL;
	raw = query_text_table(query->answer, query->file);
	table = table_make(raw, NULL);
	json_decref(raw);
	return table;
}

void history_add_query(struct history *history, const struct history_query *query)
{
	cleanup_json json_t *record = record_query(query);
	cleanup_json json_t *table = table_of_query(query);
	const struct journal_entry entry = {
		.number = query->number,
		.language = JOURNAL_SQL,
		.state = query->state,
		.ran = true,
		.text = query->text,
		.text_len = query->text_len,
		.note = query->problem,
		.table = table,
		.record = record,
	};

	if (query->session != NULL)
		end_in_journal(history, query->session, &entry);
	json_put_str(record, "language", JOURNAL_SQL);
	add_end_to_audit(history, query->session, query->session_id, query->number,
			 json_incref(record));
}

/* Adds what restore_run would run in a session that is resumed, and restore_values bring back. */
static void describe_restore(const struct session *session, json_t *object)
{
	const struct journal *journal = session_journal(session);
	const struct session_saved saved = session_values_saved(session);
	uint64_t ms;
	size_t cells = session_restore_count(journal, &ms);

	json_put_int(object, "restorable_cells", (json_int_t)cells);
	json_put_real(object, "restorable_seconds", (double)ms / 1000);
	if (saved.cell == 0)
		return;
	json_put_int(object, "saved_variables", (json_int_t)saved.names);
	json_put_int(object, "saved_after_cell", (json_int_t)saved.cell);
	json_put_real(object, "saved_seconds", (double)saved.ms / 1000);
}

json_t *history_describe(const struct session *session)
{
	const struct journal *journal = session_journal(session);
	json_t *object = json_object();

	if (journal_is_off(journal))
		json_put_str(object, "record", "off");
	json_put_int(object, "cells", (json_int_t)journal_count(journal));
	if (session_first_cell(session) > 1)
		describe_restore(session, object);
	json_put_int(object, "bytes", (json_int_t)journal_bytes(journal));
	if (journal_bare_count(journal) > 0)
		json_put_int(object, "cells_without_outputs",
			     (json_int_t)journal_bare_count(journal));
	if (journal_left_out(journal) > 0)
		json_put_int(object, "cells_left_out", (json_int_t)journal_left_out(journal));
	return object;
}
