/* SPDX-License-Identifier: MIT */
/*
 * session_restore_begin.c - begins a replay of recorded cells. The interpreters that end for it may
 * have variables that no replay brings back, so these are saved first. Then they end by themselves,
 * as at the session's end: what they still write is in the files that are laid aside.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "confinement/shares.h"
#include "proc/sandbox.h"
#include "session/restore_internal.h"
#include "session/session_values.h"
#include "session/table.h"
#include "transfer/uploads.h"

static int check_confined(const struct session *s, struct err *err)
{
	if (confinement_facts(s->host->confinement).tier != POLICY_UNCONFINED)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"nothing confines code here, so the cells of session '%s' would change once "
		"more what they changed outside it: if they may, use action restore_outside%s",
		s->id,
		session_values_saved(s).cell > 0
			? ", or bring saved variables back (action restore_values)"
			: "");
}

static int check_start(const struct session *s, struct err *err)
{
	uint64_t ms;

	if (s->record_problem != NULL || journal_is_off(s->journal))
		return err_set(err, ERR_NOT_FOUND, "the cells of session '%s' are not recorded",
			       s->id);
	if (session_restore_count(s->journal, &ms) == 0)
		return err_set(err, ERR_NOT_FOUND,
			       "session '%s' has no recorded cell that could run again", s->id);
	if (session_restore_check_idle(s, err) < 0)
		return -1;
	if (s->behind.running || (s->uploads != NULL && uploads_under_way(s->uploads) > 0))
		return err_set(err, ERR_BUSY,
			       "results of session '%s' are still being saved: ask again soon",
			       s->id);
	return 0;
}

/*
 * Ends all interpreters. The generation counts up once, also for those that have ended by
 * themselves.
 */
static void restart(struct restore *r)
{
	struct session *s = r->session;
	uint64_t generation = s->generation;

	session_restart(s);
	if (r->had_interpreters && s->generation == generation)
		s->generation++;
	session_values_begin_anew(s->values);
}

/* Lays the files aside, and gives new interpreters the folder that is there now. */
static int lay_aside(struct restore *r, struct err *err)
{
	struct session *s = r->session;

	if (workspace_set_aside(s->workspace, err) < 0)
		return -1;
	if (confinement_adopt(s->host->confinement, s->workspace, err) < 0) {
		struct err ignored;

		(void)!workspace_take_back(s->workspace, &ignored);
		return -1;
	}
	if (!r->outside)
		session_hold_outside(s);
	restart(r);
	return 0;
}

/* Notes what is outside the session, for the report. */
static void note_outside(struct restore *r)
{
	const struct confinement_facts facts = confinement_facts(r->session->host->confinement);
	struct restore_report *report = &r->report;
	const struct policy_share *share;

	for (size_t i = 0; (share = shares_at(facts.shares, i)) != NULL; i++)
		restore_report_add(&report->folders, "'%s'", share->path);
	report->outside = r->outside;
	report->sockets = facts.unix_sockets;
	report->unconfined = facts.tier == POLICY_UNCONFINED;
	report->holds = facts.reaches_hosts || shares_find_writable(facts.shares) != NULL;
}

static int begin(struct restore *r, struct err *err)
{
	struct session *s = r->session;
	uint64_t generation = s->generation;

	session_keep_last(s);
	if (lay_aside(r, err) < 0)
		return -1;
	r->report.generation = s->generation > generation ? s->generation : 0;
	r->report.missing_cells = journal_left_out(s->journal);
	r->end = journal_count(s->journal);
	note_outside(r);
	session_rerun_next(r);
	return 0;
}

/* Ends one that has changed no file. */
static void end_early(struct restore *r, const char *why)
{
	struct session *s = r->session;

	r->failed = true;
	if (r->had_interpreters) {
		restart(r);
		r->text =
			xasprintf("No cell of session '%s' was run again: %s. Its interpreters "
				  "were ended with their variables%s; its files are as these "
				  "left them. This is generation %" PRIu64 ".",
				  s->id, why,
				  r->scratch.count > 0 ? " and the files in /tmp and /dev/shm" : "",
				  s->generation);
	} else {
		r->text = xasprintf("No cell of session '%s' was run again: %s. Its variables and "
				    "files are as they were.",
				    s->id, why);
	}
	session_restore_finish(r);
}

/* ---- interpreters of before ---- */

static void begin_or_end(struct restore *r)
{
	struct err err;

	if (begin(r, &err) < 0)
		end_early(r, err.msg);
}

static void on_looked(struct loop_defer *defer)
{
	begin_or_end(container_of(defer, struct restore, step));
}

static void on_scratch(void *data, const int *fds)
{
	const struct session *s = data;
	struct restore *r = s->restore;

	if (r == NULL || r->state != RESTORE_LOOKING)
		return; /* the session ends */
	restore_scratch_read(&r->scratch, fds);
	loop_defer_start(s->host->loop, &r->step, on_looked);
}

/* Lists what is in /tmp and /dev/shm, which end with the sandbox. */
static void look(struct restore *r)
{
	struct session *s = r->session;

	r->state = RESTORE_LOOKING;
	if (s->sandbox == NULL || !sandbox_open_scratch(s->sandbox, on_scratch, s))
		loop_defer_start(s->host->loop, &r->step, on_looked);
}

static void on_quit_over(struct session *s)
{
	look(s->restore);
}

static void note_cut(struct session *s, struct runner *runner, const char *how)
{
	(void)how;
	restore_report_add(&s->restore->report.cut, "%s", runner_language(runner)->name);
}

/* Has interpreters end by themselves. Returns false if there are none. */
static bool quit(struct restore *r)
{
	struct session *s = r->session;

	r->state = RESTORE_QUITTING;
	r->quitting = (struct quitting){ .session = s, .cut = note_cut, .over = on_quit_over };
	for (size_t i = 0; i < s->language_count; i++)
		r->had_interpreters = runner_quit(s->languages[i].runner) || r->had_interpreters;
	if (r->had_interpreters)
		quitting_begin(&r->quitting, TABLE_ALONE_MS);
	return r->had_interpreters;
}

/* ---- variables of before ---- */

/* Continues once saving is over, or has taken too long. */
static void go_on(struct restore *r)
{
	loop_timer_stop(&r->save_late);
	loop_defer_stop(&r->step);
	session_values_forget_last(r->session);
	if (r->stopping)
		end_early(r, "that was stopped before it began");
	else if (!quit(r))
		look(r);
}

static void on_begin(struct loop_defer *defer)
{
	go_on(container_of(defer, struct restore, step));
}

/* Continues in the next turn: the runner that saved is still in use in this one. */
static void on_saved(void *data)
{
	struct restore *r = data;

	loop_defer_start(r->session->host->loop, &r->step, on_begin);
}

static void on_save_late(struct loop_timer *timer)
{
	go_on(container_of(timer, struct restore, save_late));
}

void session_restore_give_up(struct restore *r)
{
	on_saved(r);
}

static int start(struct session *s, bool outside, struct err *err)
{
	struct loop *loop = s->host->loop;
	struct restore *r;
	uint64_t ms;
	bool saves;

	if (s->restore != NULL)
		return 0;
	if (check_start(s, err) < 0 || (!outside && check_confined(s, err) < 0))
		return -1;
	scan_finish(s->scan); /* of the files before */
	r = session_restore_new(s);
	r->outside = outside;
	r->total = session_restore_count(s->journal, &ms);
	saves = session_values_save_last(s, TABLE_SAVE_MS, on_saved, r);
	session_restore_enter(r);
	if (saves) {
		loop_timer_start(loop, &r->save_late, loop_now(loop) + TABLE_SAVE_MS, on_save_late);
		return 0;
	}
	if (quit(r))
		return 0;
	if (s->sandbox != NULL) {
		look(r);
		return 0;
	}
	if (begin(r, err) == 0)
		return 0;
	session_restore_leave(r);
	return -1;
}

int session_restore_start(struct session *s, struct err *err)
{
	return start(s, false, err);
}

int session_restore_start_outside(struct session *s, struct err *err)
{
	return start(s, true, err);
}
