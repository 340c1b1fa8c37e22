/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - from a message to its method: envelope, revision, method, params, checked in this
 * order. The order decides which error a wrong request gets, and the protocol's rules prescribe it.
 * The methods themselves are rows of a table.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/mcp_internal.h"
#include "text/sanitize.h"

static bool offers_tools(const struct mcp_features *f)
{
	return f->tool_count > 0;
}

static bool offers_prompts(const struct mcp_features *f)
{
	return f->prompt_count > 0;
}

static bool offers_resources(const struct mcp_features *f)
{
	return f->resources_list != NULL;
}

static bool offers_subscribe(const struct mcp_features *f)
{
	return f->resources_list != NULL && f->resources_subscribe;
}

static bool offers_completion(const struct mcp_features *f)
{
	return f->complete != NULL;
}

static bool offers_logging(const struct mcp_features *f)
{
	return f->logging;
}

static const struct mcp_method methods[] = {
	{ "tools/call", MCP_BOTH | MCP_COUNTED | MCP_ASKS, offers_tools, mcp_tools_call },
	{ "initialize", MCP_LEGACY, NULL, mcp_initialize },
	{ "ping", MCP_LEGACY, NULL, mcp_ping },
	{ "server/discover", MCP_MODERN | MCP_CACHEABLE, NULL, mcp_discover },
	{ "subscriptions/listen", MCP_MODERN, NULL, mcp_listen },
	{ "tools/list", MCP_BOTH | MCP_CACHEABLE, offers_tools, mcp_tools_list },
	{ "prompts/list", MCP_BOTH | MCP_CACHEABLE, offers_prompts, mcp_prompts_list },
	{ "prompts/get", MCP_BOTH | MCP_COUNTED | MCP_ASKS, offers_prompts, mcp_prompts_get },
	{ "resources/list", MCP_BOTH | MCP_COUNTED | MCP_CACHEABLE, offers_resources,
	  mcp_resources_list },
	{ "resources/templates/list", MCP_BOTH | MCP_CACHEABLE, offers_resources,
	  mcp_resources_templates },
	{ "resources/read", MCP_BOTH | MCP_COUNTED | MCP_CACHEABLE | MCP_ASKS, offers_resources,
	  mcp_resources_read },
	{ "resources/subscribe", MCP_LEGACY, offers_subscribe, mcp_resources_subscribe },
	{ "resources/unsubscribe", MCP_LEGACY, offers_subscribe, mcp_resources_unsubscribe },
	{ "completion/complete", MCP_BOTH | MCP_COUNTED, offers_completion, mcp_complete },
	{ "logging/setLevel", MCP_LEGACY, offers_logging, mcp_set_level },
};

/* Returns NULL if the revision has no such method, or we do not offer it (RP-9, ER-6). */
static const struct mcp_method *find_method(const struct mcp_server *server, const char *name,
					    bool modern)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		const struct mcp_method *method = &methods[i];

		if (!str_eq(method->name, name))
			continue;
		if ((method->traits & (modern ? MCP_MODERN : MCP_LEGACY)) == 0)
			return NULL;
		return method->offered == NULL || method->offered(server->features) ? method : NULL;
	}
	return NULL;
}

/* Checks everything that can be refused before the method's own work. Returns -1 and sets *no. */
static int check_request(struct mcp_server *server, const struct rpc_message *message,
			 bool in_batch, struct mcp_sender *sender, const struct mcp_method **ret,
			 struct mcp_refusal *no)
{
	struct rpc_key key;

	if (mcp_revision_read(server, message, sender, no) < 0)
		return -1;
	*ret = find_method(server, message->method, sender->revision >= MCP_2026_07_28);
	if (*ret == NULL) {
		cleanup_free char *quoted = sanitize_quote(message->method);

		return mcp_refuse(no, RPC_METHOD_NOT_FOUND, "Method not found: %s", quoted);
	}
	if (message->params != NULL && !json_is_object(message->params))
		return mcp_refuse(no, RPC_INVALID_PARAMS, "params must be an object");
	if (in_batch && ((*ret)->handle == mcp_initialize || sender->revision >= MCP_2026_07_28))
		return mcp_refuse(no, RPC_INVALID_REQUEST, "This request cannot be in a batch");
	rpc_key_of(message->id, &key);
	if (map_get(server->by_id, key.data, key.len) != NULL)
		return mcp_refuse(no, RPC_INVALID_REQUEST, "A request with this id is live");
	if (((*ret)->traits & MCP_COUNTED) != 0 &&
	    server->call_count >= server->limits->live_calls_max)
		return mcp_refuse(no, RPC_INTERNAL_ERROR,
				  "%zu requests are live, which is the limit; wait for one",
				  server->call_count);
	return 0;
}

/* `info` may be NULL. */
static void note_client(struct mcp_server *server, json_t *info)
{
	if (info == NULL || info == server->client_info)
		return;
	json_decref(server->client_info);
	server->client_info = json_incref(info);
}

static void take_request(struct mcp_server *server, json_t *value,
			 const struct rpc_message *message, struct mcp_batch *batch)
{
	const struct mcp_method *method = NULL;
	struct mcp_refusal no;
	struct mcp_sender sender;
	struct mcp_call *call;

	if (check_request(server, message, batch != NULL, &sender, &method, &no) < 0) {
		mcp_reply_error(server, batch, message->id, &no);
		return;
	}
	call = mcp_call_new(server, method, value, message);
	call->sender = sender;
	(void)json_incref(sender.capabilities);
	(void)json_incref(sender.client_info);
	note_client(server, sender.client_info);
	call->batch = batch;
	if (batch != NULL)
		batch->pending++;
	if ((method->traits & MCP_ASKS) != 0 && mcp_is_modern(call) &&
	    mcp_ask_resume(call, &no) < 0) {
		mcp_call_refuse(call, no.code, no.message, no.data);
		return;
	}
	method->handle(call);
}

static void take_cancelled(struct mcp_server *server, const json_t *params)
{
	json_t *id = json_object_get(params, "requestId");
	struct mcp_call *call;
	struct rpc_key key;

	if (!rpc_id_valid(id))
		return;
	rpc_key_of(id, &key);
	call = map_get(server->by_id, key.data, key.len);
	if (call != NULL)
		mcp_call_cancel(call);
}

/* Takes a notification. None is answered; all but these two mean nothing to us (RP-3, ER-13). */
static void take_notification(struct mcp_server *server, const struct rpc_message *message)
{
	if (str_eq(message->method, "notifications/cancelled"))
		take_cancelled(server, message->params);
	else if (str_eq(message->method, "notifications/initialized"))
		server->legacy.initialized = server->legacy.handshake;
}

void mcp_dispatch(struct mcp_server *server, json_t *value, struct mcp_batch *batch)
{
	struct rpc_message message;
	struct mcp_refusal no;

	rpc_message_read(value, &message);
	switch (message.kind) {
	case RPC_REQUEST:
		take_request(server, value, &message, batch);
		break;
	case RPC_NOTIFICATION:
		take_notification(server, &message);
		break;
	case RPC_RESPONSE:
		mcp_ask_response(server, &message);
		break;
	case RPC_INVALID:
		(void)mcp_refuse(&no, RPC_INVALID_REQUEST, "Invalid request: %s", message.problem);
		mcp_reply_error(server, batch, message.id, &no);
		break;
	}
}
