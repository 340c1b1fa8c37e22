/* SPDX-License-Identifier: MIT */
/*
 * revision.c - decides which revision a request follows, for each request alone (ER-1 to ER-14). A
 * request that claims a version in its _meta is of 2026-07-28; without a claim it belongs to the
 * handshake. One client may therefore mix both on one pipe.
 */
#include <stdarg.h>
#include <stdio.h>

#include "mcp/mcp_internal.h"

static const char *const level_names[] = {
	[MCP_LEVEL_DEBUG] = "debug",   [MCP_LEVEL_INFO] = "info",
	[MCP_LEVEL_NOTICE] = "notice", [MCP_LEVEL_WARNING] = "warning",
	[MCP_LEVEL_ERROR] = "error",   [MCP_LEVEL_CRITICAL] = "critical",
	[MCP_LEVEL_ALERT] = "alert",   [MCP_LEVEL_EMERGENCY] = "emergency",
};
_Static_assert(ARRAY_SIZE(level_names) == MCP_LEVEL_OFF, "every level has a name");

int mcp_revision_parse_level(const char *name, enum mcp_level *ret)
{
	for (size_t i = 0; name != NULL && i < ARRAY_SIZE(level_names); i++) {
		if (str_eq(level_names[i], name)) {
			*ret = (enum mcp_level)i;
			return 0;
		}
	}
	return -1;
}

int mcp_refuse(struct mcp_refusal *no, int code, const char *fmt, ...)
{
	va_list args;

	*no = (struct mcp_refusal){ .code = code };
	va_start(args, fmt);
	(void)vsnprintf(no->message, sizeof(no->message), fmt, args);
	va_end(args);
	return -1;
}

/* ER-2: the date of an older revision is no version that a claim may name either. */
static int refuse_version(const char *asked, struct mcp_refusal *no)
{
	json_t *supported = json_array();

	(void)mcp_refuse(no, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version");
	json_append(supported, json_make_str(MODERN_VERSION));
	no->data = json_object();
	json_put(no->data, "supported", supported);
	json_put_str(no->data, "requested", asked);
	return -1;
}

static int read_claim(json_t *meta, const json_t *version, struct mcp_sender *ret,
		      struct mcp_refusal *no)
{
	json_t *capabilities = json_object_get(meta, META_PREFIX "clientCapabilities");
	json_t *level = json_object_get(meta, META_PREFIX "logLevel");

	if (!json_is_string(version))
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "_meta[\"" META_PREFIX "protocolVersion\"] must be a string");
	if (!str_eq(json_string_value(version), MODERN_VERSION))
		return refuse_version(json_string_value(version), no);
	if (!json_is_object(capabilities))
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "_meta[\"" META_PREFIX "clientCapabilities\"] must be an object");
	*ret = (struct mcp_sender){
		.revision = MCP_2026_07_28,
		.capabilities = capabilities,
		.client_info = json_object_get(meta, META_PREFIX "clientInfo"),
		.log_level = MCP_LEVEL_OFF,
	};
	if (level != NULL &&
	    mcp_revision_parse_level(json_string_value(level), &ret->log_level) < 0)
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "_meta[\"" META_PREFIX "logLevel\"] is not a log level");
	return 0;
}

static bool is_modern_only(const char *method)
{
	return str_eq(method, "server/discover") || str_eq(method, "subscriptions/listen") ||
	       str_eq(method, "tasks/update");
}

int mcp_revision_read(const struct mcp_server *server, const struct rpc_message *message,
		      struct mcp_sender *ret, struct mcp_refusal *no)
{
	const struct mcp_legacy *legacy = &server->legacy;
	json_t *meta = json_object_get(message->params, "_meta");
	json_t *version = json_object_get(meta, META_PREFIX "protocolVersion");
	bool opening = str_eq(message->method, "initialize") || str_eq(message->method, "ping");

	if (version != NULL)
		return read_claim(meta, version, ret, no);
	if (is_modern_only(message->method))
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "This method needs \"" META_PREFIX "protocolVersion\" in _meta");
	if (!legacy->handshake && !opening)
		return mcp_refuse(no, RPC_INVALID_PARAMS,
				  "Send initialize first, or \"" META_PREFIX
				  "protocolVersion\" in _meta");
	*ret = (struct mcp_sender){
		.revision = legacy->handshake ? legacy->revision : MCP_2025_11_25,
		.capabilities = legacy->capabilities,
		.client_info = legacy->client_info,
		.log_level = legacy->log_level,
	};
	return 0;
}
