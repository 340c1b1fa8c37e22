/* SPDX-License-Identifier: MIT */
/*
 * wait_cell.c - progress, cancellation and questions to the user while a cell runs.
 *
 * With a question in the result (2026-07-28) the call has ended and the server keeps nothing of it:
 * the request state names session, language, generation, cell and wait. So an answer to an earlier
 * wait of the same cell, or to a cell before a restart, is not typed.
 */
#include "tools/wait_cell.h"

#include <stdlib.h>

#include "answer/audit_events.h"
#include "answer/audit_log.h"
#include "answer/cell_answer.h"
#include "answer/history.h"
#include "base/mem.h"
#include "install/broker.h"
#include "json/make.h"
#include "json/parse.h"
#include "mcp/client_request.h"
#include "mcp/server.h"
#include "session/session.h"
#include "session/table.h"
#include "text/prompt.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/tool.h"

#define ANSWER "answer" /* the key of the question and of its only field */

enum { LINE_MAX_CHARS = 200 /* of a progress message */ };

struct wait_cell {
	struct mcp_call *call;
	struct service *service;
	struct call *waiting;
	struct loop_timer progress;
	struct mcp_side_request *
		aside; /* the request with the question to a client of an older revision, or NULL */
	struct wait_name asked; /* the wait of that question */
};

struct wait_cell *wait_cell_new(struct mcp_call *call, struct service *service)
{
	struct wait_cell *waiter = xcalloc(1, sizeof(*waiter));

	waiter->call = call;
	waiter->service = service;
	return waiter;
}

static void waiter_free(struct wait_cell *waiter)
{
	loop_timer_stop(&waiter->progress);
	mcp_side_request_withdraw(waiter->aside);
	free(waiter);
}

void wait_cell_done(struct call *call, const struct exec_result *result, void *data)
{
	struct wait_cell *waiter = data;

	(void)call;
	cell_answer_finish(waiter->call, waiter->service->settings->results,
			   waiter->service->history, result);
	waiter_free(waiter);
}

static void on_cell_cancel(struct mcp_call *call, void *data)
{
	struct wait_cell *waiter = data;

	if (mcp_call_is_deserted(call))
		session_call_forget(waiter->waiting);
	else
		session_call_cancel(waiter->waiting);
	mcp_call_fail(call, "cancelled");
	waiter_free(waiter);
}

/* ---- progress ---- */

static void on_progress_timer(struct loop_timer *timer);

static void schedule_progress(struct wait_cell *waiter)
{
	struct loop *loop = waiter->service->loop;

	loop_timer_start(loop, &waiter->progress, loop_now(loop) + WAIT_CELL_PROGRESS_MS,
			 on_progress_timer);
}

static void on_progress_timer(struct loop_timer *timer)
{
	struct wait_cell *waiter = container_of(timer, struct wait_cell, progress);
	uint64_t ms = 0;
	cleanup_free char *line = session_call_progress(waiter->waiting, &ms);
	cleanup_free char *installs =
		broker_code_progress(waiter->service->broker, session_of_call(waiter->waiting));
	const char *shown = installs != NULL ? installs : line;
	cleanup_buf struct buf message = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&message, shown, strlen(shown), LINE_MAX_CHARS);
	mcp_call_progress(waiter->call, (double)ms / 1000, -1,
			  message.len > 0 ? buf_str(&message) : NULL);
	schedule_progress(waiter);
}

/* ---- asking the user ---- */

/* The prompt is untrusted: it stands in quotes that it cannot close, between fixed words. */
static json_t *make_question(const struct session *session, const char *prompt)
{
	static const char schema[] = "{\"type\":\"object\",\"properties\":{\"" ANSWER
				     "\":{\"type\":\"string\",\"title\":\"Answer\"}},"
				     "\"required\":[\"" ANSWER "\"]}";
	cleanup_free char *quoted = prompt_quote(prompt);
	cleanup_free char *message = NULL;
	json_t *params = json_object();

	message = xasprintf("Code that runs in session '%s' asks for input: \"%s\" - It will see "
			    "what you answer. Give no passwords or other secrets.",
			    session_id(session), quoted);
	json_put_str(params, "message", message);
	json_put(params, "requestedSchema", json_parse_const(schema));
	return params;
}

static json_t *make_request_state(const struct session *session, const struct wait_name *name)
{
	json_t *state = json_object();

	json_put_str(state, "session_id", session_id(session));
	json_put_str(state, "language", name->language->name);
	json_put_int(state, "generation", (json_int_t)name->generation);
	json_put_int(state, "cell", (json_int_t)name->cell);
	json_put_int(state, "wait", (json_int_t)name->number);
	return state;
}

/* Returns the user's line, or NULL and sets *ret_why when there is none to type. */
static const char *read_answer(json_t *result, size_t *ret_len, const char **ret_why)
{
	const char *action = json_string_value(json_object_get(result, "action"));
	const char *text = NULL;

	*ret_why = "the user was asked and gave no answer";
	if (action != NULL && str_eq(action, "accept"))
		text = json_string_value(
			json_object_get(json_object_get(result, "content"), ANSWER));
	if (text == NULL)
		return NULL;
	*ret_len = strcspn(text, "\r\n");
	if (text[*ret_len + strspn(text + *ret_len, "\r\n")] == '\0')
		return text;
	*ret_why = "the user's answer had several lines, where one is asked for: it was not typed";
	return NULL;
}

/* Records only the kind of answer: its text is recorded as typed input. */
static void record_question(const struct service *service, struct session *session,
			    const struct wait_name *wait, const json_t *result)
{
	static const char *const words[] = { "accept", "decline", "cancel" };
	const char *action = json_string_value(json_object_get(result, "action"));
	const char *word = "none";

	for (size_t i = 0; action != NULL && i < ARRAY_SIZE(words); i++)
		if (str_eq(action, words[i]))
			word = words[i];
	audit_events_question(audit_log_events(history_audit_log(service->history)), session,
			      wait->cell, wait->language->name, word);
}

static void on_user_answer(void *data, json_t *result)
{
	struct wait_cell *waiter = data;
	const char *why;
	size_t len;
	const char *answer = read_answer(result, &len, &why);

	waiter->aside = NULL;
	record_question(waiter->service, session_of_call(waiter->waiting), &waiter->asked, result);
	if (answer != NULL)
		session_call_answer(waiter->waiting, &waiter->asked, answer, len);
	else
		session_call_unanswered(waiter->waiting, why);
}

static bool on_wait(struct call *call, const struct runner_wait *wait, const struct wait_name *name,
		    void *data)
{
	struct wait_cell *waiter = data;
	struct mcp_question asked = { .key = ANSWER, .kind = MCP_ASK_FORM };
	cleanup_json json_t *params = NULL;

	if (wait == NULL) {
		mcp_side_request_withdraw(waiter->aside);
		waiter->aside = NULL;
		return true;
	}
	if (!waiter->service->settings->elicit || !mcp_call_can_ask(waiter->call, MCP_ASK_FORM))
		return false;
	params = make_question(session_of_call(call), wait->prompt);
	asked.params = params;
	waiter->asked = *name;
	if (mcp_call_revision(waiter->call) < MCP_2026_07_28) {
		waiter->aside =
			mcp_call_ask_side_request(waiter->call, &asked, on_user_answer, waiter);
		return waiter->aside != NULL;
	}
	mcp_call_ask(waiter->call, &asked, 1, make_request_state(session_of_call(call), name), "");
	session_call_forget(call);
	waiter_free(waiter);
	return true;
}

/* ---- starting ---- */

void wait_cell_start(struct wait_cell *waiter, struct call *call, const struct err *err)
{
	if (call == NULL) {
		tool_fail(waiter->call, waiter->service, err);
		waiter_free(waiter);
		return;
	}
	waiter->waiting = call;
	session_call_on_wait(call, on_wait);
	mcp_call_on_cancel(waiter->call, on_cell_cancel, waiter);
	schedule_progress(waiter);
}

static struct call *interact_again(struct wait_cell *waiter, json_t *arguments, json_t *state,
				   struct err *err)
{
	struct interact_request request = { .action = INTERACT_ASK };
	json_t *result = mcp_call_answer(waiter->call, ANSWER, MCP_ASK_FORM);
	struct session *session = NULL;
	struct table *table = service_table(waiter->service, err);
	const char *why;

	if (table != NULL)
		session = table_find(table, json_string_value(json_object_get(state, "session_id")),
				     err);
	if (session == NULL ||
	    tool_get_wait(waiter->service, arguments, &request.wait_ms, &request.wait_cut, err) < 0)
		return NULL;
	request.wait.language =
		language_find(json_string_value(json_object_get(state, "language")));
	request.wait.generation =
		(uint64_t)json_integer_value(json_object_get(state, "generation"));
	request.wait.cell = (uint64_t)json_integer_value(json_object_get(state, "cell"));
	request.wait.number = (uint64_t)json_integer_value(json_object_get(state, "wait"));
	request.language = request.wait.language;
	if (result != NULL && request.wait.language != NULL)
		record_question(waiter->service, session, &request.wait, result);
	request.text = read_answer(result, &request.text_len, &why);
	if (request.text != NULL) {
		request.action = INTERACT_ANSWER;
	} else if (result != NULL) {
		request.action = INTERACT_WAIT;
		request.note = why;
	}
	return session_interact(session, &request, wait_cell_done, waiter, err);
}

bool wait_cell_resume(struct mcp_call *call, struct service *service, json_t *arguments)
{
	json_t *state = mcp_call_state(call);
	struct wait_cell *waiter;
	struct err err;

	if (state == NULL)
		return false;
	waiter = wait_cell_new(call, service);
	wait_cell_start(waiter, interact_again(waiter, arguments, state, &err), &err);
	return true;
}
