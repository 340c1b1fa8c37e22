/* SPDX-License-Identifier: MIT */
/* The resources and prompts, and what the server says that it offers. */
#include <stdio.h>
#include <stdlib.h>

#include "json/parse.h"
#include "peer.h"

const struct mcp_resource_template peer_templates[] = {
	{ .uri_template = "test://template/{id}/data",
	  .name = "Template data",
	  .description = "Data of any id",
	  .mime_type = "application/json" },
};
const size_t peer_template_count = ARRAY_SIZE(peer_templates);

void peer_resources_list(struct mcp_call *call, const char *cursor, void *context)
{
	(void)context;
	if (cursor != NULL) {
		mcp_call_refuse(call, -32602, "Unknown cursor", NULL);
		return;
	}
	mcp_call_finish_result(
		call, json_parse_const("{\"resources\":["
				       "{\"uri\":\"test://static-text\",\"name\":\"Text\","
				       "\"mimeType\":\"text/plain\"},"
				       "{\"uri\":\"test://static-binary\",\"name\":\"Picture\","
				       "\"mimeType\":\"image/png\"},"
				       "{\"uri\":\"test://watched-resource\",\"name\":\"Watched\","
				       "\"mimeType\":\"text/plain\"}]}"));
}

static void finish_contents(struct mcp_call *call, json_t *item_own)
{
	json_t *contents = json_array();
	json_t *result = json_object();

	json_append(contents, item_own);
	json_put(result, "contents", contents);
	mcp_call_finish_result(call, result);
}

static json_t *make_binary(const char *uri)
{
	json_t *image = peer_png_block();
	json_t *item = mcp_resource_blob(uri, "image/png", "", 0);

	json_put(item, "blob", json_incref(json_object_get(image, "data")));
	json_decref(image);
	return item;
}

static json_t *make_text(const char *uri, const char *text)
{
	return mcp_resource_text(uri, "text/plain", text, strlen(text));
}

/* Of test://template/{id}/data; NULL for any other URI. */
static json_t *make_from_template(const char *uri)
{
	char id[32];
	int end = -1;
	json_t *item;

	if (sscanf(uri, "test://template/%31[^/]/data%n", id, &end) != 1 || end < 0 ||
	    uri[end] != '\0')
		return NULL;
	item = mcp_resource_text(uri, "application/json", "", 0);
	json_put(item, "text",
		 json_make_fmt("{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}",
			       id, id));
	return item;
}

void peer_resources_read(struct mcp_call *call, const char *uri, void *context)
{
	json_t *item;

	(void)context;
	if (str_eq(uri, "test://static-binary"))
		item = make_binary(uri);
	else if (str_eq(uri, "test://static-text"))
		item = make_text(uri, "This is the content of the static text resource.");
	else if (str_eq(uri, "test://watched-resource"))
		item = make_text(uri, "Watched resource content");
	else
		item = make_from_template(uri);
	if (item == NULL)
		mcp_call_refuse_unknown_resource(call, uri);
	else
		finish_contents(call, item);
}

void peer_complete(struct mcp_call *call, json_t *ref, json_t *argument, void *context)
{
	static const char *const words[] = { "paris", "park", "party" };
	const char *start = json_string_value(json_object_get(argument, "value"));
	json_t *values = json_array();

	(void)ref;
	(void)context;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strncmp(words[i], start, strlen(start)) == 0)
			json_append(values, json_make_str(words[i]));
	mcp_call_finish_completion(call, values);
}

/* ---- prompts ---- */

static void add_message(json_t *result, json_t *block_own)
{
	json_t *message = json_object();

	json_put_str(message, "role", "user");
	json_put(message, "content", block_own);
	if (json_object_get(result, "messages") == NULL)
		json_put(result, "messages", json_array());
	json_append(json_object_get(result, "messages"), message);
}

static void add_text(json_t *result, const char *text)
{
	add_message(result, mcp_text(text, strlen(text)));
}

static void simple_prompt(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *result = json_object();

	(void)arguments;
	(void)context;
	add_text(result, "This is a simple prompt for testing.");
	mcp_call_finish_result(call, result);
}

static const char *argument(const json_t *arguments, const char *name)
{
	const char *value = json_string_value(json_object_get(arguments, name));

	return value != NULL ? value : "";
}

static void prompt_with_arguments(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *result = json_object();
	json_t *block = mcp_text("", 0);

	(void)context;
	json_put(block, "text",
		 json_make_fmt("Prompt with arguments: arg1='%s', arg2='%s'",
			       argument(arguments, "arg1"), argument(arguments, "arg2")));
	add_message(result, block);
	mcp_call_finish_result(call, result);
}

static void prompt_with_resource(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *result = json_object();

	(void)context;
	add_message(result, mcp_embedded(make_text(argument(arguments, "resourceUri"),
						   "Embedded resource content for testing.")));
	add_text(result, "Please process the embedded resource above.");
	mcp_call_finish_result(call, result);
}

static void prompt_with_image(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *result = json_object();

	(void)arguments;
	(void)context;
	add_message(result, peer_png_block());
	add_text(result, "Please analyze the image above.");
	mcp_call_finish_result(call, result);
}

static void prompt_that_asks(struct mcp_call *call, json_t *arguments, void *context)
{
	cleanup_json json_t *params = json_parse_const(
		"{\"message\":\"What context should the prompt use?\",\"requestedSchema\":{"
		"\"type\":\"object\",\"properties\":{\"context\":{\"type\":\"string\"}},"
		"\"required\":[\"context\"]}}");
	const struct mcp_question question = { "user_context", MCP_ASK_FORM, params };

	if (mcp_call_answer(call, "user_context", MCP_ASK_FORM) == NULL)
		mcp_call_ask(call, &question, 1, NULL, "This client cannot be asked.");
	else
		simple_prompt(call, arguments, context);
}

const struct mcp_prompt peer_prompts[] = {
	{ .name = "test_simple_prompt", .description = "No arguments", .get = simple_prompt },
	{ .name = "test_prompt_with_arguments",
	  .description = "Two arguments",
	  .arguments = "[{\"name\":\"arg1\",\"description\":\"First\",\"required\":true},"
		       "{\"name\":\"arg2\",\"description\":\"Second\",\"required\":true}]",
	  .get = prompt_with_arguments },
	{ .name = "test_prompt_with_embedded_resource",
	  .description = "Embeds a resource",
	  .arguments = "[{\"name\":\"resourceUri\",\"description\":\"Its URI\",\"required\":true}]",
	  .get = prompt_with_resource },
	{ .name = "test_prompt_with_image",
	  .description = "Shows a picture",
	  .get = prompt_with_image },
	{ .name = "test_input_required_result_prompt",
	  .description = "Asks before it answers",
	  .get = prompt_that_asks },
};
const size_t peer_prompt_count = ARRAY_SIZE(peer_prompts);

void peer_features(struct peer *peer, struct mcp_features *ret)
{
	*ret = (struct mcp_features){
		.name = "ptycell-peer",
		.title = "Fixtures of the conformance suite",
		.version = "1.0.0",
		.context = peer,
		.tools = peer_tools,
		.tool_count = peer_tool_count,
		.tools_change = true,
		.prompts = peer_prompts,
		.prompt_count = peer_prompt_count,
		.prompts_change = true,
		.resources_list = peer_resources_list,
		.resources_read = peer_resources_read,
		.templates = peer_templates,
		.template_count = peer_template_count,
		.resources_subscribe = true,
		.complete = peer_complete,
		.logging = true,
	};
}
