/* SPDX-License-Identifier: MIT */
/* layers: mcp */
/* Whatever a client sends: each line out is one JSON text below a million bytes, no call is lost.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "fixed_random.h"
#include "json/make.h"
#include "json/parse.h"
#include "mcp/client_request.h"
#include "mcp/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HELD_MAX = 8 };

static struct mcp_call *held[HELD_MAX]; /* NULL: a free slot */

static uint64_t clock_zero(void)
{
	return 0;
}

static void finish(struct mcp_call *call)
{
	json_t *content = json_array();

	json_append(content, mcp_text("x\377", 2));
	json_append(content, mcp_audio("a", 1, "audio/wav"));
	json_append(content, mcp_resource_link("test://a", "a", NULL, -1));
	mcp_call_finish(call, content, json_object(), NULL, false);
}

static void echo(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *content = json_array();
	json_t *block = mcp_text("", 0);

	(void)context;
	json_put(block, "more", json_incref(arguments));
	json_append(content, block);
	mcp_call_progress(call, 1, 2, "message");
	mcp_call_log(call, "info", json_incref(arguments));
	mcp_call_finish(call, content, json_incref(arguments), NULL, false);
}

static void on_cancel(struct mcp_call *call, void *data)
{
	struct mcp_call **slot = data;

	*slot = NULL;
	finish(call);
}

static void hold(struct mcp_call *call, json_t *arguments, void *context)
{
	size_t i = 0;

	(void)arguments;
	(void)context;
	while (held[i] != NULL)
		i++;
	assert(i < HELD_MAX);
	held[i] = call;
	mcp_call_on_cancel(call, on_cancel, &held[i]);
}

static void release_all(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	for (size_t i = 0; i < HELD_MAX; i++) {
		if (held[i] != NULL)
			finish(held[i]);
		held[i] = NULL;
	}
	finish(call);
}

static void ask(struct mcp_call *call, json_t *arguments, void *context)
{
	const struct mcp_question questions[] = {
		{ "form", MCP_ASK_FORM, arguments },
		{ "model", MCP_ASK_MODEL, arguments },
		{ "roots", MCP_ASK_ROOTS, NULL },
	};

	(void)context;
	if (mcp_call_answer(call, "form", MCP_ASK_FORM) != NULL || mcp_call_state(call) != NULL)
		finish(call);
	else
		mcp_call_ask(call, questions, 3, json_true(), "instead");
}

static void list(struct mcp_call *call, const char *cursor, void *context)
{
	json_t *result = json_object();

	(void)context;
	json_put_str(result, "nextCursor", cursor);
	mcp_call_finish_result(call, result);
}

static void read_one(struct mcp_call *call, const char *uri, void *context)
{
	mcp_server_resource_updated(context, uri);
	mcp_call_refuse_unknown_resource(call, uri);
}

static void complete(struct mcp_call *call, json_t *ref, json_t *argument, void *context)
{
	(void)ref;
	(void)argument;
	(void)context;
	mcp_call_finish_completion(call, json_array());
}

static const struct mcp_tool tools[] = {
	{ .name = "e", .description = "echo", .input_schema = "{}", .call = echo },
	{ .name = "h", .description = "hold", .input_schema = "{}", .call = hold },
	{ .name = "r", .description = "release", .input_schema = "{}", .call = release_all },
	{ .name = "a", .description = "ask", .input_schema = "{}", .call = ask },
};

static const struct mcp_prompt prompts[] = {
	{ "p", "prompt", "[{\"name\":\"n\",\"required\":true}]", echo },
};

static void check_line(void *context, const char *line, size_t len)
{
	struct err err;
	json_t *value;

	(void)context;
	assert(len > 0 && len < 1000000 && line[len - 1] == '\n');
	value = json_parse(line, len - 1, &err);
	/* What echo gives back lies a few levels deeper than it came. */
	assert(value != NULL || strstr(err.msg, "depth") != NULL);
	json_decref(value);
}

static void run(struct loop *loop, const uint8_t *data, size_t size)
{
	const struct mcp_limits limits = { .line_max = 1 << 20,
					   .live_calls_max = HELD_MAX - 1,
					   .listeners_max = 2 };
	struct mcp_features features = {
		.name = "fuzz",
		.version = "1",
		.tools = tools,
		.tool_count = ARRAY_SIZE(tools),
		.tools_change = true,
		.prompts = prompts,
		.prompt_count = ARRAY_SIZE(prompts),
		.resources_list = list,
		.resources_read = read_one,
		.resources_subscribe = true,
		.complete = complete,
		.logging = true,
	};
	struct mcp_server *server = mcp_server_new(loop, &features, &limits, check_line);
	size_t step = size > 0 ? data[0] + 1U : 1;

	features.context = server;
	for (size_t i = 0; i < size; i += step)
		mcp_server_feed(server, (const char *)data + i, size_min(step, size - i));
	mcp_server_tools_changed(server);
	mcp_server_feed_end(server);
	mcp_server_close_listeners(server);
	mcp_server_cancel_all(server);
	assert(mcp_server_live_calls(server) == 0);
	mcp_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	struct loop *loop = loop_new(clock_zero, &err);

	fixed_random_restart();
	if (loop == NULL)
		abort();
	run(loop, data, size);
	loop_free(loop);
	return 0;
}
