/* SPDX-License-Identifier: MIT */
/*
 * queries.c - a set of helper processes (`link`), each with a queue of queries.
 *
 * The first query of a queue runs. A stop is first a request to the helper, which can
 * cancel at the database; after QUERIES_GRACE_MS the helper is killed, and the next query starts
 * another one. A process that was asked to stop never gets a further query. Files of a
 * failed query are removed here, since no answer names them.
 */
#include "query/queries.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "query/reply.h"
#include "sql/result_names.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

struct queries {
	struct loop *loop;
	char *program;
	struct list links;
	size_t link_count;
	json_int_t last_query;
};

/* A helper process for one folder and one database. */
struct link {
	struct list node;
	struct queries *queries;
	char *folder;
	json_t *database;
	int dir_fd;
	struct helper *helper; /* NULL before the first query */
	struct list waiting;   /* queries; the first one runs */
	bool running;
	bool ending; /* asked to stop: takes no further query */
	bool timed_out;
	struct loop_timer timer; /* of the deadline, the grace or the idle time */
};

struct query {
	struct list node;
	struct link *link;
	const struct query_handlers *handlers;
	void *data;
	json_t *request;
	json_int_t number;
	uint64_t timeout_ms;
	char *file;
	char *slow; /* why it takes so long; NULL: not reported */
};

static void start_next(struct link *link);
static void on_grace(struct loop_timer *timer);

/* ---- a query's end ---- */

static void query_free(struct query *query)
{
	list_remove(&query->node);
	json_decref(query->request);
	free(query->file);
	free(query->slow);
	free(query);
}

static bool remove_file(const struct link *link, char *path_own)
{
	cleanup_free char *path = path_own;
	const char *name;
	struct err err;
	cleanup_fd int dir = beneath_open_parent(link->dir_fd, path, &name, &err);

	return dir >= 0 && unlinkat(dir, name, 0) == 0;
}

/* Removes the files of a result that no answer names. */
static void remove_files(const struct link *link, const struct query *query)
{
	unsigned blob = 1;

	(void)remove_file(link, result_part_name(query->file));
	while (blob <= RESULT_BLOBS_MAX && remove_file(link, result_blob_name(query->file, blob)))
		blob++;
}

static void end_query(struct query *query, const json_t *answer, const struct err *err)
{
	const struct query_handlers *handlers = query->handlers;
	void *data = query->data;

	if (err != NULL)
		remove_files(query->link, query);
	query_free(query);
	handlers->done(data, answer, err);
}

static void link_free(struct link *link)
{
	loop_timer_stop(&link->timer);
	helper_free(link->helper);
	list_remove(&link->node);
	link->queries->link_count--;
	json_decref(link->database);
	fd_close(&link->dir_fd);
	free(link->folder);
	free(link);
}

/* Fails all queries of the process and frees it. */
static void link_fail(struct link *link, const struct err *err)
{
	/* Set before the callbacks, which may start further queries. */
	link->ending = true;
	loop_timer_stop(&link->timer);
	helper_free(link->helper);
	link->helper = NULL;
	while (!list_empty(&link->waiting))
		end_query(list_entry(link->waiting.next, struct query, node), NULL, err);
	link_free(link);
}

/* ---- replies ---- */

static void describe_end(const struct link *link, const struct query *query, struct err *err)
{
	if (link->timed_out)
		(void)err_set(
			err, ERR_TIMEOUT,
			"the query ran into its deadline of %ju s (PTYCELL_QUERY_TIMEOUT) and "
			"was stopped%s%s",
			(uintmax_t)(query->timeout_ms / 1000), query->slow != NULL ? "; " : "",
			query->slow != NULL ? query->slow : "");
	else if (link->ending)
		(void)err_set(err, ERR_CANCELLED, "the query was cancelled");
}

static void on_idle(struct loop_timer *timer)
{
	link_free(container_of(timer, struct link, timer));
}

static void query_over(struct link *link)
{
	struct loop *loop = link->queries->loop;

	link->running = false;
	/* If the stop came after the reply, the helper may wait for a request: it is killed. */
	if (link->ending)
		loop_timer_start(loop, &link->timer, loop_now(loop), on_grace);
	else if (!list_empty(&link->waiting))
		start_next(link);
	else
		loop_timer_start(loop, &link->timer, loop_now(loop) + QUERIES_IDLE_MS, on_idle);
}

static void on_helper_progress(struct helper *helper, const json_t *progress)
{
	struct link *link = helper_data(helper);
	struct query *query;
	struct query_reply reply;

	if (!link->running)
		return;
	query = list_entry(link->waiting.next, struct query, node);
	query_reply_read(progress, query->number, &reply);
	if (reply.kind == QUERY_REPLY_ROWS)
		query->handlers->progress(query->data, reply.rows);
	if (reply.kind == QUERY_REPLY_SLOW && query->slow == NULL)
		query->slow = xstrdup(reply.slow);
	if (reply.kind != QUERY_REPLY_ANSWER && reply.kind != QUERY_REPLY_FAILED)
		return;
	loop_timer_stop(&link->timer);
	if (reply.kind == QUERY_REPLY_FAILED)
		describe_end(link, query, &reply.err);
	end_query(query, reply.kind == QUERY_REPLY_ANSWER ? reply.answer : NULL,
		  reply.kind == QUERY_REPLY_FAILED ? &reply.err : NULL);
	query_over(link);
}

/* The helper ends by itself only after a failure or a stop. */
static void on_helper_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct link *link = helper_data(helper);
	struct err ended;

	(void)result;
	(void)err_set(&ended, ERR_INTERNAL, "%s; run the query again",
		      err != NULL ? err->msg : "ptycell-sql ended");
	if (err != NULL && err->code != ERR_INTERNAL)
		ended = *err;
	if (link->running)
		describe_end(link, list_entry(link->waiting.next, struct query, node), &ended);
	link->helper = NULL;
	helper_free(helper);
	if (list_empty(&link->waiting)) {
		link_free(link);
		return;
	}
	if (link->running) {
		link->running = false;
		end_query(list_entry(link->waiting.next, struct query, node), NULL, &ended);
	}
	link->ending = false;
	link->timed_out = false;
	loop_timer_stop(&link->timer);
	if (list_empty(&link->waiting))
		link_free(link);
	else
		start_next(link);
}

static const struct helper_handlers helper_handlers = { .progress = on_helper_progress,
							.done = on_helper_done };

/* ---- starting and stopping ---- */

static void on_grace(struct loop_timer *timer)
{
	struct link *link = container_of(timer, struct link, timer);

	on_helper_done(link->helper, NULL, NULL);
}

static void stop_running(struct link *link)
{
	if (link->ending)
		return;
	link->ending = true;
	helper_cancel(link->helper);
	loop_timer_start(link->queries->loop, &link->timer,
			 loop_now(link->queries->loop) + QUERIES_GRACE_MS, on_grace);
}

static void on_deadline(struct loop_timer *timer)
{
	struct link *link = container_of(timer, struct link, timer);

	link->timed_out = true;
	stop_running(link);
}

static int send_query(struct link *link, const struct query *query, struct err *err)
{
	struct helper_spec spec = { .path = link->queries->program,
				    .request = query->request,
				    .fds = &link->dir_fd,
				    .fd_count = 1 };

	if (link->helper != NULL) {
		helper_send(link->helper, query->request);
		return 0;
	}
	link->helper = helper_start(link->queries->loop, &spec, &helper_handlers, link, err);
	return link->helper != NULL ? 0 : -1;
}

static int start_first(struct link *link, struct err *err)
{
	const struct query *query = list_entry(link->waiting.next, struct query, node);

	link->running = true;
	if (send_query(link, query, err) < 0)
		return -1;
	loop_timer_start(link->queries->loop, &link->timer,
			 loop_now(link->queries->loop) + query->timeout_ms, on_deadline);
	return 0;
}

static void start_next(struct link *link)
{
	struct err err;

	if (start_first(link, &err) < 0)
		link_fail(link, &err);
}

static struct link *find_link(const struct queries *queries, const struct query_spec *spec)
{
	list_for_each (struct link, link, &queries->links, node)
		if (str_eq(link->folder, workspace_name(spec->workspace)) &&
		    json_equal(link->database, spec->database))
			return link;
	return NULL;
}

/* Makes room for one more process: frees the oldest idle one. */
static int make_room(struct queries *queries, struct err *err)
{
	if (queries->link_count < QUERIES_LINKS_MAX)
		return 0;
	list_for_each (struct link, link, &queries->links, node) {
		if (list_empty(&link->waiting)) {
			link_free(link);
			return 0;
		}
	}
	return err_set(err, ERR_BUSY, "%d queries run already: wait for one of them",
		       QUERIES_LINKS_MAX);
}

static struct link *link_new(struct queries *queries, const struct query_spec *spec,
			     struct err *err)
{
	struct link *link;
	int dir_fd;

	if (make_room(queries, err) < 0)
		return NULL;
	dir_fd = fd_dup(workspace_data_fd(spec->workspace), err);
	if (dir_fd < 0)
		return NULL;
	link = xcalloc(1, sizeof(*link));
	link->queries = queries;
	link->folder = xstrdup(workspace_name(spec->workspace));
	link->database = json_deep_copy(spec->database);
	link->dir_fd = dir_fd;
	list_init(&link->node);
	list_init(&link->waiting);
	list_append(&queries->links, &link->node);
	queries->link_count++;
	return link;
}

static json_t *make_request(const struct query *query, const struct query_spec *spec)
{
	json_t *request = json_object();

	json_put_int(request, "query", query->number);
	json_put(request, "database", json_deep_copy(spec->database));
	json_put(request, "sql", json_make_text(spec->sql, spec->sql_len));
	json_put(request, "params",
		 spec->params != NULL ? json_deep_copy(spec->params) : json_array());
	json_put_str(request, "result", spec->file);
	json_put_int(request, "inline_rows", (json_int_t)spec->inline_rows);
	json_put_int(request, "inline_bytes", (json_int_t)spec->inline_bytes);
	json_put_int(request, "rows_max", (json_int_t)spec->rows_max);
	json_put_int(request, "bytes_max", (json_int_t)spec->bytes_max);
	json_put_int(request, "timeout_ms", (json_int_t)spec->timeout_ms);
	return request;
}

struct query *queries_start(struct queries *queries, const struct query_spec *spec,
			    const struct query_handlers *handlers, void *data, struct err *err)
{
	struct link *link = find_link(queries, spec);
	struct query *query;

	if (link == NULL)
		link = link_new(queries, spec, err);
	if (link == NULL)
		return NULL;
	query = xcalloc(1, sizeof(*query));
	list_init(&query->node);
	query->link = link;
	query->handlers = handlers;
	query->data = data;
	query->number = ++queries->last_query;
	query->timeout_ms = spec->timeout_ms;
	query->file = xstrdup(spec->file);
	query->request = make_request(query, spec);
	list_append(&link->waiting, &query->node);
	if (link->running || link->ending || start_first(link, err) == 0)
		return query;
	query_free(query);
	link_free(link);
	return NULL;
}

void queries_cancel(struct query *query)
{
	struct link *link = query->link;
	struct err err;

	if (link->running && link->waiting.next == &query->node) {
		stop_running(link);
		return;
	}
	(void)err_set(&err, ERR_CANCELLED, "the query was cancelled");
	end_query(query, NULL, &err);
}

void queries_end_folder(struct queries *queries, const char *folder)
{
	struct err err;

	if (queries == NULL)
		return;
	(void)err_set(&err, ERR_CANCELLED, "the session ended meanwhile");
	list_for_each (struct link, link, &queries->links, node)
		if (str_eq(link->folder, folder))
			link_fail(link, &err);
}

struct queries *queries_new(struct loop *loop, const char *program)
{
	struct queries *queries = xcalloc(1, sizeof(*queries));

	queries->loop = loop;
	queries->program = xstrdup(program);
	list_init(&queries->links);
	return queries;
}

void queries_free(struct queries *queries)
{
	if (queries == NULL)
		return;
	while (!list_empty(&queries->links))
		link_free(list_entry(queries->links.next, struct link, node));
	free(queries->program);
	free(queries);
}
