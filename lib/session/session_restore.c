/* SPDX-License-Identifier: MIT */
/*
 * session_restore.c - ends a replay of recorded cells, and answers its callers.
 *
 *   SAVING --> QUITTING --> STEPPING --> PUTTING_BACK --> SCANNING --> over
 *                            ^    |            |
 *                            |    v            +--> LOST: the session ends
 *                            |  BRINGING
 *                            |    v
 *                            +- RUNNING
 *
 * BRINGING and RUNNING are once for each cell that session_restore_runs chooses. After the last
 * scan, later ones compare with the files that were put back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "proc/sandbox.h"
#include "proxy/proxy.h"
#include "session/restore_internal.h"
#include "session/session_values.h"
#include "text/sanitize.h"
#include "transfer/uploads.h"
#include "workspace/keeper.h"
#include "workspace/removal.h"

enum { REPORTS_MS = 1100, PROBLEM_MAX = 300 /* characters of why files are not put back */ };

struct restore_call {
	struct list node;
	restore_done_fn *done;
	void *data;
};

/* ---- which cells ---- */

bool session_restore_runs(const struct journal_line *line)
{
	return line->ran && str_eq(line->state, cell_state_name(CELL_DONE)) &&
	       !str_eq(line->language, JOURNAL_SQL);
}

size_t session_restore_count(const struct journal *journal, uint64_t *ret_ms)
{
	struct journal_line line;
	size_t count = 0;

	*ret_ms = 0;
	for (size_t i = 0; journal_at(journal, i, &line); i++) {
		if (!session_restore_runs(&line))
			continue;
		count++;
		*ret_ms += line.elapsed_ms;
	}
	return count;
}

/* ---- the end ---- */

static void restore_free(struct restore *r)
{
	loop_defer_stop(&r->step);
	loop_defer_stop(&r->type);
	loop_timer_stop(&r->reports);
	loop_timer_stop(&r->save_late);
	quitting_stop(&r->quitting);
	aside_stop(r->job);
	removal_forget(r->removal);
	rerun_release(&r->cell);
	restore_report_release(&r->report);
	restore_scratch_release(&r->scratch);
	free(r->lost);
	free(r->text);
	free(r);
}

/* Answers all callers. Without any, the next answer of the session has the report. */
static void answer(struct restore *r, const char *text, bool failed)
{
	struct session *s = r->session;
	bool any = !list_empty(&r->calls);

	list_for_each (struct restore_call, call, &r->calls, node) {
		list_remove(&call->node);
		call->done(call->data, text, failed);
		free(call);
	}
	if (any || r->state == RESTORE_ABANDONED)
		return;
	free(s->restore_report);
	s->restore_report = xstrdup(text);
	s->restore_failed = failed;
}

/* Returns whether a replay that failed has left the session what its first cells made. */
static bool is_partly_back(const struct restore *r)
{
	return !r->values && r->report.run > 0 && r->report.problem == NULL &&
	       r->report.gone.count == 0;
}

static void report_event(const struct restore *r, bool failed, const char *text)
{
	session_report_event(
		r->session,
		&(struct session_event){ .kind = r->values ? SESSION_VALUES : SESSION_RESTORED,
					 .text = text,
					 .len = strlen(text),
					 .failed = failed,
					 .partly = failed && is_partly_back(r),
					 .saved_cell = r->values ? r->report.saved_cell : 0 });
}

/* Gives the runners back to the session. */
static void release(struct restore *r)
{
	struct session *s = r->session;

	session_handle_by(s, &session_handlers);
	for (size_t i = 0; i < s->language_count; i++) {
		runner_set_limits(s->languages[i].runner, s->limits.spool_max,
				  s->limits.output_chars);
		runner_end_again(s->languages[i].runner);
	}
	s->restore = NULL;
	session_release_hold(s);
}

void session_restore_finish(struct restore *r)
{
	struct session *s = r->session;
	bool failed = r->failed || r->report.stopped != NULL || r->report.problem != NULL;
	cleanup_free char *text = mem_steal(&r->text);

	r->report.ms = loop_now(s->host->loop) - r->since_ms;
	r->report.left = r->total - r->done - (r->open ? 1 : 0);
	r->report.saved_cell = session_values_saved(s).cell;
	if (text == NULL)
		text = restore_report_text(&r->report);
	if (!r->values && !failed && r->report.gone.count == 0) {
		session_values_rerun(s->values);
		session_forget_ways_back(s);
	}
	release(r);
	session_report_state(s);
	report_event(r, failed, text);
	answer(r, text, failed);
	restore_free(r);
	session_scan_soon(s);
}

/* Returns why the session ended, in a sentence. The caller frees it. */
static char *describe_end(const struct restore *r)
{
	if (r->lost == NULL)
		return xstrdup(r->values
				       ? "The session ended while its variables were brought back."
				       : "The session ended while its cells were run again.");
	return xasprintf(
		"Session '%s' ended: its cells were run again, but its files could not be "
		"put back in their place (%s). %s",
		r->session->id, r->lost,
		session_lasts(r->session)
			? "They lie aside, unchanged, and are in its folder when this id is "
			  "used again; no variable is back."
			: "Files and variables are gone, as PTYCELL_RESUME is off; results "
			  "that were saved stay.");
}

void session_restore_abandon(struct session *s)
{
	struct restore *r = s->restore;
	cleanup_free char *text = NULL;
	struct err err;

	if (r == NULL)
		return;
	r->state = RESTORE_ABANDONED;
	session_values_forget_last(s);
	for (size_t i = 0; i < s->language_count; i++)
		runner_end(s->languages[i].runner, "the session ended");
	session_list_files_cancel(s, r);
	if (r->closing != NULL)
		runner_query_cancel(mem_steal(&r->closing));
	aside_stop(mem_steal(&r->job));
	s->displaced = workspace_take_back(s->workspace, &err) < 0;
	if (s->displaced)
		log_warn("session", "'%s': the files that lie aside: %s", s->id, err.msg);
	session_handle_by(s, &session_handlers);
	s->restore = NULL;
	session_release_hold(s);
	text = describe_end(r);
	answer(r, text, true);
	restore_free(r);
}

/* Returns whether cells reached hosts. With `add`, the report names them. */
static bool note_hosts(struct restore *r, bool add)
{
	const struct session *s = r->session;
	const struct proxy_row *row;
	bool any = false;

	for (size_t i = 0; s->proxy != NULL && (row = proxy_row(s->proxy, i)) != NULL; i++) {
		if (row->allowed == 0)
			continue;
		any = true;
		if (add)
			restore_report_add(&r->report.hosts, "%s:%u",
					   row->host[0] != '\0' ? row->host : "others", row->port);
	}
	return any;
}

static void on_reported(struct loop_timer *timer)
{
	struct restore *r = container_of(timer, struct restore, reports);

	(void)note_hosts(r, true);
	session_restore_finish(r);
}

static void on_allowed(void *data)
{
	session_restore_finish(data);
}

/* The proxy reports its first request at once, and later ones within REPORTS_MS. */
static void allow(struct restore *r)
{
	if (note_hosts(r, false))
		loop_timer_start(r->session->host->loop, &r->reports, r->cell_over_ms + REPORTS_MS,
				 on_reported);
	else if (!session_allow_outside(r->session, on_allowed, r))
		session_restore_finish(r);
}

static void on_compared(struct loop_defer *defer)
{
	allow(container_of(defer, struct restore, step));
}

static void on_scratch(void *data, const int *fds)
{
	const struct session *s = data;
	struct restore *r = s->restore;

	if (r == NULL || r->state != RESTORE_SCANNING)
		return; /* the session ends */
	restore_scratch_compare(&r->scratch, fds, &r->report.scratch);
	loop_defer_start(s->host->loop, &r->step, on_compared);
}

/* Notes which files of /tmp and /dev/shm no cell has written again. */
static void compare_scratch(struct restore *r)
{
	struct session *s = r->session;

	r->report.scratch_anew = r->scratch.count > 0;
	if (!r->report.scratch_anew)
		allow(r);
	else if (s->sandbox == NULL || !sandbox_open_scratch(s->sandbox, on_scratch, s))
		on_scratch(s, NULL);
}

/* Notes what the cells left running, before it is held back no longer. */
static void on_counted(struct session *s, int count, void *data)
{
	struct restore *r = s->restore;

	(void)data;
	if (r == NULL || r->state != RESTORE_SCANNING)
		return; /* the session ends */
	r->report.processes = count > 0 ? (size_t)count : 0;
	for (size_t i = 0; i < s->language_count; i++)
		if (runner_active(s->languages[i].runner))
			restore_report_add(&r->report.active, "%s",
					   runner_language(s->languages[i].runner)->name);
	compare_scratch(r);
}

static void on_rescanned(void *data, const struct scan *scan)
{
	const struct restore *r = data;

	if (scan != NULL)
		session_count_children(r->session, on_counted, NULL);
}

/* Has later scans compare with the files that are back. */
static void rescan(struct restore *r)
{
	struct session *s = r->session;

	scan_finish(s->scan); /* it may have begun before */
	r->state = RESTORE_SCANNING;
	session_list_files(s, on_rescanned, r);
}

static void on_lost(struct loop_defer *defer)
{
	struct session *s = container_of(defer, struct restore, step)->session;

	s->host->fails(s->host->owner, s, "its files could not be put back after a replay");
}

/*
 * Gives up the new interpreters, whose folder cannot be made like that of before. Returns false if
 * the session's own files cannot take its place either: then the session ends.
 */
static bool fall_back(struct restore *r, const char *why)
{
	struct session *s = r->session;
	struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	sanitize_line(&text, why, strlen(why), PROBLEM_MAX);
	r->report.problem = buf_steal(&text);
	if (workspace_take_back(s->workspace, &err) < 0) {
		r->state = RESTORE_LOST;
		r->lost = xstrdup(err.msg);
		loop_defer_start(s->host->loop, &r->step, on_lost);
		return false;
	}
	(void)session_allow_outside(s, on_allowed, r);
	session_restart(s);
	r->report.generation = s->generation;
	return true;
}

static void on_spent_removed(void *data, bool ok)
{
	struct restore *r = data;

	(void)ok; /* what is left goes with the session's folder */
	r->removal = NULL;
	rescan(r);
}

/* Exports new files that stay, as those of a cell: what is written to them later is a result. */
static void keep_stays(struct session *s, const struct aside_result *result)
{
	struct change *changes = xcalloc(result->found_count + 1, sizeof(*changes));
	size_t count = 0;

	for (size_t i = 0; i < result->found_count; i++)
		if (result->found[i].list == ASIDE_STAYS)
			changes[count++] = (struct change){ .kind = CHANGE_NEW,
							    .file.path = result->found[i].path };
	session_keep_new(s, changes, count);
	free(changes);
}

static void on_put_back(void *data, const struct aside_result *result)
{
	struct restore *r = data;
	struct session *s = r->session;

	r->job = NULL;
	restore_report_add_files(&r->report, &r->report.differs, result);
	if (result->problem != NULL && !fall_back(r, result->problem))
		return;
	if (result->problem == NULL)
		keep_stays(s, result);
	r->removal = aside_remove_spent(s->host->loop, s->workspace, s->host->files_helper,
					on_spent_removed, r);
	if (r->removal == NULL)
		rescan(r);
}

struct aside_spec session_restore_spec(struct restore *r,
				       void (*done)(void *data, const struct aside_result *result))
{
	struct session *s = r->session;

	return (struct aside_spec){ .loop = s->host->loop,
				    .workspace = s->workspace,
				    .helper = s->host->files_helper,
				    .kept = keeper_path(s->keeper),
				    .done = done,
				    .data = r };
}

static void close_next(struct loop_defer *defer);

static void on_named_closed(const struct query_answer *answer, void *data)
{
	struct restore *r = data;
	const struct session *s = r->session;

	r->closing = NULL;
	restore_report_add_closed(&r->report, answer->lines, answer->len);
	if (answer->problem != NULL)
		restore_report_add(&r->report.unclosed, "%s (%s)",
				   runner_language(s->languages[r->close_asked - 1].runner)->name,
				   answer->problem);
	loop_defer_start(r->session->host->loop, &r->step, close_next);
}

/*
 * Asks the next interpreter to close what writes files by name. Puts the files back after the last
 * one.
 */
static void close_next(struct loop_defer *defer)
{
	struct restore *r = container_of(defer, struct restore, step);
	const struct aside_spec spec = session_restore_spec(r, on_put_back);
	struct session *s = r->session;

	while (r->close_asked < s->language_count) {
		struct runner *runner = s->languages[r->close_asked++].runner;

		if (!runner_language(runner)->closes_named || runner_state(runner) == RUNNER_IDLE)
			continue;
		r->closing = runner_query_close_named(runner, on_named_closed, r);
		return;
	}
	r->job = aside_put_back(&spec);
}

void session_restore_put_back(struct restore *r)
{
	r->state = RESTORE_PUTTING_BACK;
	close_next(&r->step);
}

/* ---- the beginning ---- */

int session_restore_check_idle(const struct session *s, struct err *err)
{
	if (!list_empty(&s->execs))
		return err_set(err, ERR_BUSY,
			       "something is under way in session '%s': wait for its end (action "
			       "wait), or stop it (action interrupt)",
			       s->id);
	if (session_has_work(s))
		return err_set(err, ERR_BUSY,
			       "something is still under way in session '%s' (an interpreter's "
			       "end, a copy of results, a query or an upload): call again soon",
			       s->id);
	return confinement_check(s->host->confinement, err);
}

struct restore *session_restore_new(struct session *s)
{
	struct restore *r = xcalloc(1, sizeof(*r));

	r->session = s;
	list_init(&r->calls);
	restore_report_init(&r->report, s->id);
	session_rerun_set_handlers(r);
	return r;
}

void session_restore_enter(struct restore *r)
{
	struct session *s = r->session;

	free(session_restore_take_report(s, &(bool){ false }));
	r->since_ms = loop_now(s->host->loop);
	r->cell_since_ms = r->since_ms;
	s->restore = r;
	session_hold(s);
	session_handle_by(s, &r->handlers);
}

void session_restore_leave(struct restore *r)
{
	release(r);
	restore_free(r);
}

/* ---- callers ---- */

bool session_restoring(const struct session *s)
{
	return s->restore != NULL;
}

bool session_restore_changes_files(const struct session *s)
{
	return s->restore != NULL && !s->restore->values && s->restore->state != RESTORE_SCANNING;
}

int session_restore_check(const struct session *s, struct err *err)
{
	if (s->restore == NULL)
		return 0;
	return err_set(err, ERR_BUSY,
		       "the %s of session '%s' are being %s: wait for that with interact (action "
		       "%s), or stop it (action interrupt)",
		       s->restore->values ? "variables" : "cells", s->id,
		       s->restore->values ? "brought back" : "run again",
		       s->restore->values ? "restore_values" : "restore_run");
}

char *session_restore_take_report(struct session *s, bool *ret_failed)
{
	*ret_failed = s->restore_failed;
	return mem_steal(&s->restore_report);
}

struct restore_call *session_restore_wait(struct session *s, restore_done_fn *done, void *data)
{
	struct restore_call *call = xcalloc(1, sizeof(*call));

	list_init(&call->node);
	call->done = done;
	call->data = data;
	list_append(&s->restore->calls, &call->node);
	return call;
}

void session_restore_forget(struct restore_call *call)
{
	list_remove(&call->node);
	free(call);
}

void session_restore_stop(struct session *s, enum runner_stop stop)
{
	struct restore *r = s->restore;

	if (r == NULL || r->state > RESTORE_RUNNING)
		return;
	session_rerun_stop_at(
		r, r->line.number == 0 ? xstrdup("its beginning")
				       : xasprintf("cell %" PRIu64 ", on request", r->line.number));
	if (r->state == RESTORE_SAVING)
		session_restore_give_up(r);
	if (r->state != RESTORE_RUNNING || r->runner == NULL)
		return;
	if (runner_current(r->runner) == r) {
		runner_stop(r->runner, stop);
		return;
	}
	runner_withdraw(r->queued, NULL); /* its interpreter starts */
	if (r->values)
		session_values_withdrawn(r);
	else
		session_rerun_next(r);
}

struct restore_status session_restore_status(const struct session *s)
{
	const struct restore *r = s->restore;
	bool runs = r->state == RESTORE_RUNNING;

	return (struct restore_status){
		.cell = runs ? r->line.number : 0,
		.ms = runs ? loop_now(s->host->loop) - r->cell_since_ms : 0,
		.done = r->done,
		.total = r->total,
		.putting_back = r->state > RESTORE_RUNNING,
		.values = r->values,
	};
}
