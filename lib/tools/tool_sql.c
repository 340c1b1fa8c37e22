/* SPDX-License-Identifier: MIT */
/* tool_sql.c - exec_sql. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "json/get.h"
#include "json/make.h"
#include "session/table.h"
#include "text/clean.h"
#include "tools/databases.h"
#include "tools/queries.h"
#include "tools/rows.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

enum { INLINE_BYTES = 64 << 10, FILE_DIGITS = 8, MS = 1000, KB = 1024 };

struct sql_call {
	struct mcp_call *call;
	struct service *service;
	struct session *session; /* lives as long as the query */
	struct query *query;
	char *file;
};

struct sql_request {
	const char *query;
	size_t query_len;
	json_t *params;
	const char *database;
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

/* What stands under the table. */
static char *make_summary(const struct sql_call *sql, const json_t *answer)
{
	json_int_t rows = json_integer_value(json_object_get(answer, "row_count"));
	const json_t *bytes = json_object_get(answer, "bytes");
	bool cut = json_is_true(json_object_get(answer, "truncated"));
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	if (!json_is_integer(bytes))
		return xasprintf("(%lld row%s)", (long long)rows, rows == 1 ? "" : "s");
	buf_putf(&out, "(the first %zu rows; %s%lld rows are in %s, ",
		 json_array_size(json_object_get(answer, "rows")), cut ? "only the first " : "all ",
		 (long long)rows, sql->file);
	put_size(&out, json_integer_value(bytes));
	buf_putf(&out, ")\nimport pandas as pd; df = pd.read_csv('%s')", sql->file);
	return buf_steal(&out);
}

static json_t *make_object(const struct sql_call *sql, const json_t *answer, const char *notice)
{
	const char *data_path = workspace_data_path(session_workspace(sql->session));
	json_t *object = json_object();

	json_put_str(object, "session_id", session_id(sql->session));
	json_put(object, "columns", rows_clean_columns(json_object_get(answer, "columns")));
	json_put(object, "rows", rows_clean_values(json_object_get(answer, "rows")));
	json_put(object, "row_count", json_incref(json_object_get(answer, "row_count")));
	if (json_is_true(json_object_get(answer, "truncated")))
		json_put_bool(object, "truncated", true);
	if (json_is_integer(json_object_get(answer, "bytes"))) {
		json_put(object, "file_path", json_make_fmt("%s/%s", data_path, sql->file));
		json_put(object, "size_bytes", json_incref(json_object_get(answer, "bytes")));
	}
	json_put_str(object, "notice", notice);
	return object;
}

static void answer_table(struct sql_call *sql, const json_t *answer, json_t *object_own,
			 const char *notice)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *summary = make_summary(sql, answer);
	json_t *content = json_array();

	if (notice != NULL)
		json_append(content, mcp_text(notice, strlen(notice)));
	rows_put_table(&text, json_object_get(answer, "columns"), json_object_get(answer, "rows"));
	buf_puts(&text, summary);
	json_append(content, mcp_text(buf_str(&text), text.len));
	mcp_call_finish(sql->call, content, object_own, NULL, false);
}

static void answer(struct sql_call *sql, const json_t *answer)
{
	cleanup_free char *notice = session_take_notice(sql->session);
	json_t *object = make_object(sql, answer, notice);

	session_touch(sql->session);
	if (json_is_integer(json_object_get(answer, "bytes"))) {
		session_file_placed(sql->session, sql->file);
		service_file_changed(sql->service, session_id(sql->session), sql->file);
	}
	if (service_settings(sql->service)->results == RESULTS_JSON)
		tool_answer(sql->call, sql->service, object);
	else
		answer_table(sql, answer, object, notice);
}

/* ---- while it runs ---- */

static void on_progress(void *data, uint64_t rows)
{
	struct sql_call *sql = data;
	cleanup_free char *message = xasprintf("%ju rows", (uintmax_t)rows);

	mcp_call_progress(sql->call, (double)rows, -1, message);
}

static void on_done(void *data, const json_t *result, const struct err *err)
{
	struct sql_call *sql = data;

	if (err != NULL) {
		cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

		clean_block(&clean, err->msg, strlen(err->msg));
		tool_fail_text(sql->call, sql->service, buf_str(&clean));
	} else {
		answer(sql, result);
	}
	free(sql->file);
	free(sql);
}

static const struct query_handlers handlers = { .progress = on_progress, .done = on_done };

static void on_cancel(struct mcp_call *call, void *data)
{
	struct sql_call *sql = data;

	(void)call;
	queries_cancel(sql->query);
}

static int start(struct sql_call *sql, const struct sql_request *request, struct err *err)
{
	const struct settings *settings = service_settings(sql->service);
	const struct session_limits *limits = session_limits(sql->session);
	struct queries *queries = service_queries(sql->service, err);
	struct query_spec spec = {
		.workspace = session_workspace(sql->session),
		.params = request->params,
		.sql = request->query,
		.sql_len = request->query_len,
		.file = sql->file,
		.inline_rows = limits->sql_inline_rows,
		.inline_bytes = INLINE_BYTES,
		.rows_max = settings->query_rows_max,
		.bytes_max = limits->file_max,
		.timeout_ms = settings->query_timeout * MS,
	};
	cleanup_json json_t *database = NULL;

	if (queries == NULL)
		return -1;
	database = databases_find(settings, request->database, workspace_data_path(spec.workspace),
				  err);
	if (database == NULL)
		return -1;
	spec.database = database;
	sql->query = queries_start(queries, &spec, &handlers, sql, err);
	return sql->query != NULL ? 0 : -1;
}

void tool_exec_sql(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct sql_request request = { .query = NULL };
	struct sql_call *sql;
	struct session *session;
	char random[FILE_DIGITS + 1];
	struct err err;

	if (read_request(service, arguments, &request, &err) < 0 ||
	    (session = tool_session(service, arguments, true, &err)) == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	session_touch(session);
	random_hex(random, FILE_DIGITS);
	sql = xcalloc(1, sizeof(*sql));
	sql->call = call;
	sql->service = service;
	sql->session = session;
	sql->file = xasprintf("input/sql_result_%s.csv", random);
	if (start(sql, &request, &err) < 0) {
		tool_fail(call, service, &err);
		free(sql->file);
		free(sql);
		return;
	}
	mcp_call_on_cancel(call, on_cancel, sql);
}
