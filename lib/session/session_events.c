/* SPDX-License-Identifier: MIT */
/*
 * session_events.c - reports events other than cells to the host. Lost state is also reported to
 * the model, by a notice, unless a cell that ended with it says so.
 */
#include <string.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "session/session_internal.h"
#include "session/session_values.h"
#include "text/status_line.h"

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

/* Returns whether the interpreter has printed between cells that it ends for lack of memory. */
static bool has_met_memory(struct runner *runner)
{
	const char *const *words = runner_language(runner)->memory_words;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (words == NULL)
		return false;
	runner_read_held(runner, &text, NULL);
	for (; *words != NULL; words++)
		if (strstr(buf_str(&text), *words) != NULL)
			return true;
	return false;
}

/* Continues the reason of an end between cells. The caller frees the result. */
static char *name_limit(const struct session *s, struct runner *runner)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (has_met_memory(runner)) {
		buf_puts(&out, " for lack of memory, of which one process here has at most ");
		status_size(&out, s->limits.memory_max);
		buf_puts(&out, " (memory_max)");
	}
	return buf_steal(&out);
}

/* Says that saved variables are there for the state that was lost. */
static void offer_values(struct session *s, const struct runner *runner)
{
	const struct session_saved saved = session_values_saved(s);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (saved.cell == 0 || !runner_language(runner)->saves_variables)
		return;
	buf_putf(&text,
		 "Variables of session '%s' as they were after cell %ju are saved: interact with "
		 "action \"restore_values\" brings them back.",
		 s->id, (uintmax_t)saved.cell);
	session_values_put_later(s, &text);
	buf_puts(&text, SESSION_VALUES_STAY);
	session_add_notice(s, buf_str(&text));
}

void session_on_lost(struct runner *runner, const char *why, bool reported)
{
	struct session *s = runner_owner(runner);
	cleanup_free char *text = NULL;
	cleanup_free char *code = NULL;
	cleanup_free char *limit = NULL;

	s->generation++;
	session_report_event(s, &(struct session_event){ .kind = SESSION_RESET,
							 .language = runner_language(runner),
							 .why = why });
	session_report_state(s);
	session_values_lost(s->values, runner);
	offer_values(s, runner);
	if (reported)
		return;
	if (!journal_is_off(s->journal))
		code = xasprintf(", and session://%s/script has the code that ran", s->id);
	limit = name_limit(s, runner);
	text = xasprintf(
		"The %s state of session '%s' was lost after cell %ju: %s%s. Variables and "
		"imports are gone; files are not%s. This is generation %ju.",
		runner_language(runner)->name, s->id,
		(uintmax_t)session_last_number(session_language_of(s, runner)), why, limit,
		code != NULL ? code : "", (uintmax_t)s->generation);
	session_add_notice(s, text);
}
