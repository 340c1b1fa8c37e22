/* SPDX-License-Identifier: MIT */
/*
 * session_rerun.c - runs recorded cells again, one after the other, each in the runner of its
 * language. The runners report to the handlers of this file meanwhile: nothing of a cell that runs
 * again reaches calls, journal or audit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "redact/redact.h"
#include "session/refuser.h"
#include "session/restore_internal.h"
#include "session/watchdog.h"
#include "text/sanitize.h"

enum { ERROR_CHARS_MAX = 200 };

static void on_step(struct loop_defer *defer);

/* ---- one cell ---- */

void session_rerun_next(struct restore *r)
{
	r->state = RESTORE_STEPPING;
	r->runner = NULL;
	loop_defer_start(r->session->host->loop, &r->step, on_step);
}

void session_rerun_stop_at(struct restore *r, char *where_own)
{
	if (r->report.stopped == NULL)
		r->report.stopped = where_own;
	else
		free(where_own);
	r->stopping = true;
}

static void end_one(struct restore *r)
{
	r->done++;
	r->open = false;
}

static void skip(struct restore *r, const char *why)
{
	restore_report_add(&r->report.skipped, "cell %" PRIu64 " (%s)", r->line.number, why);
	end_one(r);
	session_rerun_next(r);
}

/* Notes shared folders that the cell names, and whether it wanted to reach a host. */
static void note_outside(struct restore *r)
{
	const struct session *s = r->session;
	const struct shares *shares = confinement_facts(s->host->confinement).shares;

	for (size_t i = 0; i < shares_count(shares); i++) {
		const char *path = shares_at(shares, i)->path;

		if (strstr(r->cell.code.data, path) != NULL)
			restore_report_add(&r->report.shares, "cell %" PRIu64 " ('%s')",
					   r->line.number, path);
	}
	if (s->refuser != NULL && refuser_count(s->refuser) > 0)
		restore_report_add(&r->report.refused, "cell %" PRIu64, r->line.number);
}

char *session_rerun_describe_failure(const struct cell *cell)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *error = cell->error_text != NULL ? cell->error_text : "";

	if (cell->state == CELL_RAISED && cell->error_name != NULL) {
		buf_putf(&text, "raised %s%s", cell->error_name, error[0] != '\0' ? ": " : "");
		sanitize_line(&text, error, strlen(error), ERROR_CHARS_MAX);
	} else if (cell->state == CELL_TIMED_OUT) {
		buf_puts(&text, "met its deadline");
	} else if (cell->state == CELL_INTERRUPTED) {
		buf_puts(&text, "was interrupted");
	} else if (cell->problem != NULL) {
		buf_puts(&text, cell->state == CELL_DIED ? "died: " : "could not run: ");
		sanitize_line(&text, cell->problem, strlen(cell->problem), ERROR_CHARS_MAX);
	} else {
		buf_puts(&text, "failed");
	}
	return buf_steal(&text);
}

void session_rerun_note_end(struct session *s, struct runner *runner, struct cell *cell)
{
	watchdog_explain_cell(s->watchdog, runner, cell);
	watchdog_note_answer(s->watchdog, cell);
}

static void on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	struct restore *r = data;
	struct session *s = r->session;

	session_rerun_note_end(s, runner, cell_own);
	if (r->state == RESTORE_ABANDONED) {
		cell_free(cell_own);
		return;
	}
	note_outside(r);
	r->cell_over_ms = loop_now(s->host->loop);
	if (cell_own->state == CELL_DONE) {
		r->report.run++;
		end_one(r);
	} else {
		cleanup_free char *how = session_rerun_describe_failure(cell_own);

		session_rerun_stop_at(r,
				      xasprintf("cell %" PRIu64 ", which %s", r->line.number, how));
	}
	cell_free(cell_own);
	session_report_state(s);
	runner_next(runner);
	session_rerun_next(r);
}

static const char *find_obstacle(const struct rerun_cell *cell)
{
	if (cell->hidden)
		return "hidden input was typed to it, which is not recorded";
	if (cell->secret)
		return "a secret was typed to it, which is not recorded";
	return cell->marks == RERUN_OTHER ? "a secret was encoded in it, which is not recorded"
					  : NULL;
}

/* Returns the cell's code with today's secrets; or NULL, and *ret_missing names one. */
static char *fill_code(const struct restore *r, size_t *ret_len, char **ret_missing)
{
	const struct rerun_text *code = &r->cell.code;
	struct buf filled;

	*ret_missing = NULL;
	*ret_len = code->len;
	if (r->cell.marks == RERUN_NO_MARKS)
		return xmemdup(code->data, code->len);
	buf_init(&filled, BUF_UNBOUNDED);
	*ret_missing =
		redact_fill(r->session->host->settings->redact, code->data, code->len, &filled);
	*ret_len = filled.len;
	return buf_steal(&filled);
}

static const struct language *find_language(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->language_count; i++)
		if (str_eq(runner_language(s->languages[i].runner)->name, name))
			return runner_language(s->languages[i].runner);
	return language_find(name);
}

static void submit(struct restore *r, const char *code, size_t len)
{
	struct session *s = r->session;
	const struct language *language = find_language(s, r->line.language);
	struct err err = { .msg = "its language is not known" };
	struct session_language *lang;

	r->state = RESTORE_RUNNING;
	r->typed = 0;
	r->cell_since_ms = loop_now(s->host->loop);
	if (language != NULL) {
		lang = session_language_for(s, language);
		r->runner = lang->runner;
		s->last_language = language;
		runner_set_limits(r->runner, 0, s->limits.output_chars);
		r->queued = runner_submit(r->runner, code, len,
					  r->cell.timeout_ms > 0 ? r->cell.timeout_ms
								 : s->limits.exec_timeout * 1000,
					  r, &err);
		if (r->queued != NULL)
			return;
	}
	session_rerun_stop_at(
		r, xasprintf("cell %" PRIu64 ", which could not run: %s", r->line.number, err.msg));
	session_rerun_next(r);
}

static void run_cell(struct restore *r)
{
	const char *obstacle = find_obstacle(&r->cell);
	cleanup_free char *missing = NULL;
	cleanup_free char *code = NULL;
	cleanup_free char *why = NULL;
	size_t len = 0;

	if (!session_restore_runs(&r->line)) {
		session_rerun_next(r); /* a query: only its file was brought */
		return;
	}
	if (obstacle == NULL)
		code = fill_code(r, &len, &missing);
	if (missing != NULL)
		why = xasprintf("it needs the secret %s, which is not set", missing);
	if (obstacle != NULL || missing != NULL)
		skip(r, obstacle != NULL ? obstacle : why);
	else
		submit(r, code, len);
	if (code != NULL)
		explicit_bzero(code, len);
}

/* ---- files that cells had ---- */

static void on_brought(void *data, const struct aside_result *result)
{
	struct restore *r = data;

	r->job = NULL;
	restore_report_add_files(&r->report, &r->report.inputs, result);
	if (result->problem != NULL) {
		cleanup_free char *problem = sanitize_quote(result->problem);

		restore_report_add(&r->report.inputs, "those of cell %" PRIu64 " (%s)",
				   r->line.number, problem);
	}
	if (r->stopping)
		session_rerun_next(r);
	else
		run_cell(r);
}

/* Brings the files that came in before the cell, or the rows of a query. */
static void bring(struct restore *r)
{
	const struct rerun_cell *cell = &r->cell;
	const struct aside_spec spec = session_restore_spec(r, on_brought);
	size_t count = cell->input_count + (cell->file != NULL);
	struct aside_file *files;

	if (count == 0) {
		run_cell(r);
		return;
	}
	files = xcalloc(count, sizeof(*files));
	for (size_t i = 0; i < cell->input_count; i++)
		files[i] = (struct aside_file){ .path = cell->inputs[i].path,
						.size = (int64_t)cell->inputs[i].size,
						.sha256 = cell->inputs[i].sha256 };
	if (cell->file != NULL)
		files[count - 1] = (struct aside_file){ .path = cell->file, .size = -1 };
	r->state = RESTORE_BRINGING;
	r->job = aside_bring(&spec, files, count);
	free(files);
}

/* ---- from cell to cell ---- */

static void note_failed(struct restore *r)
{
	const struct rerun_cell *cell = &r->cell;

	if (!r->line.ran || str_eq(r->line.language, JOURNAL_SQL) || session_restore_runs(&r->line))
		return;
	restore_report_add(&r->report.failed, "cell %" PRIu64 " (%s%s%s)", r->line.number,
			   cell->error != NULL ? cell->error : r->line.state,
			   cell->names != NULL ? ", names " : "",
			   cell->names != NULL ? cell->names : "");
}

/* Notes a loss of state once a cell behind it runs again: only that cell may find earlier names. */
static void note_lost(struct restore *r)
{
	if (r->cell.lost && r->lost_at == 0)
		r->lost_at = r->line.number;
	if (!r->open || r->lost_at == 0)
		return;
	restore_report_add(&r->report.lost, "cell %" PRIu64, r->lost_at);
	r->lost_at = 0;
}

static void on_step(struct loop_defer *defer)
{
	struct restore *r = container_of(defer, struct restore, step);
	const struct journal *journal = r->session->journal;
	size_t index = r->at;
	struct err err;

	rerun_release(&r->cell);
	if (r->stopping || r->at == r->end || !journal_at(journal, index, &r->line)) {
		session_restore_put_back(r);
		return;
	}
	r->at++;
	r->open = session_restore_runs(&r->line);
	if (rerun_read(journal, index, &r->cell, &err) < 0) {
		session_rerun_stop_at(r, xasprintf("cell %" PRIu64 ", which cannot be read: %s",
						   r->line.number, err.msg));
		session_rerun_next(r);
		return;
	}
	note_lost(r);
	note_failed(r);
	bring(r);
}

/* ---- handlers of runners ---- */

static uint64_t number_again(struct runner *runner)
{
	const struct session *s = runner_owner(runner);

	return s->restore->line.number;
}

static void on_starting(struct runner *runner)
{
	struct session *s = runner_owner(runner);

	session_touch(s);
	session_report_state(s);
	watchdog_wake(s->watchdog);
}

static void on_type(struct loop_defer *defer)
{
	struct restore *r = container_of(defer, struct restore, type);
	const struct rerun_text *text;
	struct err err = { .msg = "it waits for more input than was typed then" };

	if (r->state != RESTORE_RUNNING || runner_current(r->runner) == NULL)
		return;
	text = &r->cell.typed[r->typed];
	if (r->typed < r->cell.typed_count &&
	    runner_type(r->runner, TYPE_RAW, text->data, text->len, &err) == 0) {
		r->typed++;
		return;
	}
	session_rerun_stop_at(r, xasprintf("cell %" PRIu64 ": %s", r->line.number, err.msg));
	runner_stop(r->runner, RUNNER_STOP_INTERRUPT);
}

static void on_waits(struct runner *runner)
{
	struct session *s = runner_owner(runner);

	loop_defer_start(s->host->loop, &s->restore->type, on_type);
}

static void ignore(struct runner *runner)
{
	(void)runner;
}

static void on_lost(struct runner *runner, const char *why, bool reported)
{
	struct session *s = runner_owner(runner);

	(void)reported;
	if (s->restore->state == RESTORE_QUITTING) {
		quitting_note_end(&s->restore->quitting, runner, why);
		return;
	}
	if (s->restore->state == RESTORE_LOOKING)
		return; /* it ended late */
	s->generation++;
	s->restore->report.generation = s->generation;
	restore_report_add(&s->restore->report.gone, "%s", runner_language(runner)->name);
}

static void ignore_typed(struct runner *runner, const char *text, size_t len, bool hidden)
{
	(void)runner;
	(void)text;
	(void)len;
	(void)hidden;
}

static void ignore_text(struct runner *runner, const char *text, size_t len)
{
	(void)runner;
	(void)text;
	(void)len;
}

/* Takes what an interpreter of before prints at its end, which belongs to its last cell. */
static void on_late(struct runner *runner, const char *text, size_t len)
{
	const struct session *s = runner_owner(runner);
	enum restore_state state = s->restore->state;

	if (state == RESTORE_QUITTING || state == RESTORE_LOOKING)
		session_on_late(runner, text, len);
}

static void ignore_stuck(struct runner *runner, const char *how)
{
	(void)runner;
	(void)how;
}

void session_rerun_set_handlers(struct restore *r)
{
	r->handlers = session_handlers;
	r->handlers.ended = on_ended;
	r->handlers.next_number = number_again;
	r->handlers.refusal = NULL; /* it was asked for the whole */
	r->handlers.starting = on_starting;
	r->handlers.waits = on_waits;
	r->handlers.resumed = ignore;
	r->handlers.unanswered = ignore;
	r->handlers.overdue = ignore;
	r->handlers.stuck = ignore_stuck;
	r->handlers.lost = on_lost;
	r->handlers.typed = ignore_typed;
	r->handlers.late = on_late;
	r->handlers.wrote = ignore_text;
}
