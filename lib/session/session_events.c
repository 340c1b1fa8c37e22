/* SPDX-License-Identifier: MIT */
/*
 * session_events.c - reports events other than cells to the host. Lost state is also reported to
 * the model, by a notice, unless a cell that ended with it says so.
 */
#include "base/mem.h"
#include "journal/journal.h"
#include "session/session_internal.h"

void session_report_event(struct session *s, const struct session_event *event)
{
	if (s->host->happened != NULL)
		s->host->happened(s->host->owner, s, event);
}

void session_on_typed(struct runner *runner, const char *text, size_t len, bool hidden)
{
	session_report_event(runner_owner(runner), &(struct session_event){
							   .kind = SESSION_TYPED,
							   .language = runner_language(runner),
							   .cell = runner_cell_number(runner),
							   .text = text,
							   .len = len,
							   .hidden = hidden,
						   });
}

void session_on_late(struct runner *runner, const char *text, size_t len)
{
	struct session *s = runner_owner(runner);

	session_report_event(s, &(struct session_event){ .kind = SESSION_LATE,
							 .language = runner_language(runner),
							 .text = text,
							 .len = len });
	session_keep_notebook(s);
}

void session_on_lost(struct runner *runner, const char *why, bool reported)
{
	struct session *s = runner_owner(runner);
	cleanup_free char *text = NULL;
	cleanup_free char *code = NULL;

	s->generation++;
	session_report_event(s, &(struct session_event){ .kind = SESSION_RESET,
							 .language = runner_language(runner),
							 .why = why });
	session_report_state(s);
	if (reported)
		return;
	if (!journal_is_off(s->journal))
		code = xasprintf(", and session://%s/script has the code that ran", s->id);
	text = xasprintf("The %s state of session '%s' was lost after cell %ju: %s. Variables and "
			 "imports are gone; files are not%s. This is generation %ju.",
			 runner_language(runner)->name, s->id,
			 (uintmax_t)session_last_number(session_language_of(s, runner)), why,
			 code != NULL ? code : "", (uintmax_t)s->generation);
	session_add_notice(s, text);
}
