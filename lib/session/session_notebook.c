/* SPDX-License-Identifier: MIT */
/*
 * session_notebook.c - exports a copy of the notebook. It is made some time after a cell, so that a
 * series of quick cells makes one copy, and so seldom that copying takes a small part of the time.
 * No answer waits for it, and calls that follow one another go first.
 *
 * The report grows by the pieces of cells, too, but it has facts of all cells in its head. So it is
 * exported as a whole: when the session ends, and when no cell has ended for some time. A larger
 * journal makes that time longer, so that copying takes a small part of the disk's time.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "journal/journal_report.h"
#include "session/session_internal.h"
#include "workspace/keeper.h"

enum {
	NOTEBOOK_AFTER_MS = 500,    /* after the first cell that the copy lacks */
	NOTEBOOK_REST = 20,         /* the next copy begins after so many durations of the last */
	NOTEBOOK_CALM_MS = 50,      /* no call began or ended for so long: drawing delays none */
	NOTEBOOK_PUT_OFF_MS = 5000, /* a copy is put off for so long while calls follow closely */
	COPIES_MAX = 8,             /* of an earlier life: more cannot have been under way */
	REPORT_QUIET_MS = 10000,    /* after the last cell: a model's next step has come by then */
	REPORT_BYTES_PER_MS = 256,  /* of the journal: they make the quiet time longer */
};

static void on_notebook_due(struct loop_timer *timer);

/* Makes the copy due in `after_ms`. */
static void schedule(struct session *s, uint64_t after_ms)
{
	uint64_t due_ms = loop_now(s->host->loop) + after_ms;

	s->notebook_put_off_ms = due_ms + NOTEBOOK_PUT_OFF_MS;
	loop_timer_start(s->host->loop, &s->notebook, due_ms, on_notebook_due);
}

static void log_failure(struct session *s, const char *why)
{
	if (!s->notebook_failed)
		log_warn("session", "'%s': the notebook: %s", s->id, why);
	s->notebook_failed = true;
}

/* Logs the first failure, and has the next answer report it. */
static void report_failure(struct session *s, const char *why)
{
	cleanup_free char *text = NULL;

	if (!s->notebook_failed) {
		text = xasprintf("The notebook is not saved for the user: %s", why);
		session_add_notice(s, text);
	}
	log_failure(s, why);
}

static void on_notebook_copied(struct keeper *keeper, const struct keep_result *result)
{
	struct session *s = keeper_data(keeper);

	s->notebook_copying = false;
	s->notebook_ms = loop_now(s->host->loop) - s->notebook_ms;
	s->notebook_owed = result->error != NULL;
	s->report_due = s->report_due || result->redraw;
	s->report_stale = s->report_stale || result->redraw;
	if (result->error != NULL)
		report_failure(s, result->error);
	if (s->notebook_stale || s->report_due)
		schedule(s, NOTEBOOK_AFTER_MS + s->notebook_ms * NOTEBOOK_REST);
}

/* Returns the report that is due, or NULL. */
static json_t *draw_report(struct session *s)
{
	const struct journal_report about = { .kept = keeper_planned(s->keeper),
					      .live_from = s->first_cell };
	struct err err;
	json_t *report = journal_draw_report(s->journal, &about, &err);

	s->report_due = false;
	s->report_stale = false;
	if (report == NULL)
		log_failure(s, err.msg);
	return report;
}

static void copy_notebook(struct session *s)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	struct keeper_notebook_copy copy = { .file = JOURNAL_NOTEBOOK_FILE };
	struct err err;

	s->notebook_stale = false;
	if (journal_draw_notebook(s->journal, &copy.size, &tail, &err) < 0) {
		log_failure(s, err.msg);
		s->notebook_owed = true;
		return;
	}
	/*
	 * Without this entry the next server takes the copy for the user's file and makes another
	 * one.
	 */
	if (journal_add_copy(s->journal, &tail, &err) < 0)
		log_debug("session", "'%s': the notebook: %s", s->id, err.msg);
	if (s->report_due)
		copy.report = draw_report(s);
	s->notebook_copying = true;
	s->notebook_ms = loop_now(s->host->loop);
	copy.suffix = buf_str(&tail);
	keeper_copy_notebook(s->keeper, &copy, on_notebook_copied);
	json_decref(copy.report);
}

/* Draws one cell in a turn of the loop, because images take long. */
static void on_notebook_due(struct loop_timer *timer)
{
	struct session *s = container_of(timer, struct session, notebook);
	uint64_t now = loop_now(s->host->loop);
	bool more = false;
	struct err err;

	if (now - s->used_ms < NOTEBOOK_CALM_MS && now < s->notebook_put_off_ms)
		loop_timer_start(s->host->loop, timer, s->used_ms + NOTEBOOK_CALM_MS,
				 on_notebook_due);
	else if (journal_draw_cell(s->journal, &more, &err) == 0 && more)
		loop_timer_start(s->host->loop, timer, now, on_notebook_due);
	else
		copy_notebook(s); /* which logs the failure */
}

bool session_keeps_notebook(const struct session *s)
{
	const struct settings *settings = s->host->settings;

	return settings->keep != NULL && settings->notebook != NOTEBOOK_OFF &&
	       settings->record != RECORD_OFF;
}

static void on_report_due(struct loop_timer *timer)
{
	struct session *s = container_of(timer, struct session, report);

	s->report_due = true;
	if (!s->notebook_copying && !loop_timer_active(&s->notebook))
		loop_timer_start(s->host->loop, &s->notebook, loop_now(s->host->loop),
				 on_notebook_due);
}

static void wait_for_quiet(struct session *s)
{
	uint64_t quiet = REPORT_QUIET_MS + journal_bytes(s->journal) / REPORT_BYTES_PER_MS;

	s->report_stale = true;
	loop_timer_start(s->host->loop, &s->report, loop_now(s->host->loop) + quiet, on_report_due);
}

void session_keep_notebook(struct session *s)
{
	if (!session_keeps_notebook(s) || !journal_has_run(s->journal))
		return;
	wait_for_quiet(s);
	s->notebook_stale = true;
	if (!s->notebook_copying && !loop_timer_active(&s->notebook))
		schedule(s, NOTEBOOK_AFTER_MS);
}

const char *session_notebook_folder(const struct session *s)
{
	return s->notebook_stale || s->notebook_copying ? keeper_planned(s->keeper) : NULL;
}

void session_notebook_end(struct session *s)
{
	loop_timer_stop(&s->notebook);
	loop_timer_stop(&s->report);
	s->report_due = s->report_stale;
	if (s->notebook_stale || s->notebook_owed || s->report_due)
		copy_notebook(s);
}

/* Lists the last copies that an earlier life of the session exported. */
static size_t list_copies(const struct session *s, struct keeper_notebook *copies)
{
	struct journal_copy copy;
	size_t count = 0;

	for (size_t i = 0; count < COPIES_MAX && journal_copy_at(s->journal, i, &copy); i++)
		copies[count++] = (struct keeper_notebook){ .size = copy.size, .crc = copy.crc };
	return count;
}

struct keeper *session_keeper_new(struct session *s)
{
	const struct settings *settings = s->host->settings;
	struct keeper_notebook copies[COPIES_MAX];
	const struct keeper_spec spec = { .loop = s->host->loop,
					  .workspace = s->workspace,
					  .helper = s->host->files_helper,
					  .root = settings->keep,
					  .room = s->host->keeproom,
					  .notebook = session_keeps_notebook(s),
					  .session_id = s->id,
					  .resumed = s->resumed,
					  .notebooks = copies,
					  .notebook_count = list_copies(s, copies),
					  .data = s };

	return keeper_new(&spec);
}
