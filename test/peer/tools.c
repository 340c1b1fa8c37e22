/* SPDX-License-Identifier: MIT */
#include "json/parse.h"
#include "peer.h"
#include "text/base64.h"

#define NOTHING "{\"type\":\"object\",\"additionalProperties\":false}"

/* One red pixel, and four samples of silence. */
static const char png[] =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAA"
	"AABJRU5ErkJggg==";
static const char wav[] = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

void peer_finish_text(struct mcp_call *call, const char *text)
{
	json_t *content = json_array();

	json_append(content, mcp_text(text, strlen(text)));
	mcp_call_finish(call, content, NULL, NULL, false);
}

static void finish_block(struct mcp_call *call, json_t *block_own)
{
	json_t *content = json_array();

	json_append(content, block_own);
	mcp_call_finish(call, content, NULL, NULL, false);
}

static json_t *make_media(json_t *(*make)(const void *, size_t, const char *), const char *base64,
			  const char *mime_type)
{
	struct buf data;
	struct err err;
	json_t *block;

	buf_init(&data, BUF_UNBOUNDED);
	if (base64_decode(&data, base64, strlen(base64), &err) < 0)
		buf_clear(&data);
	block = make(buf_str(&data), data.len, mime_type);
	buf_release(&data);
	return block;
}

json_t *peer_png_block(void)
{
	return make_media(mcp_image, png, "image/png");
}

static void simple_text(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	peer_finish_text(call, "This is a simple text response for testing.");
}

static void image_content(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	finish_block(call, peer_png_block());
}

static void audio_content(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	finish_block(call, make_media(mcp_audio, wav, "audio/wav"));
}

static json_t *make_embedded(const char *uri, const char *mime_type, const char *text)
{
	return mcp_embedded(mcp_resource_text(uri, mime_type, text, strlen(text)));
}

static void embedded_resource(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	finish_block(call, make_embedded("test://embedded-resource", "text/plain",
					 "This is an embedded resource content."));
}

static void multiple_content_types(struct mcp_call *call, json_t *arguments, void *context)
{
	static const char text[] = "Multiple content types test:";
	json_t *content = json_array();

	(void)arguments;
	(void)context;
	json_append(content, mcp_text(text, strlen(text)));
	json_append(content, peer_png_block());
	json_append(content,
		    make_embedded("test://mixed-content-resource", "application/json", "{}"));
	mcp_call_finish(call, content, NULL, NULL, false);
}

static void error_handling(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	mcp_call_fail(call, "This tool intentionally returns an error for testing");
}

static bool progress_step(struct mcp_call *call, int step)
{
	if (step < 3) {
		mcp_call_progress(call, step * 50, 100, NULL);
		return true;
	}
	peer_finish_text(call, "three steps done");
	return false;
}

static void with_progress(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	peer_steps(context, call, progress_step);
}

static bool log_step(struct mcp_call *call, int step)
{
	static const char *const lines[] = { "Tool execution started", "Tool processing data",
					     "Tool execution completed" };

	if (step < 3) {
		mcp_call_log(call, "info", json_make_str(lines[step]));
		return true;
	}
	peer_finish_text(call, "three lines logged");
	return false;
}

static void with_logging(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	peer_steps(context, call, log_step);
}

static void missing_capability(struct mcp_call *call, json_t *arguments, void *context)
{
	const struct mcp_question question = { .key = "sample", .kind = MCP_ASK_MODEL };

	(void)arguments;
	(void)context;
	if (mcp_call_can_ask(call, MCP_ASK_MODEL))
		peer_finish_text(call, "sampling is declared");
	else
		mcp_call_ask(call, &question, 1, NULL, "This client cannot sample.");
}

static void trigger_tool_change(struct mcp_call *call, json_t *arguments, void *context)
{
	struct peer *peer = context;

	(void)arguments;
	mcp_server_tools_changed(peer->server);
	peer_finish_text(call, "tools changed");
}

static void trigger_prompt_change(struct mcp_call *call, json_t *arguments, void *context)
{
	struct peer *peer = context;

	(void)arguments;
	mcp_server_prompts_changed(peer->server);
	peer_finish_text(call, "prompts changed");
}

#define TOOL(name_, description_, call_)                                                           \
	{                                                                                          \
		.name = (name_), .description = (description_), .input_schema = NOTHING,           \
		.call = (call_)                                                                    \
	}
#define ASKS(name_) TOOL(name_, "Asks the client before it answers", peer_ask_tool)

const struct mcp_tool peer_tools[] = {
	TOOL("test_simple_text", "Answers with one text", simple_text),
	TOOL("test_image_content", "Answers with a picture", image_content),
	TOOL("test_audio_content", "Answers with a sound", audio_content),
	TOOL("test_embedded_resource", "Answers with a resource", embedded_resource),
	TOOL("test_multiple_content_types", "Answers with three kinds", multiple_content_types),
	TOOL("test_error_handling", "Always fails", error_handling),
	TOOL("test_tool_with_progress", "Takes three steps", with_progress),
	TOOL("test_tool_with_logging", "Logs three lines", with_logging),
	TOOL("test_logging_tool", "Logs three lines", with_logging),
	TOOL("test_reconnection", "Answers with one text", simple_text),
	TOOL("test_missing_capability", "Needs a client that samples", missing_capability),
	TOOL("test_trigger_tool_change", "Says that the tools changed", trigger_tool_change),
	TOOL("test_trigger_prompt_change", "Says that the prompts changed", trigger_prompt_change),
	{ .name = "test_sampling",
	  .description = "Asks the client's model",
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"}},"
			  "\"required\":[\"prompt\"]}",
	  .call = peer_ask_tool },
	{ .name = "test_elicitation",
	  .description = "Asks the user",
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\"}},"
			  "\"required\":[\"message\"]}",
	  .call = peer_ask_tool },
	ASKS("test_elicitation_sep1034_defaults"),
	ASKS("test_elicitation_sep1330_enums"),
	ASKS("test_streaming_elicitation"),
	ASKS("test_input_required_result_elicitation"),
	ASKS("test_input_required_result_sampling"),
	ASKS("test_input_required_result_list_roots"),
	ASKS("test_input_required_result_request_state"),
	ASKS("test_input_required_result_tampered_state"),
	ASKS("test_input_required_result_multiple_inputs"),
	ASKS("test_input_required_result_multi_round"),
	ASKS("test_input_required_result_capabilities"),
	{ .name = "json_schema_2020_12_tool",
	  .description = "Has a schema with what the 2020-12 dialect offers",
	  .input_schema =
		  "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
		  "\"type\":\"object\",\"$defs\":{\"address\":{\"$anchor\":\"addressDef\","
		  "\"type\":\"object\",\"properties\":{\"street\":{\"type\":\"string\"},"
		  "\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":\"string\"},"
		  "\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\","
		  "\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},"
		  "\"email\":{\"type\":\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},"
		  "{\"required\":[\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":"
		  "{\"const\":\"phone\"}},\"required\":[\"contactMethod\"]},"
		  "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
		  "\"additionalProperties\":false}",
	  .call = simple_text },
};
const size_t peer_tool_count = ARRAY_SIZE(peer_tools);
