/* SPDX-License-Identifier: MIT */
/*
 * tool_interact.c - interact: waits for a running cell, types into it, or stops it; or runs the
 * recorded cells again, or brings saved variables back.
 *
 * Exactly one of input, key and action is read; without any of them the call waits. A failing audit
 * refuses input, but never a stop: code must always be stoppable.
 */
#include <strings.h>

#include "base/mem.h"
#include "json/get.h"
#include "session/restore.h"
#include "session/session.h"
#include "session/session_values.h"
#include "text/sanitize.h"
#include "tools/keys.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_cell.h"
#include "tools/wait_restore.h"

enum { UNTIL_MAX = 1000 /* bytes */ };

/* The call: one for the session's interact, or one that restores. */
struct interact_args {
	struct interact_request request;
	restore_begin_fn *restores; /* of the actions whose names begin with restore; or NULL */
};

static const char *const known[] = { "session_id", "language", "input", "raw",
				     "key",        "action",   "until", "wait" };

static const struct {
	const char *name;
	enum interact_action action;
} actions[] = {
	{ "wait", INTERACT_WAIT },
	{ "interrupt", INTERACT_INTERRUPT },
	{ "terminate", INTERACT_TERMINATE },
	{ "kill", INTERACT_KILL },
	/* Other words of models. */
	{ "continue", INTERACT_WAIT },
	{ "poll", INTERACT_WAIT },
	{ "stop", INTERACT_INTERRUPT },
	{ "cancel", INTERACT_INTERRUPT },
};

static int find_action(const char *name, struct interact_args *ret, struct err *err)
{
	cleanup_free char *quoted = NULL;

	if (strcasecmp(name, "restore_run") == 0)
		ret->restores = session_restore_start;
	else if (strcasecmp(name, "restore_outside") == 0)
		ret->restores = session_restore_start_outside;
	else if (strcasecmp(name, "restore_values") == 0)
		ret->restores = session_values_restore;
	if (ret->restores != NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcasecmp(actions[i].name, name) == 0) {
			ret->request.action = actions[i].action;
			return 0;
		}
	quoted = sanitize_quote(name);
	return err_set(err, ERR_INVALID,
		       "arguments.action must be wait, interrupt, terminate, kill, restore_run, "
		       "restore_outside or restore_values, not '%s'",
		       quoted);
}

static int read_key(const char *name, struct interact_request *ret, struct err *err)
{
	cleanup_free char *quoted = NULL;

	if (keys_find(name, &ret->text, &ret->text_len)) {
		ret->action = INTERACT_TYPE;
		ret->typing = TYPE_KEY;
		return 0;
	}
	quoted = sanitize_quote(name);
	return err_set(
		err, ERR_INVALID,
		"arguments.key '%s' is no key: characters are typed by input with raw: true (without "
		"Enter). Keys are ctrl-a to ctrl-z, ctrl-\\, enter, tab, shift-tab, escape, space, "
		"backspace, insert, delete, up, down, left, right, home, end, page-up, page-down",
		quoted);
}

/* Returns whether the action says no more than that something is typed, or that its answer is
 * waited for. */
static bool is_typing(const char *action)
{
	static const char *const words[] = { "wait", "input", "send", "type", "key" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i], action) == 0)
			return true;
	return false;
}

/* Reads one of input, key and action; none of them is a wait. */
static int read_action(json_t *arguments, struct interact_args *args, struct err *err)
{
	struct interact_request *ret = &args->request;
	const char *action = NULL;
	const char *key = NULL;
	bool raw = false;

	if (json_get_text(arguments, "arguments", "input", &ret->text, &ret->text_len, err) < 0 ||
	    json_get_text(arguments, "arguments", "key", &key, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "action", &action, NULL, err) < 0 ||
	    json_get_bool(arguments, "arguments", "raw", &raw, err) < 0)
		return -1;
	if ((ret->text != NULL || key != NULL) && action != NULL && is_typing(action))
		action = NULL;
	if ((ret->text != NULL) + (key != NULL) + (action != NULL) > 1)
		return err_set(err, ERR_INVALID,
			       "arguments.input, key and action: give one of them");
	if (ret->text != NULL) {
		ret->action = INTERACT_TYPE;
		ret->typing = raw ? TYPE_RAW : TYPE_LINE;
		return 0;
	}
	if (key != NULL)
		return read_key(key, ret, err);
	return action != NULL ? find_action(action, args, err) : 0;
}

static int read_until(json_t *arguments, struct interact_request *ret, struct err *err)
{
	if (json_get_text(arguments, "arguments", "until", &ret->until, &ret->until_len, err) < 0)
		return -1;
	if (ret->until != NULL && (ret->until_len == 0 || ret->until_len > UNTIL_MAX))
		return err_set(err, ERR_INVALID, "arguments.until must have 1 to %d bytes",
			       UNTIL_MAX);
	return 0;
}

static int read_request(const struct service *service, json_t *arguments,
			struct interact_args *args, struct err *err)
{
	struct interact_request *ret = &args->request;
	const char *language = NULL;

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    json_get_text(arguments, "arguments", "language", &language, NULL, err) < 0 ||
	    read_action(arguments, args, err) < 0 || read_until(arguments, ret, err) < 0 ||
	    tool_get_wait(service, arguments, &ret->wait_ms, &ret->wait_cut, err) < 0)
		return -1;
	if (language == NULL)
		return 0;
	ret->language = tool_find_language(service, language, err);
	return ret->language == NULL ? -1 : 0;
}

/* Waits for a replay of the session's cells, or stops it. Nothing can be typed meanwhile. */
static void follow_restore(struct mcp_call *call, struct service *service, struct session *session,
			   const struct interact_request *request)
{
	static const enum runner_stop stops[] = { [INTERACT_INTERRUPT] = RUNNER_STOP_INTERRUPT,
						  [INTERACT_TERMINATE] = RUNNER_STOP_TERMINATE,
						  [INTERACT_KILL] = RUNNER_STOP_KILL };
	struct err err;

	if (request->action == INTERACT_TYPE) {
		(void)!session_restore_check(session, &err);
		tool_fail(call, service, &err);
		return;
	}
	if (request->action != INTERACT_WAIT)
		session_restore_stop(session, stops[request->action]);
	wait_restore_start(call, service, session, request->wait_ms);
}

void tool_interact(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct interact_args args = { .request.action = INTERACT_WAIT };
	const struct interact_request *request = &args.request;
	struct session *session;
	struct wait_cell *waiter;
	struct err err;

	if (wait_cell_resume(call, service, arguments))
		return;
	if (read_request(service, arguments, &args, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	session = args.restores != NULL ? tool_session_again(service, arguments, &err)
					: tool_session(service, arguments, false, &err);
	if (session == NULL) {
		tool_fail(call, service, &err);
		return;
	}
	/* Code can be stopped even when nothing can be recorded. */
	if ((request->action == INTERACT_TYPE || args.restores != NULL) &&
	    tool_audit_refused(call, service))
		return;
	if (args.restores != NULL) {
		wait_restore_begin(call, service, session, args.restores, request->wait_ms);
		return;
	}
	if (session_restoring(session)) {
		follow_restore(call, service, session, request);
		return;
	}
	waiter = wait_cell_new(call, service);
	wait_cell_start(waiter, session_interact(session, request, wait_cell_done, waiter, &err),
			&err);
}
