/* SPDX-License-Identifier: MIT */
/*
 * resumption.c - sentences for a model that may believe that its variables still are there, or that
 * chose an id which another chat had chosen before.
 */
#include "session/resumption.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "session/restore.h"
#include "session/session.h"
#include "session/session_values.h"
#include "session/table.h"
#include "workspace/lasting.h"
#include "workspace/random_name.h"

enum { SUFFIX_LEN = 4, DATE_LEN = 32, OTHERS_MAX = 3, SHOWN_MS = 50 /* "0.1 s" */ };

static const size_t none_resumed = SIZE_MAX;

/* Appends a time of the user: "23 Nov 14:05", with the year if it is not this one. */
static void put_time(struct buf *out, int64_t seconds)
{
	time_t then = seconds;
	time_t now = time(NULL);
	char text[DATE_LEN] = "";
	struct tm local;
	struct tm today;

	if (localtime_r(&then, &local) == NULL || localtime_r(&now, &today) == NULL)
		return;
	(void)strftime(text, sizeof(text),
		       local.tm_year == today.tm_year ? "%b %H:%M" : "%b %Y %H:%M", &local);
	buf_putf(out, "%d %s", local.tm_mday, text);
}

/* Appends another id of the same topic: the last four letters, as in "trip-5d2a", are new. */
static void put_other_id(struct buf *out, const char *id)
{
	size_t len = strlen(id);
	char suffix[SUFFIX_LEN + 1];

	if (len > SUFFIX_LEN + 1 && id[len - SUFFIX_LEN - 1] == '-' &&
	    isalnum((unsigned char)id[len - SUFFIX_LEN - 2]))
		len -= SUFFIX_LEN + 1;
	else if (len > SESSION_ID_MAX - SUFFIX_LEN - 1)
		len = SESSION_ID_MAX - SUFFIX_LEN - 1;
	random_name_fill(suffix, SUFFIX_LEN);
	buf_putf(out, "%.*s-%s", (int)len, id, suffix);
}

static void put_beginning_empty(struct buf *out, const char *id)
{
	buf_puts(out, " To begin empty, use another session_id, such as '");
	put_other_id(out, id);
	buf_puts(out, "': nothing is deleted by that.");
}

/* ---- what happened ---- */

static size_t count_ran(const struct journal *journal, uint64_t *ret_killed)
{
	struct journal_line line;
	size_t count = 0;

	*ret_killed = 0;
	for (size_t i = 0; journal_at(journal, i, &line); i++) {
		count += line.ran;
		if (line.ran && !line.earlier && str_eq(line.state, JOURNAL_KILLED))
			*ret_killed = line.number;
	}
	return count;
}

static void put_end(struct buf *out, const struct lasting_record *record, uint64_t killed)
{
	uint64_t running = record->why == NULL ? killed : record->running;

	if (record->why == NULL)
		buf_puts(out, ", when its server was killed");
	else if (str_eq(record->why, table_server_ends))
		buf_puts(out, ", when the host closed");
	else
		buf_putf(out, "; it ended because %s%s", record->why, running > 0 ? "," : "");
	if (running > 0)
		buf_putf(out, " while cell %" PRIu64 " ran", running);
	buf_puts(out, ".");
	if (record->cut)
		buf_puts(out, " An interpreter did not end in order: a file that code was writing "
			      "at the end may be cut off.");
}

/* Appends the cells whose end a model does not know, lest it runs their code once more. */
static void put_unread(struct buf *out, const struct session *session,
		       const struct lasting_record *record)
{
	if (record->unread == NULL)
		return;
	buf_putf(out, " No answer has reported these cells, which have ended: %s", record->unread);
	if (!journal_is_off(session_journal(session)) && session_record_problem(session) == NULL)
		buf_putf(out, "; resource session://%s/notebook has their outputs",
			 session_id(session));
	buf_puts(out, ".");
}

static void put_life(struct buf *out, const struct session *session, const struct lasting *row)
{
	uint64_t killed;
	size_t cells = count_ran(session_journal(session), &killed);

	if (session_record_problem(session) != NULL)
		buf_putf(out,
			 "the record of its cells cannot be read (%s) and begins anew. It was last "
			 "used ",
			 session_record_problem(session));
	else if (cells == 0)
		buf_puts(out, "its record has no cell, and it was last used ");
	else
		buf_putf(out, "%zu %s until ", cells, cells == 1 ? "cell" : "cells");
	put_time(out, row->used.tv_sec);
	put_end(out, &row->record, killed);
	put_unread(out, session, &row->record);
}

static void put_duration(struct buf *out, uint64_t ms)
{
	if (ms >= SHOWN_MS)
		buf_putf(out, " (about %.1f s)", (double)ms / 1000);
}

/* Appends that the saved variables come back. `runs`: there is a replay, which takes `run_ms`. */
static void put_saved(struct buf *out, const struct session *session,
		      const struct session_saved *saved, bool runs, uint64_t run_ms)
{
	buf_putf(out, ": interact with action \"restore_values\" brings those of cell%s %" PRIu64,
		 saved->cell > saved->first_cell ? "s" : "", saved->first_cell);
	if (saved->cell > saved->first_cell)
		buf_putf(out, " to %" PRIu64, saved->cell);
	buf_puts(out, " back");
	put_duration(out, saved->ms);
	if (runs) {
		buf_puts(out, ", restore_run runs its cells again");
		put_duration(out, run_ms);
	}
	buf_puts(out, ".");
	session_values_put_later(session, out);
}

/* Returns whether a cell failed: no replay runs it again. */
static bool any_failed(const struct journal *journal, size_t restorable)
{
	struct journal_line line;
	size_t count = 0;

	for (size_t i = 0; journal_at(journal, i, &line); i++)
		count += line.ran && !str_eq(line.language, JOURNAL_SQL);
	return count > restorable;
}

/* Appends how the variables come back: first the way that is quicker, or brings more back. */
static void put_ways_back(struct buf *out, const struct session *session, bool ran)
{
	const struct session_saved saved = session_values_saved(session);
	uint64_t ms;
	size_t cells = session_restore_count(session_journal(session), &ms);

	if (saved.cell > 0 &&
	    (cells == 0 || saved.ms < ms || any_failed(session_journal(session), cells))) {
		put_saved(out, session, &saved, cells > 0, ms);
		buf_puts(out, SESSION_VALUES_STAY);
		return;
	}
	if (!ran || journal_is_off(session_journal(session)) ||
	    session_record_problem(session) != NULL) {
		buf_puts(out, ".");
		return;
	}
	if (cells > 0) {
		buf_puts(out, ": interact with action \"restore_run\" runs its cells again");
		put_duration(out, ms);
		if (saved.cell > 0)
			buf_putf(out,
				 ", restore_values brings those back that were saved after cell "
				 "%" PRIu64,
				 saved.cell);
		buf_puts(out, ", or");
	} else {
		buf_puts(out, ":");
	}
	buf_putf(out, " read the script (resource session://%s/script).%s", session_id(session),
		 saved.cell > 0 ? SESSION_VALUES_STAY : "");
}

/* Where a server was killed and nothing is recorded, it is not known whether code ran. */
static void put_what_is_back(struct buf *out, const struct session *session,
			     const struct lasting_record *record)
{
	const struct journal *journal = session_journal(session);
	bool ran = journal_language(journal) != NULL;

	if (!ran && session_first_cell(session) == 1 && record->why != NULL) {
		buf_puts(out, " Its files are back, except those in /tmp.");
		return;
	}
	buf_puts(out, " Its files are back, except those in /tmp; its variables are not");
	put_ways_back(out, session, ran);
}

/* A killed server writes no number, and without a record no cell has one. */
static void put_numbers(struct buf *out, const struct session *session,
			const struct lasting_record *record)
{
	if (record->why == NULL && journal_is_off(session_journal(session)))
		buf_putf(out,
			 " Its cells are numbered from %" PRIu64 " on, which earlier ones may have "
			 "had, because none is recorded (PTYCELL_RECORD).",
			 session_first_cell(session));
}

static void put_own_id(struct buf *out, const struct lasting *row)
{
	cleanup_free char *own = lasting_own_id(row->record.session_id, row->name);

	buf_putf(out, " ('%s'%s)", own, row->empty ? ", without a cell" : "");
}

/* Names the ended sessions but the one that is resumed, at `index`; none_resumed names all. */
static void put_others(struct buf *out, const struct lasting_found *found, size_t index)
{
	size_t others = found->count - (index < found->count);
	size_t named = 0;

	if (others == 0)
		return;
	buf_putf(out, " %zu %sended %s that id, last used ", others,
		 others < found->count ? "more " : "",
		 others == 1 ? "session has" : "sessions have");
	for (size_t i = 0; i < found->count && named < OTHERS_MAX; i++) {
		if (i == index)
			continue;
		buf_puts(out, named++ > 0 ? ", " : "");
		put_time(out, found->rows[i].used.tv_sec);
		put_own_id(out, &found->rows[i]);
	}
	if (others > OTHERS_MAX)
		buf_puts(out, " and others");
	buf_puts(out, ". An id in brackets resumes that session.");
}

char *resumption_describe(const struct session *session, const struct lasting_found *found,
			  size_t index)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	buf_putf(&out, "Session '%s' is resumed: ", session_id(session));
	put_life(&out, session, &found->rows[index]);
	put_what_is_back(&out, session, &found->rows[index].record);
	put_numbers(&out, session, &found->rows[index].record);
	put_others(&out, found, index);
	put_beginning_empty(&out, session_id(session));
	return buf_steal(&out);
}

char *resumption_ways_back(const struct session *session, const struct lasting_found *found,
			   size_t index)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	put_what_is_back(&out, session, &found->rows[index].record);
	return buf_steal(&out);
}

/* ---- sessions that are not resumed ---- */

char *resumption_in_use(const char *id, const struct lasting_found *found)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	buf_putf(&out,
		 "Session '%s' is new and empty: another ptycell server on this machine has a live "
		 "session of that id (last used ",
		 id);
	put_time(&out, found->in_use_at.tv_sec);
	if (found->leaving)
		buf_puts(&out, "; its host has closed, but it has not ended yet");
	buf_puts(&out, "), and no two servers share one. Its files and variables are not here.");
	put_others(&out, found, none_resumed);
	return buf_steal(&out);
}

char *resumption_failed(const char *id, const struct err *why)
{
	return xasprintf("Session '%s' is new and empty: an ended session of that id is there, but "
			 "cannot be resumed (%s).",
			 id, why->msg);
}

char *resumption_offer(const char *id, const struct lasting_found *found)
{
	const char *why = found->rows[0].record.why;
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	buf_putf(&out, "session '%s' is not live; it was last used ", id);
	put_time(&out, found->rows[0].used.tv_sec);
	if (why != NULL && !str_eq(why, table_server_ends))
		buf_putf(&out, " (it ended because %s)", why);
	buf_puts(&out, ", and exec_code or upload_file with this id resumes it with its files");
	return buf_steal(&out);
}
