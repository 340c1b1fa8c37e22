/* SPDX-License-Identifier: MIT */
/* tool_interact.c - interact: looking at a cell that runs, and ending it. */
#include "base/mem.h"
#include "json/get.h"
#include "session/session.h"
#include "text/clean.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/waiter.h"

static const char *const known[] = { "session_id", "language", "action", "wait" };

static const struct {
	const char *name;
	enum look_action action;
} actions[] = {
	{ "wait", LOOK_WAIT },
	{ "interrupt", LOOK_INTERRUPT },
	{ "terminate", LOOK_TERMINATE },
	{ "kill", LOOK_KILL },
};

static int find_action(const char *name, enum look_action *ret, struct err *err)
{
	cleanup_free char *quoted = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (str_eq(actions[i].name, name)) {
			*ret = actions[i].action;
			return 0;
		}
	quoted = clean_quote(name);
	return err_set(err, ERR_INVALID,
		       "arguments.action must be wait, interrupt, terminate or kill, not '%s'",
		       quoted);
}

static int read_request(const struct service *service, json_t *arguments, struct look_request *ret,
			struct err *err)
{
	const char *language = NULL;
	const char *action = "wait";

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    json_get_text(arguments, "arguments", "language", &language, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "action", &action, NULL, err) < 0 ||
	    find_action(action, &ret->action, err) < 0 ||
	    tool_get_wait(service, arguments, &ret->wait_ms, err) < 0)
		return -1;
	if (language == NULL)
		return 0;
	ret->language = tool_find_language(service, language, err);
	return ret->language == NULL ? -1 : 0;
}

void tool_interact(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct look_request request = { .language = NULL };
	struct session *session;
	struct waiter *waiter;
	struct err err;

	if (read_request(service, arguments, &request, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	session = tool_session(service, arguments, false, &err);
	if (session == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	waiter = waiter_new(call, service);
	waiter_start(waiter, session_look(session, &request, waiter_done, waiter, &err), &err);
}
