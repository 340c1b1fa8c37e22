/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - initialize, ping, server/discover, logging/setLevel. A client that asks for an
 * unknown revision is offered our newest one with a handshake, and decides itself whether to
 * continue.
 */
#include "json/get.h"
#include "mcp/mcp_internal.h"

static const char *const legacy_versions[] = {
	[MCP_2024_11_05] = "2024-11-05",
	[MCP_2025_03_26] = "2025-03-26",
	[MCP_2025_06_18] = "2025-06-18",
	[MCP_2025_11_25] = "2025-11-25",
};
_Static_assert(ARRAY_SIZE(legacy_versions) == MCP_2026_07_28, "every legacy revision has a date");

static void put_capability(json_t *capabilities, const char *name, bool list_changed,
			   bool subscribe)
{
	json_t *part = json_object();

	if (subscribe)
		json_put_bool(part, "subscribe", true);
	if (list_changed)
		json_put_bool(part, "listChanged", true);
	json_put(capabilities, name, part);
}

static json_t *make_capabilities(const struct mcp_features *f, enum mcp_revision revision)
{
	json_t *capabilities = json_object();

	if (f->tool_count > 0)
		put_capability(capabilities, "tools", f->tools_change, false);
	if (f->prompt_count > 0)
		put_capability(capabilities, "prompts", f->prompts_change, false);
	if (f->resources_list != NULL)
		put_capability(capabilities, "resources", f->resources_change,
			       f->resources_subscribe);
	if (f->complete != NULL && revision >= MCP_2025_03_26)
		put_capability(capabilities, "completions", false, false);
	if (f->logging)
		put_capability(capabilities, "logging", false, false);
	return capabilities;
}

/* Returns our newest revision for one that we do not serve; never an error. */
static enum mcp_revision negotiate(const char *asked)
{
	for (size_t i = 0; i < ARRAY_SIZE(legacy_versions); i++)
		if (str_eq(legacy_versions[i], asked))
			return (enum mcp_revision)i;
	return MCP_2025_11_25;
}

/* Starts a session. A later handshake replaces everything of an earlier one (ER-12). */
static void open_session(struct mcp_legacy *legacy, const json_t *params,
			 enum mcp_revision revision)
{
	json_t *capabilities = json_object_get(params, "capabilities");
	json_t *info = json_object_get(params, "clientInfo");

	legacy->handshake = true;
	legacy->initialized = false;
	legacy->revision = revision;
	legacy->log_level = MCP_LEVEL_INFO;
	legacy->log_asked = false;
	json_decref(legacy->capabilities);
	legacy->capabilities = json_is_object(capabilities) ? json_incref(capabilities) : NULL;
	json_decref(legacy->client_info);
	legacy->client_info = json_incref(info);
	(void)json_object_clear(legacy->subscribed);
}

void mcp_initialize(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	const char *asked = NULL;
	enum mcp_revision revision;
	struct err err;
	json_t *result;
	json_t *info;

	if (json_get_required(call->params, "params", "protocolVersion", &err) < 0 ||
	    json_get_text(call->params, "params", "protocolVersion", &asked, NULL, &err) < 0) {
		mcp_call_refuse_params(call, &err);
		return;
	}
	revision = negotiate(asked);
	open_session(&call->server->legacy, call->params, revision);
	info = json_object();
	json_put_str(info, "name", f->name);
	if (revision >= MCP_2025_06_18)
		json_put_str(info, "title", f->title);
	json_put_str(info, "version", f->version);
	result = json_object();
	json_put_str(result, "protocolVersion", legacy_versions[revision]);
	json_put(result, "capabilities", make_capabilities(f, revision));
	json_put(result, "serverInfo", info);
	json_put_str(result, "instructions", f->instructions);
	mcp_call_finish_result(call, result);
}

void mcp_ping(struct mcp_call *call)
{
	mcp_call_finish_result(call, json_object());
}

void mcp_discover(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	json_t *versions = json_array();
	json_t *result = json_object();

	json_append(versions, json_make_str(MODERN_VERSION));
	json_put(result, "supportedVersions", versions);
	json_put(result, "capabilities", make_capabilities(f, MCP_2026_07_28));
	json_put_str(result, "instructions", f->instructions);
	mcp_call_finish_result(call, result);
}

void mcp_set_level(struct mcp_call *call)
{
	enum mcp_level level;

	if (mcp_revision_parse_level(json_string_value(json_object_get(call->params, "level")),
				     &level) < 0) {
		mcp_call_refuse(call, RPC_INVALID_PARAMS,
				"params.level must be one of debug, info, notice, warning, error, "
				"critical, alert, emergency",
				NULL);
		return;
	}
	call->server->legacy.log_level = level;
	call->server->legacy.log_asked = true;
	mcp_call_finish_result(call, json_object());
}
