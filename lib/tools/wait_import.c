/* SPDX-License-Identifier: MIT */
/*
 * wait_import.c - imports of files into sessions, each with the calls that wait for it.
 *
 * An import outlives its calls. An ended one that no call waited for is kept for a while, with a
 * notice for the session's next answer. If the same call comes first, it gets the result and the
 * notice is taken back, unless session code has changed the file since.
 */
#include "tools/wait_import.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/audit_events.h"
#include "answer/audit_log.h"
#include "answer/history.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "json/make.h"
#include "session/session.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "transfer/imports.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

#define MB (1024.0 * 1024.0)

struct wait_import {
	struct service *service;
	struct imports *imports;
	struct list running;
	struct list ended; /* the oldest is first */
	uint64_t last_number;
};

/* A running import, or one that has ended while no call waited. */
struct import_entry {
	struct list node;
	struct wait_import *waits;
	uint64_t number;         /* the subject of its notice */
	struct session *session; /* NULL: it has ended */
	char *folder;
	char *source;
	char *filename;    /* or NULL */
	char *name;        /* for texts; NULL: unknown */
	const char *means; /* "url" or "path" */
	char *origin;      /* for the audit, or NULL */
	bool overwrite;
	bool cancelled;
	struct list waiting;
	struct import *import; /* NULL: it has ended */
	uint64_t bytes;
	int64_t total; /* -1: unknown */
	/* Set at the end: */
	uint64_t ended_ms;
	char *problem; /* or NULL, and the rest is set */
	char *path;
	char *type;
	char *from;
	uint64_t size;
};

/* A call that waits for an import. */
struct wait {
	struct list node;
	struct import_entry *entry;
	struct mcp_call *call;
	struct loop_timer budget_timer;
};

static struct loop *get_loop(const struct wait_import *waits)
{
	return waits->service->loop;
}

static void import_entry_free(struct import_entry *entry)
{
	list_remove(&entry->node);
	free(entry->folder);
	free(entry->source);
	free(entry->filename);
	free(entry->name);
	free(entry->origin);
	free(entry->problem);
	free(entry->path);
	free(entry->type);
	free(entry->from);
	free(entry);
}

static void wait_free(struct wait *wait)
{
	loop_timer_stop(&wait->budget_timer);
	list_remove(&wait->node);
	free(wait);
}

/* ---- answers ---- */

void wait_import_report_file(struct service *service, struct session *session, const char *path)
{
	session_touch(session);
	session_file_placed(session, path);
	changed_file(&service->changed, session_id(session), path);
}

json_t *wait_import_answer(struct session *session, const char *path, uint64_t size)
{
	cleanup_free char *notice = session_take_notice(session);
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(session));
	json_put(answer, "saved_path",
		 json_make_fmt("%s/%s", workspace_data_path(session_workspace(session)), path));
	json_put_int(answer, "size_bytes", (json_int_t)size);
	json_put(answer, "message", json_make_fmt("Code finds it as '%s'.", path));
	json_put_str(answer, "notice", notice);
	return answer;
}

static void answer_end(const struct import_entry *entry, struct mcp_call *call)
{
	struct service *service = entry->waits->service;
	json_t *answer;

	if (entry->problem != NULL) {
		tool_fail_text(call, service, entry->problem);
		return;
	}
	answer = wait_import_answer(entry->session, entry->path, entry->size);
	json_put_str(answer, "mime_type", entry->type);
	json_put_str(answer, "source", entry->from);
	tool_answer(call, service, answer);
}

static void put_bytes(json_t *object, const struct import_entry *entry)
{
	json_put_int(object, "received_bytes", (json_int_t)entry->bytes);
	if (entry->total >= 0)
		json_put_int(object, "total_bytes", (json_int_t)entry->total);
}

static char *format_bytes(const struct import_entry *entry)
{
	if (entry->total < 0)
		return xasprintf("%.1f MB are here", (double)entry->bytes / MB);
	return xasprintf("%.1f of %.1f MB are here", (double)entry->bytes / MB,
			 (double)entry->total / MB);
}

static void answer_late(const struct import_entry *entry, struct mcp_call *call)
{
	cleanup_free char *here = format_bytes(entry);
	cleanup_free char *notice = session_take_notice(entry->session);
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(entry->session));
	json_put_str(answer, "state", "running");
	if (entry->waits->service->settings->results == RESULTS_JSON)
		json_put_str(answer, "status", "running");
	put_bytes(answer, entry);
	json_put(answer, "message",
		 json_make_fmt("Still on its way: %s. It comes on by itself; code may run "
			       "meanwhile and sees the file when it is whole. To wait for it call "
			       "upload_file again with the same arguments.",
			       here));
	json_put_str(answer, "notice", notice);
	tool_answer(call, entry->waits->service, answer);
}

/* ---- waiting ---- */

static void on_import_budget_over(struct loop_timer *timer)
{
	struct wait *wait = container_of(timer, struct wait, budget_timer);

	answer_late(wait->entry, wait->call);
	wait_free(wait);
}

static void on_import_cancel(struct mcp_call *call, void *data)
{
	struct wait *wait = data;
	struct import_entry *entry = wait->entry;
	bool goes_on = mcp_call_is_deserted(call);

	wait_free(wait);
	mcp_call_fail(call, "cancelled");
	if (goes_on || !list_empty(&entry->waiting))
		return;
	entry->cancelled = true;
	imports_cancel(entry->import);
}

static void add_wait(struct import_entry *entry, struct mcp_call *call)
{
	struct service *service = entry->waits->service;
	struct loop *loop = service->loop;
	struct wait *wait = xcalloc(1, sizeof(*wait));

	wait->entry = entry;
	wait->call = call;
	list_init(&wait->node);
	list_append(&entry->waiting, &wait->node);
	mcp_call_on_cancel(call, on_import_cancel, wait);
	loop_timer_start(loop, &wait->budget_timer,
			 loop_now(loop) + service->settings->call_budget * 1000,
			 on_import_budget_over);
}

/* ---- ends ---- */

static char *make_notice(const struct import_entry *entry)
{
	cleanup_free char *name = sanitize_quote(entry->name != NULL ? entry->name : "a file");

	return entry->problem != NULL
		       ? xasprintf("upload_file of %s failed: %s", name, entry->problem)
		       : xasprintf("upload_file is done: code finds '%s'.", entry->path);
}

static void add_notice(const struct import_entry *entry)
{
	cleanup_free char *text = make_notice(entry);

	session_add_notice_about(entry->session, entry->number, text);
}

/* Keeps the import; frees the oldest one when there are too many. */
static void keep_ended(struct import_entry *entry)
{
	struct list *ended = &entry->waits->ended;

	list_append(ended, &entry->node);
	if (list_len(ended) > WAIT_IMPORT_ENDED_MAX)
		import_entry_free(list_entry(ended->next, struct import_entry, node));
}

/* `sha256` may be NULL. */
static void record_end(const struct import_entry *entry, const char *sha256)
{
	struct history *history = entry->waits->service->history;
	const struct audit_import import = { .from = entry->means,
					     .source = entry->origin,
					     .path = entry->path,
					     .problem = entry->problem,
					     .size = entry->size,
					     .sha256 = sha256 };

	if (entry->session == NULL)
		return;
	audit_events_import(audit_log_events(history_audit_log(history)), entry->session, &import);
}

static void set_end(struct import_entry *entry, const struct import_result *result,
		    const struct err *err)
{
	entry->import = NULL;
	list_remove(&entry->node);
	entry->ended_ms = loop_now(get_loop(entry->waits));
	if (err != NULL) {
		cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

		sanitize_block(&clean, err->msg, strlen(err->msg));
		entry->problem = buf_steal(&clean);
		record_end(entry, NULL);
		return;
	}
	entry->path = xstrdup(result->path);
	entry->type = result->type != NULL ? xstrdup(result->type) : NULL;
	entry->from = result->from != NULL ? xstrdup(result->from) : NULL;
	entry->size = result->size;
	record_end(entry, result->sha256);
	if (result->missed != NULL)
		session_miss_original(entry->session, entry->path, result->missed);
	wait_import_report_file(entry->waits->service, entry->session, entry->path);
}

static void on_entry_done(void *data, const struct import_result *result, const struct err *err)
{
	struct import_entry *entry = data;
	bool awaited = !list_empty(&entry->waiting);

	set_end(entry, result, err);
	list_for_each (struct wait, wait, &entry->waiting, node) {
		struct mcp_call *call = wait->call;

		wait_free(wait);
		answer_end(entry, call);
	}
	if (awaited || entry->session == NULL || entry->cancelled) {
		import_entry_free(entry);
		return;
	}
	add_notice(entry);
	keep_ended(entry);
}

static void on_entry_progress(void *data, uint64_t bytes, int64_t total)
{
	struct import_entry *entry = data;
	cleanup_free char *message = xasprintf("%.1f MB", (double)bytes / MB);

	entry->bytes = bytes;
	entry->total = total;
	session_touch(entry->session);
	list_for_each (struct wait, wait, &entry->waiting, node)
		mcp_call_progress(wait->call, (double)bytes, (double)total, message);
}

static const struct import_handlers entry_handlers = { .progress = on_entry_progress,
						       .done = on_entry_done };

/* ---- finding and starting ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && str_eq(a, b));
}

static struct import_entry *find_import_entry(const struct list *list,
					      const struct wait_import_request *request)
{
	list_for_each (struct import_entry, entry, list, node) {
		if (entry->session == request->session && !entry->cancelled &&
		    entry->overwrite == request->overwrite &&
		    str_eq(entry->source, request->source) &&
		    is_same_text(entry->filename, request->filename))
			return entry;
	}
	return NULL;
}

/* Returns whether the result still holds. Code may have removed or changed the file. */
static bool is_still_true(const struct import_entry *entry)
{
	int folder = workspace_data_fd(session_workspace(entry->session));
	cleanup_fd int fd = -1;
	struct stat st;

	if (loop_now(get_loop(entry->waits)) - entry->ended_ms > WAIT_IMPORT_ENDED_MS)
		return false;
	if (entry->problem != NULL)
		return true;
	fd = beneath_open(folder, entry->path, O_PATH, 0);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == entry->size;
}

/* Answers with an import that ended between the call that started it and this one. */
static void answer_ended(const struct import_entry *entry, struct mcp_call *call)
{
	struct service *service = entry->waits->service;
	cleanup_free char *text = NULL;

	if (entry->problem == NULL) {
		answer_end(entry, call);
		return;
	}
	text = xasprintf("%s (That was the transfer of the earlier call. Call again to try again.)",
			 entry->problem);
	tool_fail_text(call, service, text);
}

bool wait_import_join(struct wait_import *waits, const struct wait_import_request *request)
{
	struct import_entry *entry = find_import_entry(&waits->running, request);
	bool label;

	if (entry != NULL) {
		session_touch(entry->session);
		add_wait(entry, request->call);
		return true;
	}
	entry = find_import_entry(&waits->ended, request);
	if (entry == NULL)
		return false;
	session_touch(entry->session);
	session_withdraw_notice(entry->session, entry->number);
	label = is_still_true(entry);
	if (label)
		answer_ended(entry, request->call);
	import_entry_free(entry);
	return label;
}

void wait_import_start(struct wait_import *waits, const struct wait_import_request *request,
		       const struct wait_import_label *label, const struct import_spec *spec)
{
	struct import_entry *entry = xcalloc(1, sizeof(*entry));
	const char *known = request->filename != NULL ? request->filename : label->name;
	struct err err;

	entry->waits = waits;
	entry->number = ++waits->last_number;
	entry->session = request->session;
	entry->folder = xstrdup(workspace_name(session_workspace(request->session)));
	entry->source = xstrdup(request->source);
	entry->filename = request->filename != NULL ? xstrdup(request->filename) : NULL;
	entry->name = known != NULL ? xstrdup(known) : NULL;
	entry->means = label->from;
	entry->origin = label->origin != NULL ? xstrdup(label->origin) : NULL;
	entry->overwrite = request->overwrite;
	entry->total = -1;
	list_init(&entry->waiting);
	list_init(&entry->node);
	entry->import = imports_start(waits->imports, spec, &entry_handlers, entry, &err);
	if (entry->import == NULL) {
		import_entry_free(entry);
		tool_fail(request->call, waits->service, &err);
		return;
	}
	list_append(&waits->running, &entry->node);
	session_touch(request->session);
	add_wait(entry, request->call);
}

/* ---- life ---- */

void wait_import_end_folder(struct wait_import *waits, const char *folder)
{
	if (waits == NULL)
		return;
	list_for_each (struct import_entry, entry, &waits->ended, node)
		if (str_eq(entry->folder, folder))
			import_entry_free(entry);
	list_for_each (struct import_entry, entry, &waits->running, node)
		if (str_eq(entry->folder, folder))
			entry->session = NULL;
	imports_end_folder(waits->imports, folder);
}

json_t *wait_import_describe(const struct wait_import *waits, const struct session *session)
{
	json_t *all = NULL;

	if (waits == NULL)
		return NULL;
	list_for_each (const struct import_entry, entry, &waits->running, node) {
		json_t *object;

		if (entry->session != session || entry->cancelled)
			continue;
		object = json_object();
		json_put_str(object, "path", imports_path(entry->import));
		put_bytes(object, entry);
		all = all != NULL ? all : json_array();
		json_append(all, object);
	}
	return all;
}

struct wait_import *wait_import_new(struct service *service)
{
	struct wait_import *waits = xcalloc(1, sizeof(*waits));

	waits->service = service;
	waits->imports = imports_new(get_loop(waits));
	list_init(&waits->running);
	list_init(&waits->ended);
	return waits;
}

void wait_import_free(struct wait_import *waits)
{
	if (waits == NULL)
		return;
	while (!list_empty(&waits->ended))
		import_entry_free(list_entry(waits->ended.next, struct import_entry, node));
	imports_free(waits->imports);
	free(waits);
}
