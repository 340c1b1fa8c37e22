/* SPDX-License-Identifier: MIT */
/*
 * session_resume.c - what a later life of a session needs: the record of its folder, its journal,
 * and the results that a killed server had not exported.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/events.h"
#include "journal/journal.h"
#include "journal/notebook_setup.h"
#include "session/session_internal.h"
#include "session/table.h"
#include "workspace/beside.h"
#include "workspace/keeper.h"
#include "workspace/keeplog.h"
#include "workspace/lasting.h"
#include "workspace/lostcells.h"
#include "workspace/scan.h"
#include "workspace/spool.h"

#define UNREADABLE EVENTS_FILE "-unreadable"

/* ---- the record ---- */

/* Returns the limits that the session has lowered, or NULL. The caller frees it. */
static char *describe_limits(const struct session *s)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *key;
	uint64_t value;
	uint64_t servers = 0;

	for (size_t i = 0; settings_limit_at(&s->limits, i, &key, &value); i++)
		if (settings_limit_at(&s->host->settings->limits, i, &key, &servers) &&
		    value != servers)
			buf_putf(&out, "%s%s=%" PRIu64, out.len > 0 ? " " : "", key, value);
	return out.len > 0 ? buf_steal(&out) : NULL;
}

/* Takes the limits that this server knows, and logs the others. */
void session_resume_limits(struct session *s, const char *limits)
{
	cleanup_free char *copy = xstrdup(limits);
	char *rest = copy;
	char *part;

	while ((part = strsep(&rest, " ")) != NULL) {
		const char *key = strsep(&part, "=");
		struct err ignored;

		if (part != NULL && settings_clamp(s->host->settings, &s->limits, key,
						   strtod(part, NULL), &ignored) < 0)
			log_debug("session", "'%s': a limit is unknown: %s", s->id, key);
	}
}

static void write_record(struct session *s, const char *why, bool exported)
{
	struct lasting_record record = { .session_id = s->id,
					 .generation = s->generation,
					 .next_cell = why != NULL ? s->next_cell : 0,
					 .limits = describe_limits(s),
					 .why = why != NULL ? xstrdup(why) : NULL,
					 .exported = exported,
					 .cut = s->quit.cut,
					 .running = s->quit.running,
					 .unread = s->quit.unread };
	struct err err;

	if (lasting_write(workspace_journal_fd(s->workspace), &record, &err) < 0)
		log_warn("session", "'%s' may not be resumed later: %s", s->id, err.msg);
	free(record.limits);
	free(record.why);
}

/* Touches the record if the journal is off: else events of the journal date the last use. */
void session_record_use(struct session *s, bool limits_changed)
{
	if (s->recorded && limits_changed)
		write_record(s, NULL, false);
	else if (s->recorded && journal_is_off(s->journal))
		(void)utimensat(workspace_journal_fd(s->workspace), LASTING_RECORD, NULL, 0);
}

void session_record(struct session *s)
{
	if (s->recorded || s->host->settings->resume == 0)
		return;
	s->recorded = true;
	write_record(s, NULL, false);
}

bool session_lasts(const struct session *s)
{
	return s->recorded;
}

bool session_goes_on(const struct session *s)
{
	return s->recorded && (s->quit.why == NULL || !str_eq(s->quit.why, table_destroyed));
}

void session_record_destruction(const struct session *s)
{
	if (s->recorded && !session_goes_on(s))
		(void)unlinkat(workspace_journal_fd(s->workspace), LASTING_RECORD, 0);
}

bool session_record_end(struct session *s, const char *why)
{
	if (!session_goes_on(s))
		return false;
	if (journal_is_off(s->journal) && s->record_problem == NULL)
		spool_remove_unrecorded(
			workspace_journal_fd(s->workspace), workspace_spool_fd(s->workspace),
			journal_last_number(s->journal) + journal_left_out(s->journal));
	write_record(s, why, keeper_is_settled(s->keeper) && !s->notebook_owed && !s->displaced);
	if (s->notebook_copying) /* until this last copy is made (keeper.c) */
		keeplog_set_due(workspace_journal_fd(s->workspace), true);
	return true;
}

/* ---- the journal ---- */

/* Keeps a journal that cannot be read under another name. */
static void begin_anew(struct session *s, const struct err *why)
{
	int fd = workspace_journal_fd(s->workspace);

	(void)renameat(fd, EVENTS_FILE, fd, UNREADABLE);
	s->record_problem = xstrdup(why->msg);
	s->journal = journal_new(fd, s->id, s->limits.journal_max, s->host->settings->record_output,
				 s->host->settings->redact);
}

const char *session_record_problem(const struct session *s)
{
	return s->record_problem;
}

void session_resume_journal(struct session *s)
{
	const struct settings *settings = s->host->settings;
	const struct journal_spec spec = { .session_id = s->id,
					   .max_bytes = s->limits.journal_max,
					   .output_max = settings->record_output,
					   .redact = settings->redact };
	struct err err;
	uint64_t next;

	s->journal = journal_resume(workspace_journal_fd(s->workspace), &spec, &err);
	if (s->journal == NULL)
		begin_anew(s, &err);
	if (settings->record == RECORD_OFF)
		journal_turn_off(s->journal);
	/* Cells that found no room in the journal have numbers, too. */
	next = journal_last_number(s->journal) + journal_left_out(s->journal) + 1;
	if (s->next_cell < next)
		s->next_cell = next;
}

static void add_installed(const struct session *s, struct lostcells *lost)
{
	struct err err;
	json_t *installed = journal_read_installed(s->journal, &err);
	size_t n;
	json_t *fields;

	if (installed == NULL)
		log_warn("session", "the audit of '%s' lacks what killed cells installed: %s",
			 s->id, err.msg);
	json_array_foreach (installed, n, fields)
		lostcells_add_installed(
			lost, (uint64_t)json_integer_value(json_object_get(fields, NOTE_BY)),
			json_incref(fields));
	json_decref(installed);
}

void session_report_lost(struct session *s, struct lostcells *lost_own)
{
	struct journal_line line;

	if (lost_own == NULL)
		return;
	add_installed(s, lost_own);
	for (size_t i = 0; journal_at(s->journal, i, &line); i++)
		if (line.number < s->first_cell &&
		    (line.unaudited || (line.ran && str_eq(line.state, JOURNAL_KILLED))))
			lostcells_add(lost_own, line.number, line.language, line.state,
				      journal_read_typed(s->journal, i, LOSTCELLS_TYPED_MAX));
	if (s->host->killed != NULL)
		lostcells_deliver(lost_own, keeper_folder(s->keeper), s->host->killed,
				  s->host->owner);
	lostcells_free(lost_own);
}

/* ---- results ---- */

void session_report_gone(struct session *s)
{
	cleanup_free char *text = NULL;

	if (!keeper_folder_is_gone(s->keeper))
		return;
	text = xasprintf("The folder '%s' with the saved results of session '%s' is not there any "
			 "more: results are saved in a new one.",
			 keeper_planned(s->keeper), s->id);
	session_add_notice(s, text);
}

static struct change *list_as_changes(const struct session *s, const struct file_info *files,
				      size_t count)
{
	struct change *changes = xcalloc(count, sizeof(*changes));

	for (size_t i = 0; i < count; i++)
		changes[i] = (struct change){ .kind = keeper_knows(s->keeper, files[i].path)
							      ? CHANGE_CHANGED
							      : CHANGE_NEW,
					      .file = files[i] };
	return changes;
}

void session_find_missing(struct session *s)
{
	size_t count;
	const struct file_info *files = scan_files(s->scan, &count);
	struct change *changes;
	cleanup_free char *left = NULL;
	cleanup_free bool *keeps = NULL;

	if (!s->verifies || scan_running(s->scan))
		return;
	s->verifies = false;
	if (s->host->settings->keep == NULL)
		return;
	changes = list_as_changes(s, files, count);
	keeps = beside_choose(s->keeper, changes, count, &left);
	for (size_t i = 0; i < count; i++)
		if (keeps[i] && !files[i].is_link)
			keeper_mark_missing(s->keeper, files[i].path, files[i].size,
					    files[i].mtime_ns);
	free(changes);
}
