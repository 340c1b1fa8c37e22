/* SPDX-License-Identifier: MIT */
/*
 * tool.c - arguments and answers that several tools have in common.
 *
 * A problem of the configuration is the answer of every tool: it is found by tool_check, which each
 * tool calls first. Errors are blocks, or JSON objects of status "error" with RESULTS_JSON.
 */
#include "tools/tool.h"

#include <stdlib.h>

#include "answer/audit_log.h"
#include "answer/history.h"
#include "base/buf.h"
#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "runtime/language.h"
#include "session/table.h"
#include "text/sanitize.h"
#include "tools/service.h"

void tool_fail(struct mcp_call *call, const struct service *service, const struct err *err)
{
	tool_fail_text(call, service, err->msg);
}

bool tool_audit_refused(struct mcp_call *call, struct service *service)
{
	cleanup_free char *why = audit_log_refusal(history_audit_log(service->history));

	if (why != NULL)
		tool_fail_text(call, service, why);
	return why != NULL;
}

void tool_fail_text(struct mcp_call *call, const struct service *service, const char *message)
{
	json_t *object;
	json_t *content;
	cleanup_free char *text = NULL;

	if (service->settings->results == RESULTS_BLOCKS) {
		mcp_call_fail(call, message);
		return;
	}
	object = json_object();
	content = json_array();
	json_put_str(object, "status", "error");
	json_put_str(object, "error", message);
	text = json_write_text(object);
	json_append(content, mcp_text(text, strlen(text)));
	json_decref(object);
	mcp_call_finish(call, content, NULL, NULL, false);
}

void tool_answer(struct mcp_call *call, const struct service *service, json_t *object_own)
{
	json_t *content = json_array();
	cleanup_free char *text = NULL;

	if (service->settings->results == RESULTS_JSON &&
	    json_object_get(object_own, "status") == NULL)
		json_put_str(object_own, "status", "success");
	if (service->settings->unconfined && json_object_get(object_own, "confinement") == NULL)
		json_put_str(object_own, "confinement", "unconfined");
	text = json_write_text(object_own);
	json_append(content, mcp_text(text, strlen(text)));
	mcp_call_finish(call, content, object_own, NULL, false);
}

void tool_answer_text(struct mcp_call *call, const struct service *service, json_t *object_own,
		      const struct buf *text)
{
	const struct settings *settings = service->settings;
	json_t *content;

	if (settings->results == RESULTS_JSON || settings->unconfined) {
		tool_answer(call, service, object_own);
		return;
	}
	content = json_array();
	json_append(content, mcp_text(buf_str(text), text->len));
	mcp_call_finish(call, content, object_own, NULL, false);
}

int tool_check(const struct service *service, json_t *arguments, const char *const *known,
	       size_t known_count, struct err *err)
{
	const struct settings *settings = service->settings;

	if (settings->problem != NULL)
		return err_set(err, ERR_INVALID, "%s", settings->problem);
	return json_get_only(arguments, "arguments", known, known_count, err);
}

int tool_require(const json_t *arguments, const char *const *names, size_t count, struct err *err)
{
	cleanup_buf struct buf all = BUF_INIT(BUF_UNBOUNDED);
	struct err missing;

	for (size_t i = 0; i < count; i++)
		buf_putf(&all, "%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
	for (size_t i = 0; i < count; i++)
		if (json_get_required(arguments, "arguments", names[i], &missing) < 0)
			return err_set(err, ERR_INVALID, "%s: this tool needs %s", missing.msg,
				       buf_str(&all));
	return 0;
}

static struct table *find_table(struct service *service, json_t *arguments, const char **ret_id,
				struct err *err)
{
	if (json_get_required(arguments, "arguments", "session_id", err) < 0 ||
	    json_get_text(arguments, "arguments", "session_id", ret_id, NULL, err) < 0 ||
	    session_id_check(*ret_id, err) < 0)
		return NULL;
	return service_table(service, err);
}

struct session *tool_session(struct service *service, json_t *arguments, bool make, struct err *err)
{
	const char *id = NULL;
	struct table *table = find_table(service, arguments, &id, err);

	if (table == NULL)
		return NULL;
	return make ? table_open(table, id, NULL, err) : table_find(table, id, err);
}

struct session *tool_session_again(struct service *service, json_t *arguments, struct err *err)
{
	const char *id = NULL;
	struct table *table = find_table(service, arguments, &id, err);
	struct session *session = table != NULL ? table_find(table, id, err) : NULL;

	if (table == NULL || session != NULL || !table_can_resume(table, id))
		return session;
	return table_open(table, id, NULL, err);
}

struct session *tool_session_for(struct service *service, json_t *arguments,
				 const struct language *language, struct err *err)
{
	const char *id = NULL;
	struct table *table = find_table(service, arguments, &id, err);

	return table != NULL ? table_open(table, id, language, err) : NULL;
}

int tool_get_wait(const struct service *service, json_t *arguments, uint64_t *ret_ms, bool *ret_cut,
		  struct err *err)
{
	const struct settings *settings = service->settings;
	double seconds = (double)settings->call_budget;

	if (json_get_number(arguments, "arguments", "wait", &seconds, err) < 0)
		return -1;
	if (!(seconds >= 0 && seconds <= (double)settings->exec_timeout_max))
		return err_set(err, ERR_INVALID,
			       "arguments.wait must be seconds from 0 to %ju; hosts give up after "
			       "60 or so",
			       (uintmax_t)settings->exec_timeout_max);
	/* The user who sets a budget knows when the host gives up; a model does not. */
	*ret_cut = settings->call_budget_set && seconds > (double)settings->call_budget;
	if (*ret_cut)
		seconds = (double)settings->call_budget;
	*ret_ms = (uint64_t)(seconds * 1000.0);
	return 0;
}

const char *tool_language_name(const struct service *service, const json_t *arguments)
{
	const char *name = json_string_value(json_object_get(arguments, "language"));
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	struct table *table = service->table;
	const struct language *last = NULL;
	const struct session *session;
	struct err err;

	if (name != NULL)
		return name;
	session = table != NULL && id != NULL ? table_find(table, id, &err) : NULL;
	if (session != NULL)
		last = session_last_language(session);
	return last != NULL ? last->name : "python";
}

const struct language *tool_find_language(const struct service *service, const char *name,
					  struct err *err)
{
	const struct language *language = language_find(name);
	char *const *env = service->settings->environment;
	cleanup_free char *quoted = NULL;
	cleanup_buf struct buf here = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf missing = BUF_INIT(BUF_UNBOUNDED);

	if (language != NULL)
		return language;
	quoted = sanitize_quote(name);
	language_list_here(env, &here);
	language_list_missing(env, &missing);
	(void)err_set(err, ERR_INVALID, "arguments.language must be one of %s, not '%s'%s%s%s",
		      buf_str(&here), quoted, missing.len > 0 ? "; not installed: " : "",
		      buf_str(&missing),
		      strcasecmp(name, "sql") == 0 ? "; queries are for exec_sql" : "");
	return NULL;
}
