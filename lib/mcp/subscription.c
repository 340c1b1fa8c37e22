/* SPDX-License-Identifier: MIT */
/*
 * subscription.c - subscriptions/listen, and change notifications in all revisions (SB-1 to SB-7,
 * RS-4). A listen stream is a request that stays open; older clients subscribe by a call of their
 * own. One function sends a change to both.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "mcp/mcp_internal.h"

#define SUBSCRIPTION_ID META_PREFIX "subscriptionId"

enum notice { NOTICE_TOOLS, NOTICE_PROMPTS, NOTICE_RESOURCES };

static const struct {
	const char *asked_as;
	const char *method;
} notices[] = {
	[NOTICE_TOOLS] = { "toolsListChanged", "notifications/tools/list_changed" },
	[NOTICE_PROMPTS] = { "promptsListChanged", "notifications/prompts/list_changed" },
	[NOTICE_RESOURCES] = { "resourcesListChanged", "notifications/resources/list_changed" },
};

struct mcp_listen {
	bool wants[ARRAY_SIZE(notices)];
	json_t *uris; /* an object used as a set */
};

void mcp_listen_free(struct mcp_listen *listen)
{
	if (listen == NULL)
		return;
	json_decref(listen->uris);
	free(listen);
}

static bool delivers(const struct mcp_features *f, enum notice notice)
{
	const bool offered[] = {
		[NOTICE_TOOLS] = f->tool_count > 0 && f->tools_change,
		[NOTICE_PROMPTS] = f->prompt_count > 0 && f->prompts_change,
		[NOTICE_RESOURCES] = f->resources_list != NULL && f->resources_change,
	};

	return offered[notice];
}

/* Reads the filter. `honoured` gets the part of it that we can deliver. */
static int read_filter(struct mcp_call *call, json_t *honoured, struct err *err)
{
	const struct mcp_features *f = call->server->features;
	json_t *filter = NULL;
	json_t *uris = NULL;
	json_t *uri;
	size_t i;

	if (json_get_required(call->params, "params", "notifications", err) < 0 ||
	    json_get_object(call->params, "params", "notifications", &filter, err) < 0 ||
	    json_get_texts(filter, "params.notifications", "resourceSubscriptions", &uris, err) < 0)
		return -1;
	if (json_array_size(uris) > MCP_URIS_MAX)
		return err_set(err, ERR_LIMIT,
			       "params.notifications.resourceSubscriptions has more than %d URIs",
			       MCP_URIS_MAX);
	for (i = 0; i < ARRAY_SIZE(notices); i++) {
		bool asked = false;

		if (json_get_bool(filter, "params.notifications", notices[i].asked_as, &asked,
				  err) < 0)
			return -1;
		call->listen->wants[i] = asked && delivers(f, (enum notice)i);
		if (call->listen->wants[i])
			json_put_bool(honoured, notices[i].asked_as, true);
	}
	if (uris == NULL || f->resources_list == NULL || !f->resources_subscribe)
		return 0;
	json_array_foreach (uris, i, uri) {
		json_put(call->listen->uris, json_string_value(uri), json_true());
	}
	json_put(honoured, "resourceSubscriptions", json_incref(uris));
	return 0;
}

/* Adds the id: every message of a stream carries the id of the request that opened it. */
static json_t *tag(const struct mcp_call *call, json_t *params_own)
{
	json_t *meta = json_object();

	json_put(meta, SUBSCRIPTION_ID, json_incref(call->id));
	json_put(params_own, "_meta", meta);
	return params_own;
}

void mcp_listen(struct mcp_call *call)
{
	struct mcp_server *server = call->server;
	json_t *honoured = json_object();
	json_t *params;
	struct err err;

	call->listen = xcalloc(1, sizeof(*call->listen));
	call->listen->uris = json_object();
	if (read_filter(call, honoured, &err) < 0) {
		json_decref(honoured);
		mcp_call_refuse_params(call, &err);
		return;
	}
	if (server->listener_count > server->limits->listeners_max) {
		json_decref(honoured);
		mcp_call_refuse(call, RPC_INTERNAL_ERROR, "Too many listen streams", NULL);
		return;
	}
	params = json_object();
	json_put(params, "notifications", honoured);
	mcp_reply_notify(server, "notifications/subscriptions/acknowledged", tag(call, params));
}

static void list_changed(struct mcp_server *server, enum notice notice)
{
	if (!delivers(server->features, notice))
		return;
	if (server->legacy.initialized)
		mcp_reply_notify(server, notices[notice].method, NULL);
	list_for_each (struct mcp_call, call, &server->listeners, node)
		if (call->listen->wants[notice])
			mcp_reply_notify(server, notices[notice].method, tag(call, json_object()));
}

void mcp_server_tools_changed(struct mcp_server *server)
{
	mcp_tools_forget_list(server);
	list_changed(server, NOTICE_TOOLS);
}

void mcp_server_prompts_changed(struct mcp_server *server)
{
	list_changed(server, NOTICE_PROMPTS);
}

void mcp_server_resources_changed(struct mcp_server *server)
{
	list_changed(server, NOTICE_RESOURCES);
}

static json_t *make_updated(const char *uri)
{
	json_t *params = json_object();

	json_put_str(params, "uri", uri);
	return params;
}

void mcp_server_resource_updated(struct mcp_server *server, const char *uri)
{
	static const char method[] = "notifications/resources/updated";

	if (server->legacy.initialized && json_object_get(server->legacy.subscribed, uri) != NULL)
		mcp_reply_notify(server, method, make_updated(uri));
	list_for_each (struct mcp_call, call, &server->listeners, node)
		if (json_object_get(call->listen->uris, uri) != NULL)
			mcp_reply_notify(server, method, tag(call, make_updated(uri)));
}

bool mcp_server_resource_watched(const struct mcp_server *server, const char *uri)
{
	if (server->legacy.initialized && json_object_get(server->legacy.subscribed, uri) != NULL)
		return true;
	list_for_each (struct mcp_call, call, &server->listeners, node)
		if (json_object_get(call->listen->uris, uri) != NULL)
			return true;
	return false;
}

static void visit_uris(json_t *uris, void (*each)(void *data, const char *uri), void *data)
{
	const char *uri;
	json_t *value;

	json_object_foreach (uris, uri, value) {
		each(data, uri);
	}
}

void mcp_server_each_watched(const struct mcp_server *server,
			     void (*each)(void *data, const char *uri), void *data)
{
	if (server->legacy.initialized)
		visit_uris(server->legacy.subscribed, each, data);
	list_for_each (struct mcp_call, call, &server->listeners, node)
		visit_uris(call->listen->uris, each, data);
}

/*
 * Ends a stream. SB-5: the response comes first; a client ignores a cancellation of a request that
 * has ended.
 */
static void close_listener(struct mcp_call *call)
{
	struct mcp_server *server = call->server;
	cleanup_json json_t *result = tag(call, json_object());
	json_t *params = json_object();

	mcp_reply_decorate(call, result);
	mcp_reply_result(call, result);
	json_put(params, "requestId", json_incref(call->id));
	json_put_str(params, "reason", "The server is ending");
	mcp_reply_notify(server, "notifications/cancelled", params);
	mcp_call_end(call);
}

void mcp_server_close_listeners(struct mcp_server *server)
{
	list_for_each (struct mcp_call, call, &server->listeners, node)
		close_listener(call);
}
