/* SPDX-License-Identifier: MIT */
/*
 * hosted.c - the callbacks of a session's host: each passes an event to the modules that record it.
 *
 * The order within a callback matters: audit and journal come before the notifications. A client
 * that is notified and reads a resource at once must find the cell in it.
 */
#include "tools/hosted.h"

#include "answer/audit_events.h"
#include "answer/audit_killed.h"
#include "answer/audit_log.h"
#include "answer/history.h"
#include "answer/journal_events.h"
#include "base/log.h"
#include "base/mem.h"
#include "install/broker.h"
#include "journal/journal.h"
#include "query/queries.h"
#include "session/table.h"
#include "tools/cell_install.h"
#include "tools/changed.h"
#include "tools/notifications.h"
#include "tools/program_install.h"
#include "tools/retirement.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_import.h"
#include "workspace/workspace.h"

static struct audit_events *audit_events_of(const struct service *service)
{
	return audit_log_events(history_audit_log(service->history));
}

static void on_retire(void *owner, struct sandbox *sandbox_own, const char *name,
		      struct inspector *inspector_own, bool lasts)
{
	struct service *service = owner;

	queries_end_folder(service->queries, name);
	tool_sql_end_folder(&service->sql_calls, name);
	broker_end_folder(service->broker, name);
	wait_import_end_folder(service->imports, name);
	retirement_add(service->retirement, &(struct retiring){ .sandbox_own = sandbox_own,
								.name = name,
								.inspector_own = inspector_own,
								.lasts = lasts });
}

static void on_unreported(void *owner)
{
	const struct service *service = owner;
	const struct table *table = service->table;
	struct session *session;

	for (size_t i = 0; table != NULL && (session = table_at(table, i)) != NULL; i++)
		session_expect_unreported(session);
}

static void on_adopt(void *owner)
{
	struct service *service = owner;

	(void)retirement_add_stale(service->retirement);
}

static void on_adopted(void *owner, const char *name)
{
	struct service *service = owner;

	retirement_skip(service->retirement, name);
}

static void on_forgotten(void *owner)
{
	struct service *service = owner;

	retirement_look_after(service->retirement);
}

static void on_killed(void *owner, const struct lostcells_report *report)
{
	const struct service *service = owner;

	audit_killed_add_lines(service->host.settings, report);
}

static bool is_any_busy(void *owner)
{
	const struct service *service = owner;

	return table_busy(service->table);
}

static void on_cell_asked(void *owner, struct session *session, const struct exec_asked *asked)
{
	const struct service *service = owner;

	history_ask(service->history, session, asked);
}

/* The audit may have become unwritable while the cell waited for its turn. */
static char *refuse_cell(void *owner)
{
	const struct service *service = owner;
	cleanup_free char *why = audit_log_refusal(history_audit_log(service->history));

	return why == NULL
		       ? NULL
		       : xstrdup("it cannot be recorded in the user's audit (PTYCELL_AUDIT); the "
				 "next call of exec_code says why");
}

static void on_cell_began(void *owner, struct session *session, const struct cell *cell)
{
	struct service *service = owner;
	bool first = !journal_has_run(session_journal(session));

	history_begin(service->history, session, cell);
	if (service->observer != NULL && service->observer->began != NULL)
		service->observer->began(service->observer->data, session, cell);
	/* From the first cell on, resources/list has the notebook. */
	if (first && journal_has_run(session_journal(session)))
		notifications_list_changed(service->notifications);
}

static void on_wrote(void *owner, struct session *session, const struct language *language,
		     const char *data, size_t len)
{
	const struct service *service = owner;

	if (service->observer != NULL && service->observer->wrote != NULL)
		service->observer->wrote(service->observer->data, session, language, data, len);
}

static void on_cell_shown(void *owner, struct session *session, const struct cell *cell)
{
	const struct service *service = owner;

	history_show(service->history, session, cell);
}

static void on_cell_over(void *owner, const struct exec_result *result)
{
	struct service *service = owner;

	cell_install_end(service, result->session, result->cell);
	audit_events_end_cell(audit_events_of(service), result);
	history_add(service->history, result);
	changed_cell(&service->changed, result);
	if (service->observer != NULL && service->observer->over != NULL)
		service->observer->over(service->observer->data, result);
}

static void on_install(void *owner, struct session *session, const struct language *language,
		       uint64_t cell, const char *of, const char *packages)
{
	const struct cell_install request = { .session = session,
					      .language = language,
					      .cell = cell,
					      .of = of,
					      .packages = packages };

	cell_install_start(owner, &request);
}

static void on_asked(void *owner, struct session *session, struct ask *ask, const char *text,
		     size_t len)
{
	program_install_start(owner, session, ask, text, len);
}

static void on_ask_gone(void *owner, struct ask *ask)
{
	program_install_gone(owner, ask);
}

static void on_state_changed(void *owner, const struct session *session)
{
	struct service *service = owner;

	if (service->observer != NULL && service->observer->state_changed != NULL)
		service->observer->state_changed(service->observer->data, session);
	if (notifications_any_watched(service->notifications))
		notifications_session_changed(service->notifications, session_id(session), "");
	notifications_changed(service->notifications, "sessions://");
}

static void on_files_changed(void *owner, const struct session *session,
			     const struct change *changes, size_t count)
{
	const struct service *service = owner;

	changed_files(&service->changed, session_id(session), changes, count);
}

static bool is_watched(void *owner, const struct session *session)
{
	const struct service *service = owner;

	return notifications_watched_below(service->notifications, session_id(session), "/files/");
}

static void on_session_fails(void *owner, struct session *session, const char *why)
{
	const struct service *service = owner;
	struct err err;

	if (table_end(service->table, session_id(session), why, &err) < 0)
		log_warn("service", "ending a session: %s", err.msg);
}

static void on_session_ends(void *owner, const struct session *session)
{
	const struct service *service = owner;

	if (service->observer != NULL && service->observer->ends != NULL)
		service->observer->ends(service->observer->data, session);
	notifications_session_ended(service->notifications, session_id(session));
}

/* Returns NULL when the session has ended. */
static struct session *find_session(struct service *service, const char *id)
{
	struct table *table = service->table;
	struct err err;

	return table != NULL ? table_find(table, id, &err) : NULL;
}

static struct session *find_folder(struct service *service, const char *folder)
{
	const struct table *table = service->table;
	struct session *session = NULL;

	for (size_t i = 0; table != NULL && (session = table_at(table, i)) != NULL; i++)
		if (str_eq(workspace_name(session_workspace(session)), folder))
			break;
	return session;
}

static void on_happened(void *owner, struct session *session, const struct session_event *event)
{
	const struct service *service = owner;

	journal_events_session(session, event, service->settings, PTYCELL_VERSION);
	history_event(service->history, session, event);
	audit_events_session(audit_events_of(service), session, event);
}

static void on_uploaded(void *owner, const struct uploads_event *event)
{
	audit_events_stored(audit_events_of(owner), find_session(owner, event->session_id), event);
}

void hosted_installed(void *data, const struct broker_event *event)
{
	struct session *session = find_folder(data, event->folder);

	if (session != NULL && event->result != NULL)
		session_record(session);
	audit_events_installation(audit_events_of(data), session, event);
}

void hosted_table_changed(void *data)
{
	const struct service *service = data;

	if (service->observer != NULL && service->observer->sessions_changed != NULL)
		service->observer->sessions_changed(service->observer->data);
	notifications_list_changed(service->notifications);
	notifications_changed(service->notifications, "sessions://");
}

static uint64_t on_count_written(void *owner)
{
	const struct service *service = owner;

	return service->written(service->written_data);
}

void hosted_listen(struct session_host *host, struct service *service)
{
	host->written = service->written != NULL ? on_count_written : NULL;
	host->retire = on_retire;
	host->unreported = on_unreported;
	host->adopt = on_adopt;
	host->adopted = on_adopted;
	host->forgotten = on_forgotten;
	host->killed = on_killed;
	host->busy = is_any_busy;
	host->cell_asked = on_cell_asked;
	host->refusal = refuse_cell;
	host->cell_began = on_cell_began;
	host->cell_shown = on_cell_shown;
	host->cell_over = on_cell_over;
	host->wrote = on_wrote;
	host->install = on_install;
	host->asked = on_asked;
	host->ask_gone = on_ask_gone;
	host->happened = on_happened;
	host->uploaded = on_uploaded;
	host->state_changed = on_state_changed;
	host->files_changed = on_files_changed;
	host->files_watched = is_watched;
	host->fails = on_session_fails;
	host->ends = on_session_ends;
	host->owner = service;
}
