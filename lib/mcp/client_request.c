/* SPDX-License-Identifier: MIT */
/*
 * client_request.c - questions to the client, in both revisions. In 2026-07-28 a result asks and a
 * new request answers, so a tool's function always runs from its start. Older clients are asked by
 * requests of ours, whose ids are strings, since clients themselves use numbers. A question that is
 * no longer needed is cancelled, so that the host closes its dialog.
 */
#include "mcp/client_request.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/mcp_internal.h"

enum { ASK_TIMEOUT_MS = 10 * 60 * 1000 };

/* One request of ours to an older client. */
struct asked {
	struct mcp_call *call; /* NULL for a side request */
	struct mcp_side_request *side_request;
	char id[24]; /* "s1": a string, so that it differs from the ids that clients use */
	char *key;
	bool open;
};

struct mcp_side_request {
	struct list node;
	struct mcp_server *server;
	struct asked asked;
	enum mcp_ask_kind kind;
	void (*answered)(void *data, json_t *result);
	void *data;
};

/* A call that waits for answers of an older client. */
struct mcp_asking {
	struct mcp_call *call;
	struct loop_timer timeout;
	json_t *answers;
	json_t *state;
	struct asked *asked;
	size_t count;
	size_t open;
};

static const char *const methods[] = {
	[MCP_ASK_FORM] = "elicitation/create",
	[MCP_ASK_URL] = "elicitation/create",
	[MCP_ASK_MODEL] = "sampling/createMessage",
	[MCP_ASK_ROOTS] = "roots/list",
};

static const char *const capability_names[] = {
	[MCP_ASK_FORM] = "elicitation",
	[MCP_ASK_URL] = "elicitation",
	[MCP_ASK_MODEL] = "sampling",
	[MCP_ASK_ROOTS] = "roots",
};

/* MI-1: an empty elicitation capability means forms only. */
static bool declared(const json_t *capabilities, enum mcp_ask_kind kind)
{
	json_t *capability = json_object_get(capabilities, capability_names[kind]);
	bool url = json_object_get(capability, "url") != NULL;

	if (!json_is_object(capability))
		return false;
	if (kind == MCP_ASK_URL)
		return url;
	if (kind == MCP_ASK_FORM)
		return !url || json_object_get(capability, "form") != NULL;
	return true;
}

bool mcp_call_can_ask(const struct mcp_call *call, enum mcp_ask_kind kind)
{
	/* MI-7: an older client is asked nothing before it reported that it is ready. */
	if (!mcp_is_modern(call) && !call->server->legacy.initialized)
		return false;
	return declared(call->sender.capabilities, kind);
}

static bool is_action(const char *action)
{
	return action != NULL &&
	       (str_eq(action, "accept") || str_eq(action, "decline") || str_eq(action, "cancel"));
}

static bool has_shape(const json_t *answer, enum mcp_ask_kind kind)
{
	const json_t *content = json_object_get(answer, "content");

	switch (kind) {
	case MCP_ASK_FORM:
	case MCP_ASK_URL:
		return is_action(json_string_value(json_object_get(answer, "action"))) &&
		       (content == NULL || json_is_object(content));
	case MCP_ASK_MODEL:
		return json_is_string(json_object_get(answer, "role")) &&
		       (json_is_object(content) || json_is_array(content));
	case MCP_ASK_ROOTS:
		return json_is_array(json_object_get(answer, "roots"));
	}
	return false;
}

json_t *mcp_call_answer(const struct mcp_call *call, const char *key, enum mcp_ask_kind kind)
{
	json_t *answer = json_object_get(call->answers, key);

	return has_shape(answer, kind) ? answer : NULL;
}

json_t *mcp_call_state(const struct mcp_call *call)
{
	return call->state;
}

int mcp_ask_resume(struct mcp_call *call, struct mcp_refusal *no)
{
	json_t *handle = json_object_get(call->params, "requestState");
	json_t *answers = json_object_get(call->params, "inputResponses");

	if (answers != NULL && !json_is_object(answers))
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "params.inputResponses must be an object");
	call->answers = json_incref(answers);
	if (handle == NULL)
		return 0;
	call->state = mcp_states_take(call->server->states, call, handle);
	if (call->state == NULL)
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "params.requestState is not valid here; start the request anew");
	return 0;
}

/* ---- clients that cannot be asked ---- */

static json_t *missing_capabilities(const struct mcp_call *call,
				    const struct mcp_question *questions, size_t count)
{
	json_t *missing = NULL;

	for (size_t i = 0; i < count; i++) {
		json_t *needed;

		if (mcp_call_can_ask(call, questions[i].kind))
			continue;
		needed = json_object();
		if (questions[i].kind == MCP_ASK_URL)
			json_put(needed, "url", json_object());
		if (missing == NULL)
			missing = json_object();
		json_put(missing, capability_names[questions[i].kind], needed);
	}
	return missing;
}

static void refuse_missing(struct mcp_call *call, json_t *missing_own, const char *instead)
{
	json_t *data;

	if (!mcp_is_modern(call)) {
		json_decref(missing_own);
		if (call->method->handle == mcp_tools_call)
			mcp_call_fail(call, instead);
		else
			mcp_call_refuse(call, RPC_INTERNAL_ERROR, instead, NULL);
		return;
	}
	data = json_object();
	json_put(data, "requiredCapabilities", missing_own);
	mcp_call_refuse(call, MCP_MISSING_CAPABILITY,
			"The client lacks a capability that this needs", data);
}

/* ---- 2026-07-28: the result asks, a new request answers ---- */

static void put_question(json_t *requests, const struct mcp_question *question)
{
	json_t *request = json_object();

	json_put_str(request, "method", methods[question->kind]);
	json_put(request, "params",
		 question->params != NULL ? json_incref(question->params) : json_object());
	json_put(requests, question->key, request);
}

static void ask_modern(struct mcp_call *call, const struct mcp_question *questions, size_t count,
		       json_t *state_own)
{
	json_t *requests = json_object();
	json_t *result = json_object();

	for (size_t i = 0; i < count; i++)
		put_question(requests, &questions[i]);
	json_put_str(result, "resultType", "input_required");
	json_put(result, "inputRequests", requests);
	if (state_own != NULL)
		json_put(result, "requestState",
			 mcp_states_put(call->server->states, call, state_own));
	mcp_call_finish_result(call, result);
}

/* ---- older revisions: requests of ours, and the call continues ---- */

/* Forgets one request. With `notify`, cancels it at a client that has not answered. */
static void close_asked(struct mcp_server *server, struct asked *asked, bool notify)
{
	json_t *params;

	if (!asked->open)
		return;
	asked->open = false;
	(void)map_take(server->asked, asked->id, strlen(asked->id));
	if (!notify)
		return;
	params = json_object();
	json_put_str(params, "requestId", asked->id);
	mcp_reply_notify(server, "notifications/cancelled", params);
}

void mcp_ask_abandon(struct mcp_call *call)
{
	struct mcp_asking *asking = call->asking;

	call->asking = NULL;
	loop_timer_stop(&asking->timeout);
	for (size_t i = 0; i < asking->count; i++) {
		close_asked(call->server, &asking->asked[i], true);
		free(asking->asked[i].key);
	}
	json_decref(asking->answers);
	json_decref(asking->state);
	free(asking->asked);
	free(asking);
}

static void fail_asking(struct mcp_call *call, const char *text)
{
	mcp_ask_abandon(call);
	if (call->method->handle == mcp_tools_call)
		mcp_call_fail(call, text);
	else
		mcp_call_refuse(call, RPC_INTERNAL_ERROR, text, NULL);
}

static void on_timeout(struct loop_timer *timer)
{
	struct mcp_asking *asking = container_of(timer, struct mcp_asking, timeout);

	fail_asking(asking->call, "The question to the user was not answered within 10 minutes.");
}

/* Runs the tool again, once all answers are there. */
static void run_again(struct mcp_call *call)
{
	struct mcp_asking *asking = call->asking;

	json_decref(call->answers);
	json_decref(call->state);
	call->answers = json_incref(asking->answers);
	call->state = json_incref(asking->state);
	mcp_ask_abandon(call);
	call->on_cancel = NULL;
	call->method->handle(call);
}

static int send_question(struct mcp_server *server, struct asked *asked,
			 const struct mcp_question *question)
{
	(void)snprintf(asked->id, sizeof(asked->id), "s%llu",
		       (unsigned long long)++server->last_asked);
	if (mcp_reply_request(server, asked->id, methods[question->kind], question->params) < 0)
		return -1;
	asked->open = true;
	(void)map_set(server->asked, asked->id, strlen(asked->id), asked);
	return 0;
}

static void ask_legacy(struct mcp_call *call, const struct mcp_question *questions, size_t count,
		       json_t *state_own)
{
	struct mcp_asking *asking = xcalloc(1, sizeof(*asking));

	call->asking = asking;
	asking->call = call;
	asking->answers = json_object();
	asking->state = state_own;
	asking->asked = xcalloc(count, sizeof(*asking->asked));
	for (size_t i = 0; i < count; i++) {
		struct asked *asked = &asking->asked[i];

		asked->call = call;
		asked->key = xstrdup(questions[i].key);
		asking->count++;
		if (send_question(call->server, asked, &questions[i]) < 0) {
			fail_asking(call, "The question to the user is too long.");
			return;
		}
		asking->open++;
	}
	loop_timer_start(call->server->loop, &asking->timeout,
			 loop_now(call->server->loop) + ASK_TIMEOUT_MS, on_timeout);
}

void mcp_call_ask(struct mcp_call *call, const struct mcp_question *questions, size_t count,
		  json_t *state_own, const char *instead)
{
	json_t *missing;

	assert(count > 0 && (call->method->traits & MCP_ASKS) != 0);
	if (call->cancelled) {
		json_decref(state_own);
		mcp_call_end(call);
		return;
	}
	missing = missing_capabilities(call, questions, count);
	if (missing != NULL) {
		json_decref(state_own);
		refuse_missing(call, missing, instead);
	} else if (mcp_is_modern(call)) {
		ask_modern(call, questions, count, state_own);
	} else {
		ask_legacy(call, questions, count, state_own);
	}
}

static void fail_by_client(struct mcp_call *call, const json_t *error)
{
	const char *message = json_string_value(json_object_get(error, "message"));
	struct err err;

	(void)err_set(&err, ERR_DENIED, "The client did not put the question to the user: %.150s",
		      message != NULL ? message : "no reason given");
	fail_asking(call, err.msg);
}

/* ---- side requests ---- */

static void end_side_request(struct mcp_side_request *side_request, json_t *result)
{
	void (*answered)(void *data, json_t *result) = side_request->answered;
	void *data = side_request->data;

	list_remove(&side_request->node);
	free(side_request);
	answered(data, result);
}

struct mcp_side_request *mcp_call_ask_side_request(struct mcp_call *call,
						   const struct mcp_question *question,
						   void (*answered)(void *data, json_t *result),
						   void *data)
{
	struct mcp_side_request *side_request;

	if (mcp_is_modern(call) || !mcp_call_can_ask(call, question->kind) || call->cancelled)
		return NULL;
	side_request = xcalloc(1, sizeof(*side_request));
	list_init(&side_request->node);
	side_request->server = call->server;
	side_request->asked.side_request = side_request;
	side_request->kind = question->kind;
	side_request->answered = answered;
	side_request->data = data;
	if (send_question(call->server, &side_request->asked, question) < 0) {
		free(side_request);
		return NULL;
	}
	list_append(&call->server->side_requests, &side_request->node);
	return side_request;
}

void mcp_side_request_withdraw(struct mcp_side_request *side_request)
{
	if (side_request == NULL)
		return;
	close_asked(side_request->server, &side_request->asked, true);
	list_remove(&side_request->node);
	free(side_request);
}

/* ---- responses of the client ---- */

void mcp_ask_response(struct mcp_server *server, const struct rpc_message *message)
{
	const char *id = json_string_value(message->id);
	struct asked *asked = id != NULL ? map_get(server->asked, id, strlen(id)) : NULL;
	struct mcp_call *call;

	if (asked == NULL)
		return; /* never answered, even if it is wrong (RP-4) */
	call = asked->call;
	close_asked(server, asked, false);
	if (asked->side_request != NULL) {
		end_side_request(asked->side_request,
				 has_shape(message->result, asked->side_request->kind)
					 ? message->result
					 : NULL);
		return;
	}
	if (message->error != NULL) {
		fail_by_client(call, message->error);
		return;
	}
	json_put(call->asking->answers, asked->key, json_incref(message->result));
	if (--call->asking->open == 0)
		run_again(call);
}

static struct mcp_call *first_asking(const struct mcp_server *server)
{
	list_for_each (struct mcp_call, call, &server->calls, node)
		if (call->asking != NULL)
			return call;
	return NULL;
}

void mcp_ask_input_ended(struct mcp_server *server)
{
	struct mcp_call *call;

	while (!list_empty(&server->side_requests)) {
		struct mcp_side_request *side_request =
			list_entry(server->side_requests.next, struct mcp_side_request, node);

		close_asked(server, &side_request->asked, false);
		end_side_request(side_request, NULL);
	}
	while ((call = first_asking(server)) != NULL)
		fail_asking(call, "The client ended its input, so the question has no answer.");
}
