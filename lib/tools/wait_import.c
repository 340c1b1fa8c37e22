/* SPDX-License-Identifier: MIT */
/*
 * wait_import.c - transfers of files into sessions, each with the calls that wait for it.
 *
 * A transfer outlives its calls. An ended one that no call waited for is kept for a while, with a
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

/* A running transfer, or one that has ended while no call waited. */
struct transfer {
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

/* A call that waits for a transfer. */
struct wait {
	struct list node;
	struct transfer *transfer;
	struct mcp_call *call;
	struct loop_timer budget_timer;
};

static struct loop *get_loop(const struct wait_import *waits)
{
	return waits->service->loop;
}

static void transfer_free(struct transfer *transfer)
{
	list_remove(&transfer->node);
	free(transfer->folder);
	free(transfer->source);
	free(transfer->filename);
	free(transfer->name);
	free(transfer->origin);
	free(transfer->problem);
	free(transfer->path);
	free(transfer->type);
	free(transfer->from);
	free(transfer);
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

static void answer_end(const struct transfer *transfer, struct mcp_call *call)
{
	struct service *service = transfer->waits->service;
	json_t *answer;

	if (transfer->problem != NULL) {
		tool_fail_text(call, service, transfer->problem);
		return;
	}
	answer = wait_import_answer(transfer->session, transfer->path, transfer->size);
	json_put_str(answer, "mime_type", transfer->type);
	json_put_str(answer, "source", transfer->from);
	tool_answer(call, service, answer);
}

static void put_bytes(json_t *object, const struct transfer *transfer)
{
	json_put_int(object, "received_bytes", (json_int_t)transfer->bytes);
	if (transfer->total >= 0)
		json_put_int(object, "total_bytes", (json_int_t)transfer->total);
}

static char *format_bytes(const struct transfer *transfer)
{
	if (transfer->total < 0)
		return xasprintf("%.1f MB are here", (double)transfer->bytes / MB);
	return xasprintf("%.1f of %.1f MB are here", (double)transfer->bytes / MB,
			 (double)transfer->total / MB);
}

static void answer_late(const struct transfer *transfer, struct mcp_call *call)
{
	cleanup_free char *here = format_bytes(transfer);
	cleanup_free char *notice = session_take_notice(transfer->session);
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(transfer->session));
	json_put_str(answer, "state", "running");
	if (transfer->waits->service->settings->results == RESULTS_JSON)
		json_put_str(answer, "status", "running");
	put_bytes(answer, transfer);
	json_put(answer, "message",
		 json_make_fmt("Still on its way: %s. It comes on by itself; code may run "
			       "meanwhile and sees the file when it is whole. To wait for it call "
			       "upload_file again with the same arguments.",
			       here));
	json_put_str(answer, "notice", notice);
	tool_answer(call, transfer->waits->service, answer);
}

/* ---- waiting ---- */

static void on_import_budget_over(struct loop_timer *timer)
{
	struct wait *wait = container_of(timer, struct wait, budget_timer);

	answer_late(wait->transfer, wait->call);
	wait_free(wait);
}

static void on_import_cancel(struct mcp_call *call, void *data)
{
	struct wait *wait = data;
	struct transfer *transfer = wait->transfer;
	bool goes_on = mcp_call_is_deserted(call);

	wait_free(wait);
	mcp_call_fail(call, "cancelled");
	if (goes_on || !list_empty(&transfer->waiting))
		return;
	transfer->cancelled = true;
	imports_cancel(transfer->import);
}

static void add_wait(struct transfer *transfer, struct mcp_call *call)
{
	struct service *service = transfer->waits->service;
	struct loop *loop = service->loop;
	struct wait *wait = xcalloc(1, sizeof(*wait));

	wait->transfer = transfer;
	wait->call = call;
	list_init(&wait->node);
	list_append(&transfer->waiting, &wait->node);
	mcp_call_on_cancel(call, on_import_cancel, wait);
	loop_timer_start(loop, &wait->budget_timer,
			 loop_now(loop) + service->settings->call_budget * 1000,
			 on_import_budget_over);
}

/* ---- ends ---- */

static char *make_notice(const struct transfer *transfer)
{
	cleanup_free char *name =
		sanitize_quote(transfer->name != NULL ? transfer->name : "a file");

	return transfer->problem != NULL
		       ? xasprintf("upload_file of %s failed: %s", name, transfer->problem)
		       : xasprintf("upload_file is done: code finds '%s'.", transfer->path);
}

static void add_notice(const struct transfer *transfer)
{
	cleanup_free char *text = make_notice(transfer);

	session_add_notice_about(transfer->session, transfer->number, text);
}

/* Keeps the transfer; frees the oldest one when there are too many. */
static void keep_ended(struct transfer *transfer)
{
	struct list *ended = &transfer->waits->ended;

	list_append(ended, &transfer->node);
	if (list_len(ended) > WAIT_IMPORT_ENDED_MAX)
		transfer_free(list_entry(ended->next, struct transfer, node));
}

/* `sha256` may be NULL. */
static void record_end(const struct transfer *transfer, const char *sha256)
{
	struct history *history = transfer->waits->service->history;
	const struct audit_import import = { .from = transfer->means,
					     .source = transfer->origin,
					     .path = transfer->path,
					     .problem = transfer->problem,
					     .size = transfer->size,
					     .sha256 = sha256 };

	if (transfer->session == NULL)
		return;
	audit_events_import(audit_log_events(history_audit_log(history)), transfer->session,
			    &import);
}

static void set_end(struct transfer *transfer, const struct import_result *result,
		    const struct err *err)
{
	transfer->import = NULL;
	list_remove(&transfer->node);
	transfer->ended_ms = loop_now(get_loop(transfer->waits));
	if (err != NULL) {
		cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

		sanitize_block(&clean, err->msg, strlen(err->msg));
		transfer->problem = buf_steal(&clean);
		record_end(transfer, NULL);
		return;
	}
	transfer->path = xstrdup(result->path);
	transfer->type = result->type != NULL ? xstrdup(result->type) : NULL;
	transfer->from = result->from != NULL ? xstrdup(result->from) : NULL;
	transfer->size = result->size;
	record_end(transfer, result->sha256);
	if (result->missed != NULL)
		session_miss_original(transfer->session, transfer->path, result->missed);
	wait_import_report_file(transfer->waits->service, transfer->session, transfer->path);
}

static void on_transfer_done(void *data, const struct import_result *result, const struct err *err)
{
	struct transfer *transfer = data;
	bool awaited = !list_empty(&transfer->waiting);

	set_end(transfer, result, err);
	list_for_each (struct wait, wait, &transfer->waiting, node) {
		struct mcp_call *call = wait->call;

		wait_free(wait);
		answer_end(transfer, call);
	}
	if (awaited || transfer->session == NULL || transfer->cancelled) {
		transfer_free(transfer);
		return;
	}
	add_notice(transfer);
	keep_ended(transfer);
}

static void on_transfer_progress(void *data, uint64_t bytes, int64_t total)
{
	struct transfer *transfer = data;
	cleanup_free char *message = xasprintf("%.1f MB", (double)bytes / MB);

	transfer->bytes = bytes;
	transfer->total = total;
	session_touch(transfer->session);
	list_for_each (struct wait, wait, &transfer->waiting, node)
		mcp_call_progress(wait->call, (double)bytes, (double)total, message);
}

static const struct import_handlers transfer_handlers = { .progress = on_transfer_progress,
							  .done = on_transfer_done };

/* ---- finding and starting ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && str_eq(a, b));
}

static struct transfer *find_transfer(const struct list *list,
				      const struct wait_import_request *request)
{
	list_for_each (struct transfer, transfer, list, node) {
		if (transfer->session == request->session && !transfer->cancelled &&
		    transfer->overwrite == request->overwrite &&
		    str_eq(transfer->source, request->source) &&
		    is_same_text(transfer->filename, request->filename))
			return transfer;
	}
	return NULL;
}

/* Returns whether the result still holds. Code may have removed or changed the file. */
static bool is_still_true(const struct transfer *transfer)
{
	int folder = workspace_data_fd(session_workspace(transfer->session));
	cleanup_fd int fd = -1;
	struct stat st;

	if (loop_now(get_loop(transfer->waits)) - transfer->ended_ms > WAIT_IMPORT_ENDED_MS)
		return false;
	if (transfer->problem != NULL)
		return true;
	fd = beneath_open(folder, transfer->path, O_PATH, 0);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == transfer->size;
}

/* Answers with a transfer that ended between the call that started it and this one. */
static void answer_ended(const struct transfer *transfer, struct mcp_call *call)
{
	struct service *service = transfer->waits->service;
	cleanup_free char *text = NULL;

	if (transfer->problem == NULL) {
		answer_end(transfer, call);
		return;
	}
	text = xasprintf("%s (That was the transfer of the earlier call. Call again to try again.)",
			 transfer->problem);
	tool_fail_text(call, service, text);
}

bool wait_import_join(struct wait_import *waits, const struct wait_import_request *request)
{
	struct transfer *transfer = find_transfer(&waits->running, request);
	bool label;

	if (transfer != NULL) {
		session_touch(transfer->session);
		add_wait(transfer, request->call);
		return true;
	}
	transfer = find_transfer(&waits->ended, request);
	if (transfer == NULL)
		return false;
	session_touch(transfer->session);
	session_withdraw_notice(transfer->session, transfer->number);
	label = is_still_true(transfer);
	if (label)
		answer_ended(transfer, request->call);
	transfer_free(transfer);
	return label;
}

void wait_import_start(struct wait_import *waits, const struct wait_import_request *request,
		       const struct wait_import_label *label, const struct import_spec *spec)
{
	struct transfer *transfer = xcalloc(1, sizeof(*transfer));
	const char *known = request->filename != NULL ? request->filename : label->name;
	struct err err;

	transfer->waits = waits;
	transfer->number = ++waits->last_number;
	transfer->session = request->session;
	transfer->folder = xstrdup(workspace_name(session_workspace(request->session)));
	transfer->source = xstrdup(request->source);
	transfer->filename = request->filename != NULL ? xstrdup(request->filename) : NULL;
	transfer->name = known != NULL ? xstrdup(known) : NULL;
	transfer->means = label->from;
	transfer->origin = label->origin != NULL ? xstrdup(label->origin) : NULL;
	transfer->overwrite = request->overwrite;
	transfer->total = -1;
	list_init(&transfer->waiting);
	list_init(&transfer->node);
	transfer->import = imports_start(waits->imports, spec, &transfer_handlers, transfer, &err);
	if (transfer->import == NULL) {
		transfer_free(transfer);
		tool_fail(request->call, waits->service, &err);
		return;
	}
	list_append(&waits->running, &transfer->node);
	session_touch(request->session);
	add_wait(transfer, request->call);
}

/* ---- life ---- */

void wait_import_end_folder(struct wait_import *waits, const char *folder)
{
	if (waits == NULL)
		return;
	list_for_each (struct transfer, transfer, &waits->ended, node)
		if (str_eq(transfer->folder, folder))
			transfer_free(transfer);
	list_for_each (struct transfer, transfer, &waits->running, node)
		if (str_eq(transfer->folder, folder))
			transfer->session = NULL;
	imports_end_folder(waits->imports, folder);
}

json_t *wait_import_describe(const struct wait_import *waits, const struct session *session)
{
	json_t *all = NULL;

	if (waits == NULL)
		return NULL;
	list_for_each (const struct transfer, transfer, &waits->running, node) {
		json_t *object;

		if (transfer->session != session || transfer->cancelled)
			continue;
		object = json_object();
		json_put_str(object, "path", imports_path(transfer->import));
		put_bytes(object, transfer);
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
		transfer_free(list_entry(waits->ended.next, struct transfer, node));
	imports_free(waits->imports);
	free(waits);
}
