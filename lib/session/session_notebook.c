/* SPDX-License-Identifier: MIT */
/*
 * session_notebook.c - exports a copy of the notebook. It is made some time after a cell, so that a
 * series of quick cells makes one copy, and never so often that it takes more than a small part of
 * the machine. No answer waits for it.
 */
#include "base/log.h"
#include "journal/journal.h"
#include "session/session_internal.h"
#include "workspace/keeper.h"

enum {
	NOTEBOOK_AFTER_MS = 500, /* after the first cell that the copy lacks */
	NOTEBOOK_REST = 20,      /* durations of a copy until the next one */
	COPIES_MAX = 8,          /* of an earlier life: more cannot have been under way */
};

static void on_notebook_due(struct loop_timer *timer);

static void log_failure(struct session *s, const char *why)
{
	if (!s->notebook_failed)
		log_warn("session", "'%s': the notebook: %s", s->id, why);
	s->notebook_failed = true;
}

static void on_notebook_copied(struct keeper *keeper, const struct keep_result *result)
{
	struct session *s = keeper_data(keeper);
	uint64_t now = loop_now(s->host->loop);

	s->notebook_copying = false;
	s->notebook_ms = now - s->notebook_ms;
	s->notebook_owed = result->error != NULL;
	if (result->error != NULL)
		log_failure(s, result->error);
	if (s->notebook_stale)
		loop_timer_start(s->host->loop, &s->notebook,
				 now + NOTEBOOK_AFTER_MS + s->notebook_ms * NOTEBOOK_REST,
				 on_notebook_due);
}

static void copy_notebook(struct session *s)
{
	cleanup_buf struct buf tail = BUF_INIT(BUF_UNBOUNDED);
	uint64_t size;
	struct err err;

	s->notebook_stale = false;
	if (journal_draw_notebook(s->journal, &size, &tail, &err) < 0) {
		log_failure(s, err.msg);
		return;
	}
	/*
	 * Without this entry the next server takes the copy for the user's file and makes another
	 * one.
	 */
	if (journal_add_copy(s->journal, &tail, &err) < 0)
		log_debug("session", "'%s': the notebook: %s", s->id, err.msg);
	s->notebook_copying = true;
	s->notebook_ms = loop_now(s->host->loop);
	keeper_copy_notebook(s->keeper, JOURNAL_NOTEBOOK_FILE, size, buf_str(&tail),
			     on_notebook_copied);
}

/* Draws one cell in a turn of the loop, because images take long. */
static void on_notebook_due(struct loop_timer *timer)
{
	struct session *s = container_of(timer, struct session, notebook);
	bool more = false;
	struct err err;

	if (journal_draw_cell(s->journal, &more, &err) == 0 && more)
		loop_timer_start(s->host->loop, timer, loop_now(s->host->loop), on_notebook_due);
	else
		copy_notebook(s); /* which logs the failure */
}

bool session_keeps_notebook(const struct session *s)
{
	const struct settings *settings = s->host->settings;

	return settings->keep != NULL && settings->notebook != NOTEBOOK_OFF &&
	       settings->record != RECORD_OFF;
}

void session_keep_notebook(struct session *s)
{
	if (!session_keeps_notebook(s) || !journal_has_run(s->journal))
		return;
	s->notebook_stale = true;
	if (!s->notebook_copying && !loop_timer_active(&s->notebook))
		loop_timer_start(s->host->loop, &s->notebook,
				 loop_now(s->host->loop) + NOTEBOOK_AFTER_MS, on_notebook_due);
}

const char *session_notebook_folder(const struct session *s)
{
	return s->notebook_stale || s->notebook_copying ? keeper_planned(s->keeper) : NULL;
}

void session_notebook_end(struct session *s)
{
	loop_timer_stop(&s->notebook);
	if (s->notebook_stale || s->notebook_owed)
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
					  .notebook = session_keeps_notebook(s),
					  .session_id = s->id,
					  .resumed = s->resumed,
					  .notebooks = copies,
					  .notebook_count = list_copies(s, copies),
					  .data = s };

	return keeper_new(&spec);
}
