/* SPDX-License-Identifier: MIT */
/* tool_session.c - session_info, list_sessions, destroy_session. */
#include <stdlib.h>

#include "base/mem.h"
#include "install/broker.h"
#include "json/get.h"
#include "json/make.h"
#include "runtime/language.h"
#include "session/table.h"
#include "text/clean.h"
#include "tools/arrivals.h"
#include "tools/confined.h"
#include "tools/databases.h"
#include "tools/history.h"
#include "tools/links.h"
#include "tools/network.h"
#include "tools/packages.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/variables.h"
#include "workspace/workspace.h"

/* ---- session_info ---- */

static const struct runner *runner_of(const struct session *session,
				      const struct language *language)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (runner_language(runner) == language)
			return runner;
	return NULL;
}

static json_t *describe_language(const struct session *session, const struct language *language)
{
	const struct runner *runner = session != NULL ? runner_of(session, language) : NULL;
	json_t *object = json_object();
	json_t *aliases = json_array();

	for (size_t i = 0; language->aliases[i] != NULL; i++)
		json_append(aliases, json_make_str(language->aliases[i]));
	json_put_str(object, "name", language->name);
	json_put(object, "aliases", aliases);
	json_put_str(object, "state",
		     runner_state_name(runner != NULL ? runner_state(runner) : RUNNER_IDLE));
	if (runner != NULL && runner_version(runner) != NULL) {
		cleanup_free char *version = clean_quote(runner_version(runner));

		json_put_str(object, "version", version);
		json_put_str(object, "path", runner_path(runner));
		json_put_str(object, "chosen_by", runner_reason(runner));
	}
	return object;
}

/* `session` may be NULL. */
static json_t *describe_languages(const struct session *session)
{
	json_t *languages = json_array();

	for (size_t i = 0; language_at(i) != NULL; i++)
		json_append(languages, describe_language(session, language_at(i)));
	return languages;
}

static json_t *describe_limits(const struct session_limits *values)
{
	json_t *limits = json_object();
	const char *key;
	uint64_t value;

	for (size_t i = 0; settings_limit_at(values, i, &key, &value); i++)
		json_put_int(limits, key, (json_int_t)value);
	return limits;
}

/* `proxy` may be NULL. */
static json_t *describe_confinement(const struct settings *settings,
				    const struct confinement *confinement,
				    const struct proxy *proxy)
{
	json_t *object = confined_describe(confinement);

	json_put(object, "network", network_describe(settings, confinement, proxy));
	return object;
}

static void put_folders(json_t *answer, const struct session *session)
{
	const char *data = workspace_data_path(session_workspace(session));

	json_put_str(answer, "workdir", data);
	json_put(answer, "input_dir", json_make_fmt("%s/input", data));
	json_put(answer, "output_dir", json_make_fmt("%s/output", data));
	json_put(answer, "keep_dir",
		 session_keep_folder(session) != NULL ? json_make_str(session_keep_folder(session))
						      : json_null());
}

static int refuse_value(const char *key, struct err *err)
{
	cleanup_free char *quoted = clean_quote(key);

	return err_set(err, ERR_INVALID, "arguments.config: '%s' must be a number", quoted);
}

static int lower(const struct service *service, struct session_limits *limits, json_t *config,
		 struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach (config, key, value) {
		if (!json_is_number(value))
			return refuse_value(key, err);
		if (settings_clamp(service_settings(service), limits, key, json_number_value(value),
				   err) < 0)
			return err_wrap(err, "arguments.config");
	}
	return 0;
}

int tool_check_config(const struct service *service, json_t *config, struct err *err)
{
	struct session_limits limits = service_settings(service)->limits;

	return lower(service, &limits, config, err);
}

int tool_configure(const struct service *service, struct session *session, json_t *config,
		   struct err *err)
{
	struct session_limits limits = *session_limits(session);

	if (lower(service, &limits, config, err) < 0)
		return -1;
	if (session_set_limits(session, &limits, err) < 0)
		return err_wrap(err, "arguments.config");
	return 0;
}

struct info_request {
	json_t *config;
	bool variables;
	bool packages;
};

static int read_info(const struct service *service, json_t *arguments, struct info_request *ret,
		     struct err *err)
{
	static const char *const keys[] = { "session_id", "config", "include" };
	json_t *include = NULL;
	size_t index;
	json_t *word;

	if (tool_check(service, arguments, keys, ARRAY_SIZE(keys), err) < 0 ||
	    json_get_object(arguments, "arguments", "config", &ret->config, err) < 0 ||
	    tool_check_config(service, ret->config, err) < 0 ||
	    json_get_texts(arguments, "arguments", "include", &include, err) < 0)
		return -1;
	json_array_foreach (include, index, word) {
		if (str_eq(json_string_value(word), "variables"))
			ret->variables = true;
		else if (str_eq(json_string_value(word), "packages"))
			ret->packages = true;
		else
			return err_set(err, ERR_INVALID,
				       "arguments.include takes only variables and packages");
	}
	return 0;
}

/* Names only: that is what code needs to know. */
static json_t *describe_environment(const struct settings *settings)
{
	const struct passed *passed = &settings->passed;
	json_t *environment = json_object();
	json_t *variables = json_array();
	json_t *secrets = json_array();

	for (size_t i = 0; i < passed->count; i++)
		json_append(passed->items[i].secret ? secrets : variables,
			    json_make_str(passed->items[i].name));
	json_put(environment, "variables", variables);
	json_put(environment, "secrets", secrets);
	return environment;
}

json_t *tool_describe_session(struct session *session)
{
	json_t *answer = json_object();

	json_put_str(answer, "session_id", session_id(session));
	json_put_int(answer, "generation", (json_int_t)session_generation(session));
	json_put_str(answer, "state", session_state(session));
	put_folders(answer, session);
	json_put(answer, "languages", describe_languages(session));
	json_put(answer, "databases", databases_list(session_settings(session)));
	json_put(answer, "effective_config", describe_limits(session_limits(session)));
	if (session_settings(session)->passed.count > 0)
		json_put(answer, "environment", describe_environment(session_settings(session)));
	json_put(answer, "storage", links_describe(session));
	json_put(answer, "journal", history_describe(session));
	json_put(answer, "confinement",
		 describe_confinement(session_settings(session), session_confinement(session),
				      session_proxy(session)));
	return answer;
}

/* What holds for whichever session; `why` says that there is none of this id. */
static json_t *describe_none(struct service *service, const char *id, const char *why)
{
	const struct settings *settings = service_settings(service);
	json_t *answer = json_object();

	json_put_str(answer, "session_id", id);
	json_put_str(answer, "state", "none");
	json_put(answer, "notice",
		 json_make_fmt("%c%s. Nothing was made: exec_code or upload_file makes a session.",
			       why[0] & ~0x20, why + 1));
	json_put(answer, "languages", describe_languages(NULL));
	json_put(answer, "databases", databases_list(settings));
	json_put(answer, "effective_config", describe_limits(&settings->limits));
	if (settings->passed.count > 0)
		json_put(answer, "environment", describe_environment(settings));
	json_put(answer, "confinement",
		 describe_confinement(settings, service_confinement(service), NULL));
	return answer;
}

/* A session_info that waits for the interpreters to tell their variables. */
struct pending_info {
	struct mcp_call *call;
	struct service *service;
	json_t *answer;
	struct variables *variables;
};

static void on_variables(void *data)
{
	struct pending_info *pending = data;

	tool_answer(pending->call, pending->service, pending->answer);
	free(pending);
}

static void on_info_cancel(struct mcp_call *call, void *data)
{
	struct pending_info *pending = data;

	variables_cancel(pending->variables);
	mcp_call_fail(call, "cancelled");
	json_decref(pending->answer);
	free(pending);
}

static void ask_variables(struct mcp_call *call, struct service *service, struct session *session,
			  json_t *answer)
{
	struct pending_info *pending = xcalloc(1, sizeof(*pending));

	pending->call = call;
	pending->service = service;
	pending->answer = answer;
	pending->variables =
		variables_ask(service_loop(service), session, service_settings(service)->redact,
			      answer, on_variables, pending);
	mcp_call_on_cancel(call, on_info_cancel, pending);
}

/* `session` may be NULL. */
static void put_packages(json_t *answer, const struct service *service,
			 const struct session *session)
{
	const struct broker *broker = service_broker_if_any(service);

	json_put(answer, "packages", packages_list(service_settings(service)));
	json_put(answer, "installed",
		 broker != NULL && session != NULL ? broker_list(broker, session) : json_array());
}

/* True when it answered: nothing is made for those who only ask. */
static bool answer_for_none(struct mcp_call *call, struct service *service, json_t *arguments,
			    const struct info_request *request)
{
	json_t *answer;
	struct err err;

	if (request->config != NULL || tool_session(service, arguments, false, &err) != NULL ||
	    err.code != ERR_NOT_FOUND || service_confinement(service) == NULL)
		return false;
	answer = describe_none(service, json_string_value(json_object_get(arguments, "session_id")),
			       err.msg);
	if (request->packages)
		put_packages(answer, service, NULL);
	if (request->variables)
		json_put(answer, "variables", json_array());
	tool_answer(call, service, answer);
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
	answer = tool_describe_session(session);
	json_put(answer, "incoming", arrivals_describe(service_arrivals_if_any(service), session));
	notice = session_take_notice(session);
	json_put_str(answer, "notice", notice);
	if (request.packages)
		put_packages(answer, service, session);
	if (request.variables)
		ask_variables(call, service, session, answer);
	else
		tool_answer(call, service, answer);
}

/* ---- list_sessions and destroy_session ---- */

json_t *tool_describe_row(const struct session *session)
{
	json_t *row = json_object();

	json_put_str(row, "session_id", session_id(session));
	json_put_int(row, "generation", (json_int_t)session_generation(session));
	json_put_str(row, "state", session_state(session));
	json_put_int(row, "age_seconds", (json_int_t)(session_age_ms(session) / 1000));
	json_put_int(row, "idle_seconds", (json_int_t)(session_idle_ms(session) / 1000));
	json_put_str(row, "workdir", workspace_data_path(session_workspace(session)));
	return row;
}

void tool_list_sessions(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	const struct table *table = service_table_if_any(service);
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
		json_append(rows, tool_describe_row(table_at(table, i)));
	json_put_int(answer, "count", (json_int_t)json_array_size(rows));
	json_put(answer, "sessions", rows);
	tool_answer(call, service, answer);
}

/* What is gone, and what is not. */
static void put_farewell(json_t *answer, const struct session *session)
{
	const char *kept = session_keep_folder(session);
	cleanup_free char *unkept = session_unkept(session);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	buf_putf(&text, "Session '%s' is gone with its processes and its folder",
		 session_id(session));
	if (kept != NULL)
		buf_putf(&text, "; kept results are in %s", kept);
	if (unkept != NULL)
		buf_putf(&text, "; not kept so far, and tried once more: %s", unkept);
	links_put_rest(&text, session);
	buf_puts(&text, ".");
	json_put_str(answer, "message", buf_str(&text));
}

void tool_destroy_session(struct mcp_call *call, json_t *arguments, void *context)
{
	static const char *const keys[] = { "session_id" };
	struct service *service = context;
	struct session *session;
	cleanup_free char *id = NULL;
	json_t *answer;
	struct err err;

	if (tool_check(service, arguments, keys, ARRAY_SIZE(keys), &err) < 0 ||
	    (session = tool_session(service, arguments, false, &err)) == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	if (tool_audit_refused(call, service))
		return;
	id = xstrdup(session_id(session));
	answer = json_object();
	json_put_str(answer, "session_id", id);
	put_farewell(answer, session);
	if (table_destroy(service_table_if_any(service), id, &err) < 0)
		json_put_str(answer, "problem", err.msg);
	tool_answer(call, service, answer);
}
