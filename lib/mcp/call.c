/* SPDX-License-Identifier: MIT */
/*
 * call.c - the life of one request: its ids, its cancellation, its one answer. A call leaves the
 * tables when it is cancelled, not when its owner ends it. The client may therefore reuse the id at
 * once, and an owner that is slow to stop does not use up the client's calls.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/mcp_internal.h"

static bool is_listener(const struct mcp_call *call)
{
	return call->method->handle == mcp_listen;
}

/* Reads the progress token, which has the rules of an id: a string or an integer, bounded. */
static json_t *read_token(const json_t *params)
{
	json_t *token = json_object_get(json_object_get(params, "_meta"), "progressToken");

	return rpc_id_valid(token) ? token : NULL;
}

struct mcp_call *mcp_call_new(struct mcp_server *server, const struct mcp_method *method,
			      json_t *value, const struct rpc_message *message)
{
	struct mcp_call *call = xcalloc(1, sizeof(*call));
	struct rpc_key key;

	call->server = server;
	call->method = method;
	call->message = json_incref(value);
	call->id = message->id;
	call->params = message->params;
	call->progress_token = read_token(message->params);
	call->progress = -HUGE_VAL;
	list_init(&call->node);
	list_append(is_listener(call) ? &server->listeners : &server->calls, &call->node);
	rpc_key_of(call->id, &key);
	(void)map_set(server->by_id, key.data, key.len, call);
	if (is_listener(call)) {
		server->listener_count++;
		return call;
	}
	server->live_count++;
	server->call_count += (method->traits & MCP_COUNTED) != 0;
	return call;
}

/* Frees the id and the place of the call; its batch does not wait for it either. */
static void retire_call(struct mcp_call *call)
{
	struct mcp_server *server = call->server;
	struct mcp_batch *batch = call->batch;
	struct rpc_key key;

	rpc_key_of(call->id, &key);
	(void)map_take(server->by_id, key.data, key.len);
	if (is_listener(call)) {
		server->listener_count--;
		return;
	}
	server->live_count--;
	server->call_count -= (call->method->traits & MCP_COUNTED) != 0;
	call->batch = NULL;
	if (batch != NULL)
		mcp_batch_done(server, batch);
}

void mcp_call_end(struct mcp_call *call)
{
	assert(call->asking == NULL);
	if (!call->cancelled)
		retire_call(call);
	list_remove(&call->node);
	mcp_listen_free(call->listen);
	json_decref(call->message);
	json_decref(call->sender.capabilities);
	json_decref(call->sender.client_info);
	json_decref(call->no_arguments);
	json_decref(call->answers);
	json_decref(call->state);
	free(call);
}

void mcp_call_cancel(struct mcp_call *call)
{
	if (is_listener(call)) {
		mcp_call_end(call);
		return;
	}
	retire_call(call);
	call->cancelled = true;
	if (call->asking != NULL) {
		mcp_ask_abandon(call);
		mcp_call_end(call);
	} else if (call->on_cancel != NULL) {
		call->on_cancel(call, call->on_cancel_data);
	}
}

json_t *mcp_call_arguments(struct mcp_call *call)
{
	json_t *arguments = json_object_get(call->params, "arguments");

	if (arguments != NULL && !json_is_null(arguments))
		return arguments;
	if (call->no_arguments == NULL)
		call->no_arguments = json_object();
	return call->no_arguments;
}

void mcp_call_refuse_params(struct mcp_call *call, const struct err *err)
{
	mcp_call_refuse(call, RPC_INVALID_PARAMS, err->msg, NULL);
}

bool mcp_call_refused_cursor(struct mcp_call *call)
{
	json_t *cursor = json_object_get(call->params, "cursor");

	if (cursor == NULL || json_is_null(cursor))
		return false;
	mcp_call_refuse(call, RPC_INVALID_PARAMS, "Unknown cursor", NULL);
	return true;
}

/* ---- for tools ---- */

void mcp_call_on_cancel(struct mcp_call *call, void (*cancelled)(struct mcp_call *call, void *data),
			void *data)
{
	call->on_cancel = cancelled;
	call->on_cancel_data = data;
}

bool mcp_call_is_deserted(const struct mcp_call *call)
{
	return call->server->deserted;
}

enum mcp_revision mcp_call_revision(const struct mcp_call *call)
{
	return call->sender.revision;
}

const char *mcp_call_target(const struct mcp_call *call)
{
	const char *name = json_string_value(json_object_get(call->params, "name"));

	return name != NULL ? name : "";
}

static const char *client_text(const struct mcp_call *call, const char *key)
{
	const char *text = json_string_value(json_object_get(call->sender.client_info, key));

	return text != NULL ? text : "";
}

const char *mcp_call_client_name(const struct mcp_call *call)
{
	return client_text(call, "name");
}

const char *mcp_call_client_version(const struct mcp_call *call)
{
	return client_text(call, "version");
}

static void put_number(json_t *object, const char *key, double value)
{
	if (value > -1e15 && value < 1e15 && value == (double)(json_int_t)value)
		json_put_int(object, key, (json_int_t)value);
	else
		json_put_real(object, key, value);
}

/* Returns a value that is larger by so little that it still shows in 15 digits. */
static double just_above(double value)
{
	double size = value < 0 ? -value : value;

	return value + (size > 1 ? size : 1) * 1e-6;
}

void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message)
{
	json_t *params;

	if (call->progress_token == NULL || call->cancelled || !isfinite(progress))
		return;
	if (call->server->flowing != NULL && !call->server->flowing(call->server->write_context))
		return;
	if (progress <= call->progress)
		progress = just_above(call->progress);
	call->progress = progress;
	params = json_object();
	json_put(params, "progressToken", json_incref(call->progress_token));
	put_number(params, "progress", progress);
	if (total >= 0 && isfinite(total))
		put_number(params, "total", total);
	if (call->sender.revision >= MCP_2025_03_26)
		json_put_str(params, "message", message);
	mcp_reply_notify(call->server, "notifications/progress", params);
}

void mcp_call_log(struct mcp_call *call, const char *level, json_t *data_own)
{
	cleanup_json json_t *data = data_own;
	enum mcp_level rank;
	json_t *params;

	if (!call->server->features->logging || call->cancelled)
		return;
	if (mcp_revision_parse_level(level, &rank) < 0 || rank < call->sender.log_level)
		return;
	params = json_object();
	json_put_str(params, "level", level);
	json_put(params, "data", json_incref(data));
	mcp_reply_notify(call->server, "notifications/message", params);
}

/* ---- the answer ---- */

static void convert_prompt(json_t *result, enum mcp_revision revision)
{
	json_t *message;
	size_t i;

	json_array_foreach (json_object_get(result, "messages"), i, message) {
		json_t *block = json_incref(json_object_get(message, "content"));

		if (block != NULL)
			json_put(message, "content", mcp_content_convert_block(block, revision));
	}
}

void mcp_call_finish_result(struct mcp_call *call, json_t *result_own)
{
	if (!call->cancelled) {
		/* a null here breaks every TypeScript client (PG-2) */
		if (json_is_null(json_object_get(result_own, "nextCursor")))
			(void)json_object_del(result_own, "nextCursor");
		if (call->method->handle == mcp_prompts_get)
			convert_prompt(result_own, call->sender.revision);
		mcp_reply_decorate(call, result_own);
		mcp_reply_result(call, result_own);
	}
	json_decref(result_own);
	mcp_call_end(call);
}

/*
 * Returns whether the revision takes structuredContent: only objects before 2026-07-28 (TL-7), none
 * before 2025-06-18, and never with errors (TL-6).
 */
static bool takes_structured(const struct mcp_call *call, const json_t *structured, bool is_error)
{
	if (structured == NULL || is_error || call->sender.revision < MCP_2025_06_18)
		return false;
	return mcp_is_modern(call) || json_is_object(structured);
}

void mcp_call_finish(struct mcp_call *call, json_t *content_own, json_t *structured_own,
		     json_t *meta_own, bool is_error)
{
	json_t *result = json_object();

	json_put(result, "content", mcp_content_convert(content_own, call->sender.revision));
	if (takes_structured(call, structured_own, is_error))
		json_put(result, "structuredContent", structured_own);
	else
		json_decref(structured_own);
	if (is_error)
		json_put_bool(result, "isError", true);
	json_put(result, "_meta", meta_own);
	mcp_call_finish_result(call, result);
}

void mcp_call_fail(struct mcp_call *call, const char *text)
{
	json_t *content = json_array();

	json_append(content, mcp_text(text, strlen(text)));
	mcp_call_finish(call, content, NULL, NULL, true);
}

void mcp_call_refuse(struct mcp_call *call, int code, const char *message, json_t *data_own)
{
	struct mcp_refusal no;

	(void)mcp_refuse(&no, code, "%s", message);
	no.data = data_own;
	if (!call->cancelled)
		mcp_reply_error(call->server, call->batch, call->id, &no);
	else
		json_decref(data_own);
	mcp_call_end(call);
}

void mcp_call_refuse_resource(struct mcp_call *call, const char *uri, const char *reason)
{
	cleanup_free char *text = xasprintf("Resource not found%s%s", reason != NULL ? ": " : "",
					    reason != NULL ? reason : "");
	json_t *data = json_object();

	json_put_str(data, "uri", uri);
	mcp_call_refuse(call, mcp_is_modern(call) ? RPC_INVALID_PARAMS : MCP_UNKNOWN_RESOURCE, text,
			data);
}

void mcp_call_refuse_unknown_resource(struct mcp_call *call, const char *uri)
{
	mcp_call_refuse_resource(call, uri, NULL);
}
