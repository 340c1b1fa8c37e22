/* SPDX-License-Identifier: MIT */
/*
 * tool_sql.c - exec_sql: runs a query, and lets the same call wait for it again.
 *
 * A query outlives its call, and its result is kept for a while when no call waits. Equal arguments
 * in the same folder find it. The session may end before its query does: `session` is then NULL,
 * and the folder's name still distinguishes sessions of one id.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/history.h"
#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/random.h"
#include "confinement/confinement.h"
#include "json/make.h"
#include "query/databases.h"
#include "query/queries.h"
#include "query/query_text.h"
#include "query/result_table.h"
#include "redact/redact_json.h"
#include "runner/cell.h"
#include "session/restore.h"
#include "session/table.h"
#include "sql/result_names.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/sql_original.h"
#include "tools/sql_request.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

enum {
	INLINE_BYTES = 64 << 10, /* of rows in an answer, with the usual output_chars */
	USUAL_CHARS = 8000,
	TABLE_PARTS = 5, /* halves of `output_chars` for the values of a table */
	FILE_DIGITS = 8,
	MS = 1000,
	KEPT_MAX = 16,        /* results that no call has fetched, of all sessions */
	KEPT_MS = 600 * 1000, /* the longest time that one is kept */
};

/* A query, and the call that waits for it. */
struct sql_call {
	struct list node;      /* in service.sql_calls */
	struct mcp_call *call; /* NULL: no call waits */
	struct service *service;
	struct session *session;        /* lives as long as the query */
	struct query *query;            /* NULL: the query has ended */
	struct sql_original *originals; /* the query has ended; its files are copied. Or NULL */
	json_t *answer;                 /* of ptycell-sql, meanwhile */
	char *folder;                   /* of the session; its name is never used again */
	struct loop_timer budget_timer;
	json_t *arguments; /* that `request` points into */
	struct sql_request request;
	char *session_id;
	char *file;
	uint64_t output_chars;
	uint64_t number; /* among the session's cells */
	uint64_t started_ms;
	bool joined; /* a later call waits for it */
	/* Set when it ends while no call waits: */
	uint64_t ended_ms;
	json_t *result; /* NULL: `problem` is set */
	char *problem;
};

/* ---- the answer ---- */

static json_t *make_object(const struct sql_call *sql, const json_t *answer, const char *notice)
{
	const char *data_path = workspace_data_path(session_workspace(sql->session));
	json_t *object = json_object();

	json_put_str(object, "session_id", sql->session_id);
	json_put_int(object, "cell", (json_int_t)sql->number);
	json_put(object, "columns", result_table_copy_columns(json_object_get(answer, "columns")));
	json_put(object, "rows", result_table_copy_values(json_object_get(answer, "rows")));
	json_put(object, "row_count", json_incref(json_object_get(answer, "row_count")));
	if (json_is_true(json_object_get(answer, "truncated")))
		json_put_bool(object, "truncated", true);
	if (json_is_true(json_object_get(answer, "cut")))
		json_put_bool(object, "values_cut", true);
	if (json_is_integer(json_object_get(answer, "bytes"))) {
		json_put(object, "file_path", json_make_fmt("%s/%s", data_path, sql->file));
		json_put(object, "size_bytes", json_incref(json_object_get(answer, "bytes")));
	}
	if (json_integer_value(json_object_get(answer, "blobs")) > 0)
		json_put(object, "blob_files", json_incref(json_object_get(answer, "blobs")));
	if (json_array_size(json_object_get(answer, "notes")) > 0)
		json_put(object, "notes",
			 result_table_clean_texts(json_object_get(answer, "notes")));
	json_put_str(object, "notice", notice);
	return object;
}

static void answer_with_table(struct sql_call *sql, const struct buf *text, json_t *object_own,
			      const char *notice)
{
	json_t *content = json_array();

	if (notice != NULL)
		json_append(content, mcp_text(notice, strlen(notice)));
	json_append(content, mcp_text(buf_str(text), text->len));
	mcp_call_finish(sql->call, content, object_own, NULL, false);
}

static void report_file(const struct sql_call *sql, const char *file)
{
	session_file_placed(sql->session, file);
	changed_file(&sql->service->changed, sql->session_id, file);
}

static void report_files(const struct sql_call *sql, const json_t *answer)
{
	json_int_t blobs = json_integer_value(json_object_get(answer, "blobs"));

	if (json_is_integer(json_object_get(answer, "bytes")))
		report_file(sql, sql->file);
	for (unsigned i = 1; i <= (unsigned)blobs; i++) {
		cleanup_free char *blob = result_blob_name(sql->file, i);

		report_file(sql, blob);
	}
}

static uint64_t now_ms(const struct sql_call *sql)
{
	return loop_now(sql->service->loop);
}

static char *make_notice(const struct sql_call *sql)
{
	char *due = session_take_notice(sql->session);
	char *notice;

	if (!sql->joined)
		return due;
	notice =
		xasprintf("This is the query of cell %ju, which began %ju s ago: what was changed "
			  "since is not in it. The same call once more runs it anew.%s%s",
			  (uintmax_t)sql->number, (uintmax_t)((now_ms(sql) - sql->started_ms) / MS),
			  due != NULL ? "\n" : "", due != NULL ? due : "");
	free(due);
	return notice;
}

static void answer_call(struct sql_call *sql, const json_t *answer, const struct buf *text)
{
	cleanup_free char *notice = make_notice(sql);
	json_t *object = make_object(sql, answer, notice);

	if (sql->service->settings->results == RESULTS_JSON)
		tool_answer(sql->call, sql->service, object);
	else
		answer_with_table(sql, text, object, notice);
}

/* ---- the journal ---- */

static const char *state_of(const struct err *err)
{
	if (err == NULL)
		return cell_state_name(CELL_DONE);
	if (err->code == ERR_CANCELLED)
		return cell_state_name(CELL_INTERRUPTED);
	return cell_state_name(err->code == ERR_TIMEOUT ? CELL_TIMED_OUT : CELL_RAISED);
}

static const char *database_of(const struct sql_call *sql, const json_t *names)
{
	const char *named = sql->request.database;

	return named != NULL ? named : json_string_value(json_array_get(names, 0));
}

static void record_query(const struct sql_call *sql, const json_t *answer, const struct err *err,
			 const struct buf *text)
{
	cleanup_json json_t *names = databases_list(sql->service->settings);
	const struct history_query query = {
		.session = sql->session,
		.session_id = sql->session_id,
		.number = sql->number,
		.database = database_of(sql, names),
		.sql = sql->request.query,
		.sql_len = sql->request.query_len,
		.params = sql->request.params,
		.state = state_of(err),
		.ms = now_ms(sql) - sql->started_ms,
		.answer = answer,
		.file = sql->file,
		.text = answer != NULL ? buf_str(text) : "",
		.text_len = answer != NULL ? text->len : 0,
		.problem = err != NULL ? buf_str(text) : NULL,
	};

	history_add_query(sql->service->history, &query);
}

/* ---- while it runs ---- */

static void on_query_progress(void *data, uint64_t rows)
{
	struct sql_call *sql = data;
	cleanup_free char *message = xasprintf("%ju rows", (uintmax_t)rows);

	if (sql->call != NULL)
		mcp_call_progress(sql->call, (double)rows, -1, message);
}

/* Returns whether the session still takes calls. One that ends goes on for a while (table_end.c).
 */
static bool is_alive(const struct sql_call *sql)
{
	struct table *table = sql->service->table;
	struct err err;

	return table != NULL && table_find(table, sql->session_id, &err) == sql->session;
}

static void sql_free(struct sql_call *sql)
{
	loop_timer_stop(&sql->budget_timer);
	sql_original_end(sql->originals, false);
	list_remove(&sql->node);
	json_decref(sql->arguments);
	json_decref(sql->answer);
	json_decref(sql->result);
	free(sql->problem);
	free(sql->folder);
	free(sql->session_id);
	free(sql->file);
	free(sql);
}

/* Takes the secrets out before line ends become blanks and long values are cut. */
static json_t *without_secrets(const struct sql_call *sql, const json_t *result)
{
	const struct redact *redact = sql->service->settings->redact;
	json_t *safe = json_deep_copy(result);

	redact_json(safe, redact);
	return safe;
}

static bool is_over(const struct sql_call *sql)
{
	return sql->query == NULL && sql->originals == NULL;
}

/* Frees the oldest result when there are too many. */
static void drop_oldest(struct list *calls)
{
	struct sql_call *oldest = NULL;
	size_t kept = 0;

	list_for_each (struct sql_call, sql, calls, node) {
		if (!is_over(sql))
			continue;
		kept++;
		if (oldest == NULL || sql->ended_ms < oldest->ended_ms)
			oldest = sql;
	}
	if (kept > KEPT_MAX)
		sql_free(oldest);
}

/* Keeps the result for the same call. */
static void keep_result(struct sql_call *sql, const json_t *result, const struct buf *text)
{
	sql->ended_ms = now_ms(sql);
	if (result != NULL)
		sql->result = json_deep_copy(result);
	else
		sql->problem = xstrdup(buf_str(text));
	drop_oldest(&sql->service->sql_calls);
}

static size_t table_chars(const struct sql_call *sql)
{
	return size_min((size_t)sql->output_chars * TABLE_PARTS / 2, INLINE_BYTES);
}

static int set_over(struct err *err)
{
	return err_set(err, ERR_CANCELLED, "the session ended meanwhile");
}

/*
 * Answers the call, or keeps the result for it. One of `answer` and `err` is NULL. A result that
 * came as the session ends is none: its files go with the session.
 */
static void end_sql(struct sql_call *sql, json_t *answer, const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err over;

	if (is_alive(sql)) {
		session_release_hold(sql->session);
	} else {
		sql->session = NULL;
		answer = NULL;
		if (err == NULL && set_over(&over) < 0)
			err = &over;
	}
	if (err != NULL) {
		sanitize_block(&text, err->msg, strlen(err->msg));
		sql_request_put_databases(&sql->request, sql->service->settings, err, &text);
	} else {
		query_text_put(&text, answer, sql->file, table_chars(sql));
	}
	if (sql->call != NULL && err != NULL)
		tool_fail_text(sql->call, sql->service, buf_str(&text));
	else if (sql->call != NULL)
		answer_call(sql, answer, &text);
	record_query(sql, answer, err, &text);
	sql_original_end(mem_steal(&sql->originals), err == NULL);
	(void)json_object_del(answer, "more");
	if (sql->call == NULL && sql->session != NULL)
		keep_result(sql, answer, &text);
	else
		sql_free(sql);
}

static void on_originals_done(void *data)
{
	struct sql_call *sql = data;
	cleanup_json json_t *answer = mem_steal(&sql->answer);

	end_sql(sql, answer, NULL);
}

static void on_query_done(void *data, const json_t *result, const struct err *err)
{
	struct sql_call *sql = data;
	cleanup_json json_t *answer = NULL;
	struct sql_files files;

	sql->query = NULL;
	if (err != NULL || !is_alive(sql)) {
		end_sql(sql, NULL, err);
		return;
	}
	answer = without_secrets(sql, result);
	/* Now: the scan at the end of a cell would take them for files of that cell. */
	report_files(sql, answer);
	files = (struct sql_files){ .answer = answer, .name = sql->file, .cell = sql->number };
	sql->originals =
		sql_original_start(sql->service, sql->session, &files, on_originals_done, sql);
	if (sql->originals != NULL)
		sql->answer = mem_steal(&answer);
	else
		end_sql(sql, answer, NULL);
}

static const struct query_handlers sql_handlers = { .progress = on_query_progress,
						    .done = on_query_done };

static void on_sql_cancel(struct mcp_call *call, void *data)
{
	struct sql_call *sql = data;

	loop_timer_stop(&sql->budget_timer);
	/* After the query only its files are still copied, and the result is kept. */
	if (sql->query != NULL && !mcp_call_is_deserted(call)) {
		queries_cancel(sql->query);
		return;
	}
	sql->call = NULL;
	mcp_call_fail(call, "cancelled");
}

static void on_query_budget_over(struct loop_timer *timer)
{
	struct sql_call *sql = container_of(timer, struct sql_call, budget_timer);
	struct mcp_call *call = sql->call;
	json_t *object = json_object();

	sql->call = NULL;
	json_put_str(object, "session_id", sql->session_id);
	json_put_int(object, "cell", (json_int_t)sql->number);
	json_put_str(object, "state", "running");
	if (sql->service->settings->results == RESULTS_JSON)
		json_put_str(object, "status", "running");
	json_put(object, "message",
		 json_make_fmt("There is no answer after %ju s. The query may run for %ju s "
			       "(PTYCELL_QUERY_TIMEOUT). When it has ended, the files that it "
			       "made are copied. To wait for the answer, call exec_sql again with "
			       "the same arguments.",
			       (uintmax_t)((now_ms(sql) - sql->started_ms) / MS),
			       (uintmax_t)sql->service->settings->query_timeout));
	tool_answer(call, sql->service, object);
}

static void wait_for_query(struct sql_call *sql, struct mcp_call *call)
{
	uint64_t budget_ms = sql->service->settings->call_budget * MS;

	sql->call = call;
	mcp_call_on_cancel(call, on_sql_cancel, sql);
	loop_timer_start(sql->service->loop, &sql->budget_timer, now_ms(sql) + budget_ms,
			 on_query_budget_over);
}

static const struct shares *shares_of(struct service *service)
{
	const struct confinement *confinement = service_confinement(service);

	return confinement != NULL ? confinement_facts(confinement).shares : NULL;
}

static uint64_t inline_bytes(const struct sql_call *sql)
{
	return size_min(INLINE_BYTES * sql->output_chars / USUAL_CHARS, INLINE_BYTES);
}

/* Returns the maximum of a result's file. A result in the answer needs no room on disk. */
static uint64_t bytes_max(const struct session *session)
{
	uint64_t room = session_disk_room(session);
	uint64_t most = session_limits(session)->file_max;

	if (room < INLINE_BYTES)
		room = INLINE_BYTES;
	return room < most ? room : most;
}

static int start_query(struct sql_call *sql, struct err *err)
{
	const struct settings *settings = sql->service->settings;
	const struct session_limits *limits = session_limits(sql->session);
	struct queries *queries = service_queries(sql->service, err);
	struct query_spec spec = {
		.workspace = session_workspace(sql->session),
		.params = sql->request.params,
		.sql = sql->request.query,
		.sql_len = sql->request.query_len,
		.file = sql->file,
		.inline_rows = limits->sql_inline_rows,
		.inline_bytes = inline_bytes(sql),
		.rows_max = settings->query_rows_max,
		.bytes_max = bytes_max(sql->session),
		.timeout_ms = settings->query_timeout * MS,
	};
	cleanup_json json_t *database = NULL;

	if (queries == NULL)
		return -1;
	database = databases_find(settings, shares_of(sql->service), sql->request.database,
				  workspace_data_path(spec.workspace), err);
	if (database == NULL)
		return -1;
	spec.database = database;
	sql->query = queries_start(queries, &spec, &sql_handlers, sql, err);
	if (sql->query == NULL)
		return -1;
	session_hold(sql->session);
	sql->number = session_take_number(sql->session);
	history_begin_query(sql->service->history, sql->session, sql->number, sql->request.query,
			    sql->request.query_len);
	return 0;
}

static struct sql_call *sql_new(struct mcp_call *call, struct service *service,
				struct session *session)
{
	struct sql_call *sql = xcalloc(1, sizeof(*sql));
	char random[FILE_DIGITS + 1];

	random_hex(random, FILE_DIGITS);
	sql->call = call;
	sql->service = service;
	sql->session = session;
	list_init(&sql->node);
	sql->folder = xstrdup(workspace_name(session_workspace(session)));
	sql->session_id = xstrdup(session_id(session));
	sql->file = xasprintf("input/sql_result_%s.csv", random);
	sql->output_chars = session_limits(session)->output_chars;
	sql->started_ms = now_ms(sql);
	return sql;
}

/* ---- the same call once more ---- */

static struct sql_call *find_unattended(struct service *service, const struct session *session,
					const json_t *arguments)
{
	const char *folder = workspace_name(session_workspace(session));
	struct list *calls = &service->sql_calls;

	list_for_each (struct sql_call, sql, calls, node)
		if (sql->call == NULL && str_eq(sql->folder, folder) &&
		    json_equal(sql->arguments, arguments))
			return sql;
	return NULL;
}

/* Returns whether the result still holds. Code may have removed its file. */
static bool is_still_true(const struct sql_call *sql)
{
	struct err err;
	off_t size;
	cleanup_fd int fd = -1;

	if (now_ms(sql) - sql->ended_ms > KEPT_MS)
		return false;
	if (!json_is_integer(json_object_get(sql->result, "bytes")))
		return true;
	fd = workspace_open_read(session_workspace(sql->session), sql->file, &size, &err);
	return fd >= 0;
}

static void answer_ended(struct sql_call *sql)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (sql->result != NULL) {
		query_text_put(&text, sql->result, sql->file, table_chars(sql));
		answer_call(sql, sql->result, &text);
		return;
	}
	buf_putf(&text, "%s (That was the query of the earlier call. Call again to run it again.)",
		 sql->problem);
	tool_fail_text(sql->call, sql->service, buf_str(&text));
}

/* Returns whether the query exists: then the call waits for it, or is answered. */
static bool join_query(struct service *service, struct session *session, struct mcp_call *call,
		       const json_t *arguments)
{
	struct sql_call *sql = find_unattended(service, session, arguments);
	bool still_true = true;

	if (sql == NULL)
		return false;
	sql->joined = true;
	if (!is_over(sql)) {
		wait_for_query(sql, call);
		return true;
	}
	still_true = is_still_true(sql);
	sql->call = call;
	if (still_true)
		answer_ended(sql);
	sql_free(sql);
	return still_true;
}

void tool_sql_end_folder(struct list *calls, const char *name)
{
	struct err err;

	(void)set_over(&err);
	list_for_each (struct sql_call, sql, calls, node)
		if (sql->originals != NULL && str_eq(sql->folder, name))
			end_sql(sql, NULL, &err);
}

void tool_sql_forget(struct list *calls)
{
	while (!list_empty(calls))
		sql_free(list_entry(calls->next, struct sql_call, node));
}

void tool_exec_sql(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct sql_request request = { .query = NULL };
	struct sql_call *sql;
	struct session *session;
	struct err err;

	/* A new session has no files to query: a mistyped id must not make one. */
	if (sql_request_read(service, arguments, &request, &err) < 0 ||
	    (session = tool_session(service, arguments,
				    databases_is_named(service->settings, request.database),
				    &err)) == NULL ||
	    session_restore_check(session, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	session_touch(session);
	if (join_query(service, session, call, arguments) || tool_audit_refused(call, service))
		return;
	sql = sql_new(call, service, session);
	sql->arguments = json_incref(arguments);
	sql->request = request;
	if (start_query(sql, &err) < 0) {
		tool_fail(call, service, &err);
		sql_free(sql);
		return;
	}
	list_append(&service->sql_calls, &sql->node);
	wait_for_query(sql, call);
}
