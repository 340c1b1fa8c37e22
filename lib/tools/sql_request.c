/* SPDX-License-Identifier: MIT */
/*
 * sql_request.c - checks the arguments of exec_sql, and words which database they lack. Models may
 * put a query into a fence of Markdown, which is taken off.
 */
#include "tools/sql_request.h"

#include <string.h>

#include "base/util.h"
#include "config/settings.h"
#include "json/get.h"
#include "query/databases.h"
#include "tools/forgive.h"
#include "tools/service.h"
#include "tools/tool.h"

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

int sql_request_read(const struct service *service, json_t *arguments, struct sql_request *ret,
		     struct err *err)
{
	static const char *const known[] = { "session_id", "query", "params", "database" };
	static const char *const required[] = { "session_id", "query" };
	const char *word;
	size_t len;

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    tool_require(arguments, required, ARRAY_SIZE(required), err) < 0 ||
	    json_get_text(arguments, "arguments", "query", &ret->query, &ret->query_len, err) < 0 ||
	    json_get_array(arguments, "arguments", "params", &ret->params, err) < 0 ||
	    json_get_text(arguments, "arguments", "database", &ret->database, NULL, err) < 0)
		return -1;
	(void)forgive_fence(&ret->query, &ret->query_len, &word, &len);
	return check_params(ret->params, err);
}

void sql_request_put_databases(const struct sql_request *request, const struct settings *settings,
			       const struct err *err, struct buf *text)
{
	static const char missed[] = "no such table: ";

	if (request->database != NULL || settings->database_count == 0 ||
	    databases_is_named(settings, NULL) ||
	    strncmp(err->msg, missed, sizeof(missed) - 1) != 0)
		return;
	buf_puts(text, "; the query named no database, so it read the session's files: pass "
		       "database, one of ");
	databases_put_names(settings, text);
}
