/* SPDX-License-Identifier: MIT */
/* tool_sql.c - exec_sql. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "json/get.h"
#include "json/make.h"
#include "json/redact.h"
#include "session/cell.h"
#include "session/confinement.h"
#include "session/table.h"
#include "sql/result.h"
#include "text/clean.h"
#include "tools/databases.h"
#include "tools/history.h"
#include "tools/queries.h"
#include "tools/readline.h"
#include "tools/rows.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

enum { INLINE_BYTES = 64 << 10, NOTE_MAX = 500, FILE_DIGITS = 8, MS = 1000, KB = 1024 };

struct sql_request {
	const char *query;
	size_t query_len;
	json_t *params;
	const char *database;
};

struct sql_call {
	struct mcp_call *call;
	struct service *service;
	struct session *session; /* lives as long as the query */
	struct query *query;
	json_t *arguments; /* that `request` points into */
	struct sql_request request;
	char *session_id;
	char *file;
	uint64_t number; /* among the session's cells */
	uint64_t started_ms;
};

static int check_params(const json_t *params, struct err *err)
{
	size_t index;
	const json_t *value;

	json_array_foreach (params, index, value)
		if (json_is_object(value) || json_is_array(value))
			return err_set(
				err, ERR_INVALID,
				"arguments.params[%zu] must be a text, a number, true, false "
				"or null",
				index);
	return 0;
}

static int read_request(const struct service *service, json_t *arguments, struct sql_request *ret,
			struct err *err)
{
	static const char *const known[] = { "session_id", "query", "params", "database" };

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    json_get_required(arguments, "arguments", "session_id", err) < 0 ||
	    json_get_required(arguments, "arguments", "query", err) < 0 ||
	    json_get_text(arguments, "arguments", "query", &ret->query, &ret->query_len, err) < 0 ||
	    json_get_array(arguments, "arguments", "params", &ret->params, err) < 0 ||
	    json_get_text(arguments, "arguments", "database", &ret->database, NULL, err) < 0)
		return -1;
	return check_params(ret->params, err);
}

/* ---- the answer ---- */

static void put_size(struct buf *out, json_int_t bytes)
{
	if (bytes < (json_int_t)KB * KB)
		buf_putf(out, "%.1f KB", (double)bytes / KB);
	else
		buf_putf(out, "%.1f MB", (double)bytes / KB / KB);
}

static void put_file(struct buf *out, const struct sql_call *sql, const json_t *answer)
{
	bool cut = json_is_true(json_object_get(answer, "truncated"));

	buf_putf(out, "(the first %zu rows%s; %s%lld rows are in %s, ",
		 json_array_size(json_object_get(answer, "rows")),
		 json_is_true(json_object_get(answer, "cut")) ? ", long values cut" : "",
		 cut ? "only the first " : "all ",
		 (long long)json_integer_value(json_object_get(answer, "row_count")), sql->file);
	put_size(out, json_integer_value(json_object_get(answer, "bytes")));
	buf_puts(out, ")\n");
	readline_put(out, json_object_get(answer, "columns"), sql->file);
}

static void put_notes(struct buf *out, const json_t *notes)
{
	size_t index;
	const json_t *note;

	json_array_foreach (notes, index, note) {
		buf_puts(out, "\nNote: ");
		clean_line(out, json_string_value(note), json_string_length(note), NOTE_MAX);
	}
}

/* What stands under the table. */
static char *make_summary(const struct sql_call *sql, const json_t *answer)
{
	json_int_t rows = json_integer_value(json_object_get(answer, "row_count"));
	json_int_t blobs = json_integer_value(json_object_get(answer, "blobs"));
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (json_is_integer(json_object_get(answer, "bytes")))
		put_file(&out, sql, answer);
	else
		buf_putf(&out, "(%lld row%s)", (long long)rows, rows == 1 ? "" : "s");
	if (blobs > 0)
		buf_putf(&out, "\n%lld large binary value%s: path%s in the working folder",
			 (long long)blobs, blobs == 1 ? " is a file" : "s are files",
			 blobs == 1 ? "" : "s");
	put_notes(&out, json_object_get(answer, "notes"));
	return buf_steal(&out);
}

static json_t *make_object(const struct sql_call *sql, const json_t *answer, const char *notice)
{
	const char *data_path = workspace_data_path(session_workspace(sql->session));
	json_t *object = json_object();

	json_put_str(object, "session_id", sql->session_id);
	json_put_int(object, "cell", (json_int_t)sql->number);
	json_put(object, "columns", rows_copy_columns(json_object_get(answer, "columns")));
	json_put(object, "rows", rows_copy_values(json_object_get(answer, "rows")));
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
		json_put(object, "notes", rows_clean_texts(json_object_get(answer, "notes")));
	json_put_str(object, "notice", notice);
	return object;
}

static void put_text(struct buf *out, const struct sql_call *sql, const json_t *answer)
{
	cleanup_free char *summary = make_summary(sql, answer);
	size_t chars;
	size_t cut = rows_put_table(out, json_object_get(answer, "columns"),
				    json_object_get(answer, "rows"), &chars);

	if (cut > 0)
		buf_putf(out,
			 "(%zu value%s cut to %zu characters here; substr(COLUMN, %zu) gives the "
			 "rest of one)\n",
			 cut, cut == 1 ? " is" : "s are", chars, chars + 1);
	buf_puts(out, summary);
}

static void answer_table(struct sql_call *sql, const struct buf *text, json_t *object_own,
			 const char *notice)
{
	json_t *content = json_array();

	if (notice != NULL)
		json_append(content, mcp_text(notice, strlen(notice)));
	json_append(content, mcp_text(buf_str(text), text->len));
	mcp_call_finish(sql->call, content, object_own, NULL, false);
}

static void tell_file(const struct sql_call *sql, const char *file)
{
	session_file_placed(sql->session, file);
	service_file_changed(sql->service, sql->session_id, file);
}

static void tell_files(const struct sql_call *sql, const json_t *answer)
{
	json_int_t blobs = json_integer_value(json_object_get(answer, "blobs"));

	if (json_is_integer(json_object_get(answer, "bytes")))
		tell_file(sql, sql->file);
	for (unsigned i = 1; i <= (unsigned)blobs; i++) {
		cleanup_free char *blob = result_blob_name(sql->file, i);

		tell_file(sql, blob);
	}
}

static void answer(struct sql_call *sql, const json_t *answer, const struct buf *text)
{
	cleanup_free char *notice = session_take_notice(sql->session);
	json_t *object = make_object(sql, answer, notice);

	tell_files(sql, answer);
	if (service_settings(sql->service)->results == RESULTS_JSON)
		tool_answer(sql->call, sql->service, object);
	else
		answer_table(sql, text, object, notice);
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

static void record(const struct sql_call *sql, const json_t *answer, const struct err *err,
		   const struct buf *text)
{
	cleanup_json json_t *names = databases_list(service_settings(sql->service));
	const struct history_query query = {
		.session = sql->session,
		.session_id = sql->session_id,
		.number = sql->number,
		.database = database_of(sql, names),
		.sql = sql->request.query,
		.sql_len = sql->request.query_len,
		.params = sql->request.params,
		.state = state_of(err),
		.ms = loop_now(service_loop(sql->service)) - sql->started_ms,
		.answer = answer,
		.file = sql->file,
		.text = answer != NULL ? buf_str(text) : "",
		.text_len = answer != NULL ? text->len : 0,
		.problem = err != NULL ? buf_str(text) : NULL,
	};

	history_add_query(service_history(sql->service), &query);
}

/* ---- while it runs ---- */

static void on_progress(void *data, uint64_t rows)
{
	struct sql_call *sql = data;
	cleanup_free char *message = xasprintf("%ju rows", (uintmax_t)rows);

	mcp_call_progress(sql->call, (double)rows, -1, message);
}

/* The session may have ended just now, which ends its queries. */
static bool is_alive(const struct sql_call *sql)
{
	struct table *table = service_table_if_any(sql->service);
	struct err err;

	return table != NULL && table_find(table, sql->session_id, &err) == sql->session;
}

static void sql_free(struct sql_call *sql)
{
	json_decref(sql->arguments);
	free(sql->session_id);
	free(sql->file);
	free(sql);
}

/* A secret goes before blanks are made of its lines' ends and long values are cut. */
static json_t *without_secrets(const struct sql_call *sql, const json_t *result)
{
	const struct redact *redact = service_settings(sql->service)->redact;
	json_t *safe = json_deep_copy(result);

	json_redact(safe, redact);
	return safe;
}

static void on_done(void *data, const json_t *result, const struct err *err)
{
	struct sql_call *sql = data;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *safe = err == NULL ? without_secrets(sql, result) : NULL;

	if (is_alive(sql))
		session_let_go(sql->session);
	else
		sql->session = NULL;
	if (err != NULL) {
		clean_block(&text, err->msg, strlen(err->msg));
		tool_fail_text(sql->call, sql->service, buf_str(&text));
	} else {
		put_text(&text, sql, safe);
		answer(sql, safe, &text);
	}
	record(sql, safe, err, &text);
	sql_free(sql);
}

static const struct query_handlers handlers = { .progress = on_progress, .done = on_done };

static void on_cancel(struct mcp_call *call, void *data)
{
	struct sql_call *sql = data;

	(void)call;
	queries_cancel(sql->query);
}

static const struct shares *shares_of(struct service *service)
{
	const struct confinement *confinement = service_confinement(service);

	return confinement != NULL ? confinement_shares(confinement) : NULL;
}

/* Of a result's file. What is answered itself takes no room. */
static uint64_t bytes_max(const struct session *session)
{
	uint64_t room = session_disk_room(session);
	uint64_t most = session_limits(session)->file_max;

	if (room < INLINE_BYTES)
		room = INLINE_BYTES;
	return room < most ? room : most;
}

static int start(struct sql_call *sql, struct err *err)
{
	const struct settings *settings = service_settings(sql->service);
	const struct session_limits *limits = session_limits(sql->session);
	struct queries *queries = service_queries(sql->service, err);
	struct query_spec spec = {
		.workspace = session_workspace(sql->session),
		.params = sql->request.params,
		.sql = sql->request.query,
		.sql_len = sql->request.query_len,
		.file = sql->file,
		.inline_rows = limits->sql_inline_rows,
		.inline_bytes = INLINE_BYTES,
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
	sql->query = queries_start(queries, &spec, &handlers, sql, err);
	if (sql->query == NULL)
		return -1;
	session_hold(sql->session);
	sql->number = session_take_number(sql->session);
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
	sql->session_id = xstrdup(session_id(session));
	sql->file = xasprintf("input/sql_result_%s.csv", random);
	sql->started_ms = loop_now(service_loop(service));
	return sql;
}

void tool_exec_sql(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct sql_request request = { .query = NULL };
	struct sql_call *sql;
	struct session *session;
	struct err err;

	/* A session that is not there has no files to ask; a mistyped id must not make one. */
	if (read_request(service, arguments, &request, &err) < 0 ||
	    (session = tool_session(service, arguments,
				    databases_is_named(service_settings(service), request.database),
				    &err)) == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	session_touch(session);
	sql = sql_new(call, service, session);
	sql->arguments = json_incref(arguments);
	sql->request = request;
	if (start(sql, &err) < 0) {
		tool_fail(call, service, &err);
		sql_free(sql);
		return;
	}
	mcp_call_on_cancel(call, on_cancel, sql);
}
