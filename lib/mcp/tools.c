/* SPDX-License-Identifier: MIT */
/*
 * tools.c - tools/list and tools/call. The text of the list is made once for each kind of revision
 * and reused, because hosts ask for it with every conversation.
 */
#include "mcp/mcp_internal.h"
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/parse.h"
#include "json/write.h"
#include "text/sanitize.h"

/* A fixed list: clients need not ask again within the hour. */
enum { FIXED_TTL_MS = 60 * 60 * 1000 };

/* Returns which of the texts the client gets: 0 without outputSchema, which is new in 2025-06-18.
 */
static size_t list_kind(const struct mcp_call *call)
{
	return mcp_is_modern(call) ? 2 : call->sender.revision >= MCP_2025_06_18;
}

static json_t *make_tool(const struct mcp_tool *tool, bool output)
{
	json_t *object = json_object();

	json_put_str(object, "name", tool->name);
	json_put_str(object, "title", tool->title);
	json_put_str(object, "description", tool->description);
	json_put(object, "inputSchema", json_parse_const(tool->input_schema));
	if (output && tool->output_schema != NULL)
		json_put(object, "outputSchema", json_parse_const(tool->output_schema));
	if (tool->annotations != NULL)
		json_put(object, "annotations", json_parse_const(tool->annotations));
	return object;
}

/* Makes the list's text: the same for every client, in the same order (TL-4). */
static char *make_list_text(const struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	cleanup_json json_t *result = json_object();
	json_t *tools = json_array();

	for (size_t i = 0; i < f->tool_count; i++)
		json_append(tools, make_tool(&f->tools[i], list_kind(call) > 0));
	json_put(result, "tools", tools);
	if (mcp_is_modern(call) && !f->tools_change)
		json_put_int(result, "ttlMs", FIXED_TTL_MS);
	mcp_reply_decorate(call, result);
	return json_write_text(result);
}

void mcp_tools_list(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	char **text = &call->server->tools_text[list_kind(call)];

	if (mcp_call_refused_cursor(call))
		return;
	if (*text == NULL)
		*text = make_list_text(call);
	mcp_reply_text(call, *text);
	mcp_call_end(call);
	if (f->tools_listed != NULL)
		f->tools_listed(f->context);
}

void mcp_tools_forget_list(struct mcp_server *server)
{
	for (size_t i = 0; i < ARRAY_SIZE(server->tools_text); i++) {
		free(server->tools_text[i]);
		server->tools_text[i] = NULL;
	}
}

static const struct mcp_tool *find_tool(const struct mcp_features *f, const char *name)
{
	for (size_t i = 0; i < f->tool_count; i++)
		if (str_eq(f->tools[i].name, name))
			return &f->tools[i];
	return NULL;
}

void mcp_tools_call(struct mcp_call *call)
{
	const struct mcp_features *f = call->server->features;
	const struct mcp_tool *tool;
	const char *name = NULL;
	json_t *arguments = NULL;
	struct err err;

	if (json_get_required(call->params, "params", "name", &err) < 0 ||
	    json_get_text(call->params, "params", "name", &name, NULL, &err) < 0 ||
	    json_get_object(call->params, "params", "arguments", &arguments, &err) < 0) {
		mcp_call_refuse_params(call, &err);
		return;
	}
	tool = find_tool(f, name);
	if (tool == NULL) {
		cleanup_free char *quoted = sanitize_quote(name);

		(void)err_set(&err, ERR_NOT_FOUND, "Unknown tool: %s", quoted);
		mcp_call_refuse_params(call, &err);
		return;
	}
	tool->call(call, mcp_call_arguments(call), f->context);
}
