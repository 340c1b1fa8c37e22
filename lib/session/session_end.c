/* SPDX-License-Identifier: MIT */
/*
 * session_end.c - ends a session in two parts.
 *
 * The first part answers all callers, while the session still exists. It exports the results so
 * far, so that they are safe if the server is killed. Then interpreters that run no cell end by
 * themselves, as at a terminal (quitting.h). The second part exports what they wrote, kills all
 * processes that are left, and gives the folder up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "proxy/proxy.h"
#include "session/asking.h"
#include "session/refuser.h"
#include "session/session_internal.h"
#include "session/session_values.h"
#include "session/watchdog.h"
#include "transfer/uploads.h"
#include "workspace/keeper.h"
#include "workspace/scan.h"

/* ---- the second part ---- */

static void end_exports(struct session *s)
{
	loop_defer_stop(&s->work);
	session_notebook_end(s);
	session_keep_end(s);
}

/* Reports that an interpreter did not end by itself. `how` is a sentence without a full stop. */
static void report_cut(struct session *s, struct runner *runner, const char *how)
{
	cleanup_free char *text =
		xasprintf("[%s: a file that code was writing at the end may be cut off]\n", how);

	log_warn("session", "'%s': %s, at the session's end", s->id, how);
	session_on_late(runner, text, strlen(text));
	s->quit.cut = true;
}

static void finish(struct session *s)
{
	bool lasts;

	quitting_stop(&s->quit.wait);
	if (s->quit.done != NULL)
		session_keep_last(s);
	quitting_report_left(&s->quit.wait);
	for (size_t i = 0; i < s->language_count; i++)
		runner_free(s->languages[i].runner);
	s->language_count = 0;
	end_exports(s);
	lasts = session_record_end(s, s->quit.why);
	keeper_free(s->keeper);
	loop_timer_stop(&s->link_wait);
	uploads_free(s->uploads);
	journal_free(s->journal);
	scan_free(s->scan);
	watchdog_free(s->watchdog);
	proxy_free(s->proxy);
	refuser_free(s->refuser);
	if (s->sandbox == NULL)
		s->sandbox = session_unused_sandbox(s);
	session_drop_slot(s);
	s->host->retire(s->host->owner, s->sandbox, workspace_name(s->workspace),
			session_inspection_end(s), lasts);
	workspace_free(s->workspace);
	notices_release(&s->notices);
	free(s->ways_back);
	free(s->record_problem);
	free(s->restore_report);
	holdings_leave(s->holder);
	free(s->quit.why);
	free(s->quit.unread);
	free(s->id);
	free(s);
}

/* ---- interpreters that end by themselves ---- */

static void on_over(struct session *s)
{
	void (*done)(void *data) = s->quit.done;
	void *data = s->quit.data;

	finish(s);
	done(data);
}

static void on_quit(struct runner *runner, const char *why, bool reported)
{
	struct session *s = runner_owner(runner);

	(void)reported;
	quitting_note_end(&s->quit.wait, runner, why);
}

static void on_wrote(struct runner *runner, const char *data, size_t len)
{
	(void)runner;
	(void)data;
	(void)len; /* no command of the user's watches any more */
}

static const struct runner_handlers quit_handlers = {
	.lost = on_quit,
	.late = session_on_late,
	.wrote = on_wrote,
};

/* Keeps only runners whose interpreters end by themselves. Returns whether there are any. */
static bool quit_languages(struct session *s, bool may_quit)
{
	size_t left = 0;

	session_handle_by(s, &quit_handlers);
	for (size_t i = 0; i < s->language_count; i++) {
		struct runner *runner = s->languages[i].runner;

		session_language_release(&s->languages[i]);
		if (may_quit && runner_quit(runner))
			s->languages[left++].runner = runner;
		else
			runner_free(runner);
	}
	s->language_count = left;
	return left > 0;
}

/* ---- the first part ---- */

/* Notes the cells that ended while no call waited, for the first answer of a later life. */
static void note_unread(struct session *s)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < s->language_count; i++)
		list_for_each (const struct execution, exec, &s->languages[i].unreported, node)
			if (exec->call == NULL && exec->cell->ran)
				buf_putf(&out, "%s%ju (%s)", out.len > 0 ? ", " : "",
					 (uintmax_t)exec->cell->number,
					 cell_state_name(exec->cell->state));
	if (out.len > 0)
		s->quit.unread = buf_steal(&out);
}

/* Returns whether interpreters end by themselves. */
static bool begin(struct session *s, const char *why, bool may_quit)
{
	cleanup_free char *reason = xasprintf("the session ended because %s", why);
	bool quits;

	s->quit.why = xstrdup(why);
	s->quit.wait = (struct quitting){ .session = s, .cut = report_cut, .over = on_over };
	session_record_destruction(s);
	session_restore_abandon(s);
	for (size_t i = 0; i < s->language_count; i++)
		runner_end(s->languages[i].runner, reason);
	asking_free(s->asking);
	s->asking = NULL;
	session_keep_last(s);
	session_end_execs(s, reason);
	note_unread(s);
	session_report_event(s, &(struct session_event){ .kind = SESSION_ENDED, .why = why });
	quits = quit_languages(s, may_quit);
	session_values_free(s->values);
	s->values = NULL;
	session_end_listings(s);
	session_report_state(s);
	if (s->host->ends != NULL)
		s->host->ends(s->host->owner, s);
	return quits;
}

bool session_end(struct session *s, const char *why, uint64_t quit_ms, void (*over)(void *data),
		 void *data)
{
	if (!begin(s, why, true)) {
		finish(s);
		return false;
	}
	s->quit.done = over;
	s->quit.data = data;
	session_keep_now(s);
	session_notebook_end(s);
	watchdog_wake(s->watchdog);
	quitting_begin(&s->quit.wait, quit_ms);
	return true;
}

void session_hurry(struct session *s, uint64_t quit_ms)
{
	quitting_hurry(&s->quit.wait, quit_ms);
}

void session_free(struct session *s, const char *why)
{
	if (s == NULL)
		return;
	if (s->quit.why == NULL)
		(void)begin(s, why, false);
	finish(s);
}
