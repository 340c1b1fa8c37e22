/* SPDX-License-Identifier: MIT */
#include "tools/wait_upload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answer/audited.h"
#include "answer/auditor.h"
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

struct wait_upload {
	struct service *service;
	struct imports *intakes;
	struct list running;
	struct list ended; /* the oldest first */
};

/* A file on its way, or one that ended while no call waited. */
struct arrival {
	struct list node;
	struct wait_upload *arrivals;
	struct session *session; /* NULL: it is ending */
	char *folder;
	char *source;
	char *filename;    /* or NULL */
	char *name;        /* for people; NULL: nobody knows */
	const char *means; /* "url" or "path" */
	char *origin;      /* for the audit, or NULL */
	bool overwrite;
	bool cancelled;
	struct list waiting;
	struct intake *intake; /* NULL: it ended */
	uint64_t bytes;
	int64_t total; /* -1: nobody knows */
	/* Once it ended: */
	uint64_t ended_ms;
	char *problem; /* or what follows */
	char *path;
	char *type;
	char *from;
	uint64_t size;
};

/* A call that waits for it. */
struct wait {
	struct list node;
	struct arrival *arrival;
	struct mcp_call *call;
	struct loop_timer patience;
};

static struct loop *loop_of(const struct wait_upload *arrivals)
{
	return arrivals->service->loop;
}

static void arrival_free(struct arrival *arrival)
{
	list_remove(&arrival->node);
	free(arrival->folder);
	free(arrival->source);
	free(arrival->filename);
	free(arrival->name);
	free(arrival->origin);
	free(arrival->problem);
	free(arrival->path);
	free(arrival->type);
	free(arrival->from);
	free(arrival);
}

static void wait_free(struct wait *wait)
{
	loop_timer_stop(&wait->patience);
	list_remove(&wait->node);
	free(wait);
}

/* ---- answers ---- */

void wait_upload_report_file(struct service *service, struct session *session, const char *path)
{
	session_touch(session);
	session_file_placed(session, path);
	changed_file(&service->changed, session_id(session), path);
}

json_t *wait_upload_answer(struct session *session, const char *path, uint64_t size)
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

static void answer_end(const struct arrival *arrival, struct mcp_call *call)
{
	struct service *service = arrival->arrivals->service;
	json_t *answer;

	if (arrival->problem != NULL) {
		tool_fail_text(call, service, arrival->problem);
		return;
	}
	answer = wait_upload_answer(arrival->session, arrival->path, arrival->size);
	json_put_str(answer, "mime_type", arrival->type);
	json_put_str(answer, "source", arrival->from);
	tool_answer(call, service, answer);
}

static void put_bytes(json_t *object, const struct arrival *arrival)
{
	json_put_int(object, "received_bytes", (json_int_t)arrival->bytes);
	if (arrival->total >= 0)
		json_put_int(object, "total_bytes", (json_int_t)arrival->total);
}

static char *say_bytes(const struct arrival *arrival)
{
	if (arrival->total < 0)
		return xasprintf("%.1f MB are here", (double)arrival->bytes / MB);
	return xasprintf("%.1f of %.1f MB are here", (double)arrival->bytes / MB,
			 (double)arrival->total / MB);
}

static void answer_late(const struct arrival *arrival, struct mcp_call *call)
{
	cleanup_free char *here = say_bytes(arrival);
	cleanup_free char *notice = session_take_notice(arrival->session);
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(arrival->session));
	json_put_str(answer, "state", "running");
	if (arrival->arrivals->service->settings->results == RESULTS_JSON)
		json_put_str(answer, "status", "running");
	put_bytes(answer, arrival);
	json_put(answer, "message",
		 json_make_fmt("Still on its way: %s. It comes on by itself; code may run "
			       "meanwhile and sees the file when it is whole. To wait for it call "
			       "upload_file again with the same arguments.",
			       here));
	json_put_str(answer, "notice", notice);
	tool_answer(call, arrival->arrivals->service, answer);
}

/* ---- waiting ---- */

static void on_patience(struct loop_timer *timer)
{
	struct wait *wait = container_of(timer, struct wait, patience);

	answer_late(wait->arrival, wait->call);
	wait_free(wait);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct wait *wait = data;
	struct arrival *arrival = wait->arrival;

	wait_free(wait);
	mcp_call_fail(call, "cancelled");
	if (!list_empty(&arrival->waiting))
		return;
	arrival->cancelled = true;
	imports_cancel(arrival->intake);
}

static void add_wait(struct arrival *arrival, struct mcp_call *call)
{
	struct service *service = arrival->arrivals->service;
	struct loop *loop = service->loop;
	struct wait *wait = xcalloc(1, sizeof(*wait));

	wait->arrival = arrival;
	wait->call = call;
	list_init(&wait->node);
	list_append(&arrival->waiting, &wait->node);
	mcp_call_on_cancel(call, on_cancel, wait);
	loop_timer_start(loop, &wait->patience,
			 loop_now(loop) + service->settings->call_budget * 1000, on_patience);
}

/* ---- ends ---- */

static char *make_notice(const struct arrival *arrival)
{
	cleanup_free char *name = sanitize_quote(arrival->name != NULL ? arrival->name : "a file");

	return arrival->problem != NULL
		       ? xasprintf("upload_file of %s failed: %s", name, arrival->problem)
		       : xasprintf("upload_file is done: code finds '%s'.", arrival->path);
}

static void add_notice(const struct arrival *arrival)
{
	cleanup_free char *text = make_notice(arrival);

	session_add_notice(arrival->session, text);
}

/* Takes `lines` out of `text`, which has whole lines of ours. */
static void cut_lines(char *text, const char *lines)
{
	size_t len = strlen(lines);

	for (char *at = text; (at = strstr(at, lines)) != NULL; at++) {
		char *end = at + len;

		if ((at > text && at[-1] != '\n') || (*end != '\0' && *end != '\n'))
			continue;
		if (*end == '\n')
			end++;
		else if (at > text)
			at--;
		memmove(at, end, strlen(end) + 1);
		return;
	}
}

/* The same call asks for it: what that is answered is not told once more. */
static void drop_notice(const struct arrival *arrival)
{
	cleanup_free char *due = session_take_notice(arrival->session);
	cleanup_free char *ours = make_notice(arrival);

	if (due == NULL)
		return;
	cut_lines(due, ours);
	if (due[0] != '\0')
		session_add_notice(arrival->session, due);
}

/* The oldest goes when there is one too many. */
static void keep_ended(struct arrival *arrival)
{
	struct list *ended = &arrival->arrivals->ended;

	list_append(ended, &arrival->node);
	if (list_len(ended) > WAIT_UPLOAD_ENDED_MAX)
		arrival_free(list_entry(ended->next, struct arrival, node));
}

static void record_end(const struct arrival *arrival)
{
	struct history *history = arrival->arrivals->service->history;

	if (arrival->session != NULL)
		audited_upload(auditor_audited(history_auditor(history)), arrival->session,
			       &(struct audited_upload){ .from = arrival->means,
							 .source = arrival->origin,
							 .path = arrival->path,
							 .problem = arrival->problem,
							 .size = arrival->size });
}

static void take_end(struct arrival *arrival, const struct intake_result *result,
		     const struct err *err)
{
	arrival->intake = NULL;
	list_remove(&arrival->node);
	arrival->ended_ms = loop_now(loop_of(arrival->arrivals));
	if (err != NULL) {
		cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

		sanitize_block(&clean, err->msg, strlen(err->msg));
		arrival->problem = buf_steal(&clean);
		record_end(arrival);
		return;
	}
	arrival->path = xstrdup(result->path);
	arrival->type = result->type != NULL ? xstrdup(result->type) : NULL;
	arrival->from = result->from != NULL ? xstrdup(result->from) : NULL;
	arrival->size = result->size;
	record_end(arrival);
	wait_upload_report_file(arrival->arrivals->service, arrival->session, arrival->path);
}

static void on_done(void *data, const struct intake_result *result, const struct err *err)
{
	struct arrival *arrival = data;
	bool awaited = !list_empty(&arrival->waiting);
	struct list *node;
	struct list *next;

	take_end(arrival, result, err);
	list_for_each (node, next, &arrival->waiting) {
		struct wait *wait = list_entry(node, struct wait, node);
		struct mcp_call *call = wait->call;

		wait_free(wait);
		answer_end(arrival, call);
	}
	if (awaited || arrival->session == NULL || arrival->cancelled) {
		arrival_free(arrival);
		return;
	}
	add_notice(arrival);
	keep_ended(arrival);
}

static void on_progress(void *data, uint64_t bytes, int64_t total)
{
	struct arrival *arrival = data;
	cleanup_free char *message = xasprintf("%.1f MB", (double)bytes / MB);

	arrival->bytes = bytes;
	arrival->total = total;
	session_touch(arrival->session);
	for (struct list *node = arrival->waiting.next; node != &arrival->waiting;
	     node = node->next)
		mcp_call_progress(list_entry(node, struct wait, node)->call, (double)bytes,
				  (double)total, message);
}

static const struct intake_handlers handlers = { .progress = on_progress, .done = on_done };

/* ---- finding and starting ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && str_eq(a, b));
}

static struct arrival *find(const struct list *list, const struct upload_request *request)
{
	for (struct list *node = list->next; node != list; node = node->next) {
		struct arrival *arrival = list_entry(node, struct arrival, node);

		if (arrival->session == request->session && !arrival->cancelled &&
		    arrival->overwrite == request->overwrite &&
		    str_eq(arrival->source, request->source) &&
		    same_text(arrival->filename, request->filename))
			return arrival;
	}
	return NULL;
}

/* Is what ended still worth telling? Code may have removed or changed the file since. */
static bool stands(const struct arrival *arrival)
{
	int folder = workspace_data_fd(session_workspace(arrival->session));
	cleanup_fd int fd = -1;
	struct stat st;

	if (loop_now(loop_of(arrival->arrivals)) - arrival->ended_ms > WAIT_UPLOAD_ENDED_MS)
		return false;
	if (arrival->problem != NULL)
		return true;
	fd = beneath_open(folder, arrival->path, O_PATH, 0);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == arrival->size;
}

/* It ended after a call for it had been answered, and before this one. */
static void answer_ended(const struct arrival *arrival, struct mcp_call *call)
{
	struct service *service = arrival->arrivals->service;
	cleanup_free char *text = NULL;

	if (arrival->problem == NULL) {
		answer_end(arrival, call);
		return;
	}
	text = xasprintf("%s (That was the transfer of the earlier call. Call again to try again.)",
			 arrival->problem);
	tool_fail_text(call, service, text);
}

bool wait_upload_join(struct wait_upload *arrivals, const struct upload_request *request)
{
	struct arrival *arrival = find(&arrivals->running, request);
	bool told;

	if (arrival != NULL) {
		session_touch(arrival->session);
		add_wait(arrival, request->call);
		return true;
	}
	arrival = find(&arrivals->ended, request);
	if (arrival == NULL)
		return false;
	session_touch(arrival->session);
	drop_notice(arrival);
	told = stands(arrival);
	if (told)
		answer_ended(arrival, request->call);
	arrival_free(arrival);
	return told;
}

void wait_upload_start(struct wait_upload *arrivals, const struct upload_request *request,
		       const struct upload_label *told, const struct intake_spec *spec)
{
	struct arrival *arrival = xcalloc(1, sizeof(*arrival));
	const char *known = request->filename != NULL ? request->filename : told->name;
	struct err err;

	arrival->arrivals = arrivals;
	arrival->session = request->session;
	arrival->folder = xstrdup(workspace_name(session_workspace(request->session)));
	arrival->source = xstrdup(request->source);
	arrival->filename = request->filename != NULL ? xstrdup(request->filename) : NULL;
	arrival->name = known != NULL ? xstrdup(known) : NULL;
	arrival->means = told->from;
	arrival->origin = told->origin != NULL ? xstrdup(told->origin) : NULL;
	arrival->overwrite = request->overwrite;
	arrival->total = -1;
	list_init(&arrival->waiting);
	list_init(&arrival->node);
	arrival->intake = imports_start(arrivals->intakes, spec, &handlers, arrival, &err);
	if (arrival->intake == NULL) {
		arrival_free(arrival);
		tool_fail(request->call, arrivals->service, &err);
		return;
	}
	list_append(&arrivals->running, &arrival->node);
	session_touch(request->session);
	add_wait(arrival, request->call);
}

/* ---- life ---- */

void wait_upload_end_folder(struct wait_upload *arrivals, const char *folder)
{
	struct list *node;
	struct list *next;

	if (arrivals == NULL)
		return;
	list_for_each (node, next, &arrivals->ended) {
		struct arrival *arrival = list_entry(node, struct arrival, node);

		if (str_eq(arrival->folder, folder))
			arrival_free(arrival);
	}
	list_for_each (node, next, &arrivals->running) {
		struct arrival *arrival = list_entry(node, struct arrival, node);

		if (str_eq(arrival->folder, folder))
			arrival->session = NULL;
	}
	imports_end_folder(arrivals->intakes, folder);
}

json_t *wait_upload_describe(const struct wait_upload *arrivals, const struct session *session)
{
	json_t *all = NULL;

	if (arrivals == NULL)
		return NULL;
	for (struct list *node = arrivals->running.next; node != &arrivals->running;
	     node = node->next) {
		const struct arrival *arrival = list_entry(node, struct arrival, node);
		json_t *object;

		if (arrival->session != session || arrival->cancelled)
			continue;
		object = json_object();
		json_put_str(object, "path", imports_path(arrival->intake));
		put_bytes(object, arrival);
		all = all != NULL ? all : json_array();
		json_append(all, object);
	}
	return all;
}

struct wait_upload *wait_upload_new(struct service *service)
{
	struct wait_upload *arrivals = xcalloc(1, sizeof(*arrivals));

	arrivals->service = service;
	arrivals->intakes = imports_new(loop_of(arrivals));
	list_init(&arrivals->running);
	list_init(&arrivals->ended);
	return arrivals;
}

void wait_upload_free(struct wait_upload *arrivals)
{
	if (arrivals == NULL)
		return;
	while (!list_empty(&arrivals->ended))
		arrival_free(list_entry(arrivals->ended.next, struct arrival, node));
	imports_free(arrivals->intakes);
	free(arrivals);
}
