/* SPDX-License-Identifier: MIT */
/*
 * tool_session.c - session_info, list_sessions and destroy_session.
 *
 * session_info makes no session when it only asks: without `config`, an unknown id is answered with
 * the facts that hold for every session. It waits for the interpreters when it includes variables.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "answer/audit_log.h"
#include "answer/history.h"
#include "answer/python_packages.h"
#include "answer/session_json.h"
#include "answer/session_text.h"
#include "answer/storage_links.h"
#include "answer/variables.h"
#include "base/mem.h"
#include "install/broker.h"
#include "json/get.h"
#include "json/make.h"
#include "session/table.h"
#include "text/sanitize.h"
#include "tools/forgive.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_import.h"

/* ---- session_info ---- */

static int set_not_a_number(const char *key, struct err *err)
{
	cleanup_free char *quoted = sanitize_quote(key);

	return err_set(err, ERR_INVALID, "arguments.config: '%s' must be a number, without a unit",
		       quoted);
}

static int lower_limits(const struct service *service, struct session_limits *limits,
			json_t *config, struct err *err)
{
	const char *key;
	json_t *value;
	double number;

	json_object_foreach (config, key, value) {
		if (!forgive_number(value, &number))
			return set_not_a_number(key, err);
		if (settings_clamp(service->settings, limits, key, number, err) < 0)
			return err_wrap(err, "arguments.config");
	}
	return 0;
}

int tool_check_config(const struct service *service, json_t *config, struct err *err)
{
	struct session_limits limits = service->settings->limits;

	return lower_limits(service, &limits, config, err);
}

/* Appends the number that a limit became, if that is another than was asked for. */
static void put_clamped(struct buf *out, const struct session_limits *limits, const char *key,
			double asked)
{
	const char *name;
	uint64_t value;

	for (size_t i = 0; settings_limit_at(limits, i, &name, &value); i++)
		if (str_eq(name, key) && fabs(asked - (double)value) >= 1)
			buf_putf(out, "%s%s is %" PRIu64 ", not %.15g", out->len > 0 ? "; " : "",
				 key, value, asked);
}

/* Has an answer name the limits that lie above the server's own, or below what is possible. */
static void report_clamped(struct session *session, const struct session_limits *limits,
			   json_t *config)
{
	cleanup_buf struct buf list = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *text = NULL;
	const char *key;
	json_t *value;
	double number;

	json_object_foreach (config, key, value)
		if (forgive_number(value, &number))
			put_clamped(&list, limits, key, number);
	if (list.len == 0)
		return;
	text = xasprintf("arguments.config: %s. A session's limit is at most the server's, which "
			 "the user sets, and not below a minimum.",
			 buf_str(&list));
	session_add_notice(session, text);
}

int tool_configure(const struct service *service, struct session *session, json_t *config,
		   struct err *err)
{
	struct session_limits limits = *session_limits(session);

	if (lower_limits(service, &limits, config, err) < 0)
		return -1;
	if (session_set_limits(session, &limits, err) < 0)
		return err_wrap(err, "arguments.config");
	report_clamped(session, &limits, config);
	return 0;
}

struct info_request {
	json_t *config;
	json_t *include; /* words, or NULL */
	bool variables;
	bool packages;
};

static int read_info(const struct service *service, json_t *arguments, struct info_request *ret,
		     struct err *err)
{
	static const char *const keys[] = { "session_id", "config", "include" };
	size_t index;
	json_t *word;

	if (tool_check(service, arguments, keys, ARRAY_SIZE(keys), err) < 0 ||
	    json_get_object(arguments, "arguments", "config", &ret->config, err) < 0 ||
	    tool_check_config(service, ret->config, err) < 0 ||
	    json_get_texts(arguments, "arguments", "include", &ret->include, err) < 0)
		return -1;
	json_array_foreach (ret->include, index, word) {
		const char *name = json_string_value(word);
		bool all = strcasecmp(name, "all") == 0;

		ret->variables = ret->variables || all || strcasecmp(name, "variables") == 0;
		ret->packages = ret->packages || all || strcasecmp(name, "packages") == 0;
		if (!session_text_knows(name))
			return err_set(err, ERR_INVALID,
				       "arguments.include takes variables, packages, limits, "
				       "languages, confinement, storage, journal and all");
	}
	return 0;
}

/* A session_info that waits for the variables of the interpreters. */
struct info_wait {
	struct mcp_call *call;
	struct service *service;
	json_t *answer;
	json_t *include;
	struct variables *variables;
};

static void answer_info(struct mcp_call *call, const struct service *service, json_t *answer_own,
			const json_t *include)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	session_text_put(&text, answer_own, include);
	tool_answer_text(call, service, answer_own, &text);
}

static void on_variables(void *data)
{
	struct info_wait *pending = data;

	answer_info(pending->call, pending->service, pending->answer, pending->include);
	json_decref(pending->include);
	free(pending);
}

static void on_info_cancel(struct mcp_call *call, void *data)
{
	struct info_wait *pending = data;

	variables_cancel(pending->variables);
	mcp_call_fail(call, "cancelled");
	json_decref(pending->answer);
	json_decref(pending->include);
	free(pending);
}

static void ask_variables(struct mcp_call *call, struct service *service, struct session *session,
			  json_t *answer, json_t *include)
{
	struct info_wait *pending = xcalloc(1, sizeof(*pending));

	pending->call = call;
	pending->service = service;
	pending->answer = answer;
	pending->include = json_incref(include);
	pending->variables = variables_ask(service->loop, session, service->settings->redact,
					   answer, on_variables, pending);
	mcp_call_on_cancel(call, on_info_cancel, pending);
}

/* `session` may be NULL. */
static void put_packages(json_t *answer, struct service *service, const struct session *session)
{
	struct err err;
	struct broker *broker = session != NULL ? service_broker(service, &err) : NULL;

	json_put(answer, "packages", python_packages_list(service->settings));
	json_put(answer, "installed", broker != NULL ? broker_list(broker, session) : json_array());
}

/* Answers and returns true when there is no such session and the call needs none. */
static bool answer_for_none(struct mcp_call *call, struct service *service, json_t *arguments,
			    const struct info_request *request)
{
	json_t *answer;
	struct err err;

	if (request->config != NULL || tool_session(service, arguments, false, &err) != NULL ||
	    err.code != ERR_NOT_FOUND || service_confinement(service) == NULL)
		return false;
	answer = session_json_none(service->settings, service_confinement(service),
				   json_string_value(json_object_get(arguments, "session_id")),
				   err.msg);
	if (request->packages)
		put_packages(answer, service, NULL);
	if (request->variables)
		json_put(answer, "variables", json_array());
	answer_info(call, service, answer, request->include);
	return true;
}

void tool_session_info(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct info_request request = { .config = NULL };
	struct session *session;
	cleanup_free char *notice = NULL;
	json_t *answer;
	struct err err;

	if (read_info(service, arguments, &request, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	if (answer_for_none(call, service, arguments, &request) ||
	    (request.config != NULL && tool_audit_refused(call, service)))
		return;
	if ((session = tool_session(service, arguments, true, &err)) == NULL ||
	    tool_configure(service, session, request.config, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	session_touch(session);
	answer = session_json_describe(session);
	json_put(answer, "incoming", wait_import_describe(service->imports, session));
	notice = session_take_notice(session);
	json_put_str(answer, "notice", notice);
	if (request.packages)
		put_packages(answer, service, session);
	if (request.variables)
		ask_variables(call, service, session, answer, request.include);
	else
		answer_info(call, service, answer, request.include);
}

/* ---- list_sessions and destroy_session ---- */

void tool_list_sessions(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	const struct table *table = service->table;
	json_t *answer;
	json_t *rows;
	struct err err;

	if (tool_check(service, arguments, NULL, 0, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	answer = json_object();
	rows = json_array();
	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++)
		json_append(rows, session_json_row(table_at(table, i)));
	json_put_int(answer, "count", (json_int_t)json_array_size(rows));
	json_put(answer, "sessions", rows);
	tool_answer(call, service, answer);
}

/* Puts what is gone with the session, and what stays. */
static void put_destroyed(json_t *answer, const struct session *session)
{
	const char *kept = session_keep_folder(session);
	const char *notebook = session_notebook_folder(session);
	const char *saving = session_saving_folder(session);
	cleanup_free char *unkept = session_unkept(session);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_putf(&text, "Session '%s' is gone with its processes, its folder and its record",
		 session_id(session));
	if (saving != NULL)
		buf_putf(&text, "; results are still being saved in %s", saving);
	else if (kept != NULL)
		buf_putf(&text, "; saved results are in %s", kept);
	else if (notebook != NULL && unkept == NULL)
		buf_putf(&text, "; its notebook is in %s", notebook);
	if (session_settings(session)->audit != NULL)
		buf_puts(&text, "; the user's audit keeps its lines");
	if (unkept != NULL)
		buf_putf(&text, "; not saved so far, and tried once more: %s", unkept);
	storage_links_put_rest(&text, session);
	buf_puts(&text, ".");
	json_put_str(answer, "message", buf_str(&text));
}

static char *describe_forgotten(const struct service *service, const char *id,
				const struct table_forgotten *forgotten)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	const char *kept = forgotten->kept;

	buf_putf(&text, "Session '%s' was not live", id);
	if (forgotten->is_due)
		buf_puts(&text, ". What is not saved yet is saved first; then its folder and its "
				"record go");
	else
		buf_puts(&text, "; its folder and its record are gone");
	if (kept != NULL)
		buf_putf(&text, "; saved results are in %s", kept);
	if (service->settings->audit != NULL)
		buf_puts(&text, "; the user's audit keeps its lines");
	buf_puts(&text, ".");
	if (forgotten->left > 0)
		buf_putf(&text, " %zu more of that id can be resumed.", forgotten->left);
	return buf_steal(&text);
}

static void audit_forgotten(const struct service *service, const char *id,
			    const struct table_forgotten *forgotten)
{
	json_t *fields = json_object();

	json_put_int(fields, "generation", (json_int_t)forgotten->generation);
	json_put_str(fields, "kept_folder", forgotten->kept);
	json_put_str(fields, "why", table_destroyed);
	audit_log_add(history_audit_log(service->history), NULL, id, "session_destroyed", fields);
}

/* Answers and returns true if the id is that of an ended session, which is destroyed now. */
static bool forget_ended(struct mcp_call *call, struct service *service, json_t *arguments)
{
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	struct table_forgotten forgotten;
	cleanup_free char *message = NULL;
	json_t *answer;
	struct err err;

	if (id == NULL || session_id_check(id, &err) < 0 || service_table(service, &err) == NULL ||
	    !table_forget(service->table, id, &forgotten))
		return false;
	audit_forgotten(service, id, &forgotten);
	message = describe_forgotten(service, id, &forgotten);
	answer = json_object();
	json_put_str(answer, "session_id", id);
	json_put_str(answer, "message", message);
	tool_answer(call, service, answer);
	free(forgotten.kept);
	return true;
}

void tool_destroy_session(struct mcp_call *call, json_t *arguments, void *context)
{
	static const char *const keys[] = { "session_id" };
	struct service *service = context;
	struct session *session;
	cleanup_free char *id = NULL;
	json_t *answer;
	struct err err;

	if (tool_check(service, arguments, keys, ARRAY_SIZE(keys), &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	if (tool_audit_refused(call, service))
		return;
	session = tool_session(service, arguments, false, &err);
	if (session == NULL) {
		if (err.code != ERR_NOT_FOUND || !forget_ended(call, service, arguments))
			tool_fail(call, service, &err);
		return;
	}
	id = xstrdup(session_id(session));
	answer = json_object();
	json_put_str(answer, "session_id", id);
	put_destroyed(answer, session);
	if (table_destroy(service->table, id, &err) < 0)
		json_put_str(answer, "problem", err.msg);
	tool_answer(call, service, answer);
}
