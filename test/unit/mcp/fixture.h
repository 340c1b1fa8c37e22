/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - a server with a few small tools, whose output is collected.
 *
 * `hold` keeps its call until `release` is called, so that asynchronous cases need no waiting.
 */
#ifndef TEST_MCP_FIXTURE_H
#define TEST_MCP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "mcp/client_request.h"
#include "mcp/server.h"

#define CLAIM(more)                                                                                \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{" more "}}"
#define FIXTURE_FN __attribute__((unused)) static

enum { HELD_MAX = 64 };

struct fixture {
	struct loop *loop;
	struct mcp_server *server;
	struct mcp_limits limits;
	struct buf out;
	struct mcp_call *held[HELD_MAX];
	size_t held_count;
	size_t cancelled_count;
	size_t deserted_count; /* of them, those whose client has gone */
};

static uint64_t fixture_now; /* the fake clock */

FIXTURE_FN uint64_t fixture_clock(void)
{
	return fixture_now;
}

FIXTURE_FN void finish_text(struct mcp_call *call, const char *text, size_t len)
{
	json_t *content = json_array();

	json_append(content, mcp_text(text, len));
	mcp_call_finish(call, content, NULL, NULL, false);
}

FIXTURE_FN void tool_echo(struct mcp_call *call, json_t *arguments, void *context)
{
	const char *text = NULL;
	size_t len = 0;
	struct err err;

	(void)context;
	if (json_get_required(arguments, "arguments", "text", &err) < 0 ||
	    json_get_text(arguments, "arguments", "text", &text, &len, &err) < 0)
		mcp_call_fail(call, err.msg);
	else
		finish_text(call, text, len);
}

FIXTURE_FN void tool_big(struct mcp_call *call, json_t *arguments, void *context)
{
	json_int_t bytes = 0;
	struct err err;
	char *text;

	(void)context;
	assert_int_equal(json_get_int(arguments, "arguments", "bytes", &bytes, &err), 0);
	text = xcalloc((size_t)bytes + 1, 1);
	memset(text, 'x', (size_t)bytes);
	finish_text(call, text, (size_t)bytes);
	free(text);
}

FIXTURE_FN void on_held_cancel(struct mcp_call *call, void *data)
{
	struct fixture *f = data;

	f->cancelled_count++;
	f->deserted_count += mcp_call_is_deserted(call);
	for (size_t i = 0; i < f->held_count; i++)
		if (f->held[i] == call)
			f->held[i] = NULL;
	finish_text(call, "never seen", 10);
}

FIXTURE_FN void tool_hold(struct mcp_call *call, json_t *arguments, void *context)
{
	struct fixture *f = context;

	(void)arguments;
	assert_true(f->held_count < HELD_MAX);
	f->held[f->held_count++] = call;
	mcp_call_on_cancel(call, on_held_cancel, f);
}

FIXTURE_FN void release_held(struct fixture *f)
{
	for (size_t i = 0; i < f->held_count; i++)
		if (f->held[i] != NULL)
			finish_text(f->held[i], "released", 8);
	f->held_count = 0;
}

FIXTURE_FN void tool_release(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	release_held(context);
	finish_text(call, "done", 4);
}

/* One block of each kind, structuredContent and _meta. */
FIXTURE_FN void tool_media(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *content = json_array();

	(void)context;
	json_append(content, mcp_text("bad \377 byte", 10));
	json_append(content, mcp_image("png", 3, "image/png"));
	json_append(content, mcp_audio("wav", 3, "audio/wav"));
	json_append(content, mcp_resource_link("test://a", "a", "text/plain", 7));
	json_append(content, mcp_embedded(mcp_resource_blob("test://b", NULL, "\0\1", 2)));
	json_append(content, json_parse_const("{\"type\":\"hologram\",\"data\":1}"));
	mcp_call_finish(call, content, json_parse_const("{\"ok\":true}"),
			json_parse_const("{\"test/key\":1}"),
			json_is_true(json_object_get(arguments, "fail")));
}

FIXTURE_FN void tool_progress(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)arguments;
	(void)context;
	mcp_call_progress(call, 1, 10, "one");
	mcp_call_progress(call, 1, 10, "still one");
	mcp_call_progress(call, 2.5, -1, NULL);
	mcp_call_log(call, "debug", json_make_str("quiet"));
	mcp_call_log(call, "error", json_make_str("loud"));
	finish_text(call, "done", 4);
}

FIXTURE_FN void tool_touch(struct mcp_call *call, json_t *arguments, void *context)
{
	struct fixture *f = context;

	(void)arguments;
	mcp_server_tools_changed(f->server);
	mcp_server_prompts_changed(f->server);
	mcp_server_resources_changed(f->server);
	mcp_server_resource_updated(f->server, "test://a");
	mcp_server_resource_updated(f->server, "test://nobody");
	finish_text(call, "touched", 7);
}

/* Two rounds when "twice" is set; the state is what the first answer was. */
FIXTURE_FN void tool_ask(struct mcp_call *call, json_t *arguments, void *context)
{
	cleanup_json json_t *params = json_parse_const(
		"{\"message\":\"Sure?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}");
	const struct mcp_question first = { "first", MCP_ASK_FORM, params };
	const struct mcp_question second = { "second", MCP_ASK_FORM, params };
	bool twice = json_is_true(json_object_get(arguments, "twice"));
	json_t *state = mcp_call_state(call);
	json_t *answer = mcp_call_answer(call, state == NULL ? "first" : "second", MCP_ASK_FORM);
	const char *instead = "Call again with sure: true.";

	(void)context;
	if (answer == NULL)
		mcp_call_ask(call, state == NULL ? &first : &second, 1, json_incref(state),
			     instead);
	else if (twice && state == NULL)
		mcp_call_ask(call, &second, 1, json_incref(json_object_get(answer, "action")),
			     instead);
	else
		finish_text(call, json_string_value(json_object_get(answer, "action")),
			    json_string_length(json_object_get(answer, "action")));
}

FIXTURE_FN void prompt_greet(struct mcp_call *call, json_t *arguments, void *context)
{
	json_t *result = json_parse_const(
		"{\"messages\":[{\"role\":\"user\",\"content\":"
		"{\"type\":\"resource_link\",\"uri\":\"test://a\",\"name\":\"a\"}}]}");

	(void)context;
	json_put(result, "description", json_incref(json_object_get(arguments, "name")));
	mcp_call_finish_result(call, result);
}

FIXTURE_FN void list_resources(struct mcp_call *call, const char *cursor, void *context)
{
	(void)context;
	if (cursor != NULL && !str_eq(cursor, "page-2")) {
		mcp_call_refuse(call, -32602, "Unknown cursor", NULL);
		return;
	}
	mcp_call_finish_result(
		call,
		json_parse_const(cursor == NULL
					 ? "{\"resources\":[{\"uri\":\"test://a\",\"name\":\"a\"}],"
					   "\"nextCursor\":\"page-2\"}"
					 : "{\"resources\":[],\"nextCursor\":null}"));
}

FIXTURE_FN void read_resource(struct mcp_call *call, const char *uri, void *context)
{
	json_t *result;
	json_t *contents;

	(void)context;
	if (!str_eq(uri, "test://a")) {
		mcp_call_refuse_unknown_resource(call, uri);
		return;
	}
	result = json_object();
	contents = json_array();
	json_append(contents, mcp_resource_text(uri, "text/plain", "content", 7));
	json_put(result, "contents", contents);
	mcp_call_finish_result(call, result);
}

FIXTURE_FN void complete_words(struct mcp_call *call, json_t *ref, json_t *argument, void *context)
{
	json_t *values = json_array();

	(void)ref;
	(void)argument;
	(void)context;
	for (int i = 0; i < 120; i++)
		json_append(values, json_make_fmt("%d", i));
	mcp_call_finish_completion(call, values);
}

#define FIXTURE_SCHEMA "{\"type\":\"object\"}"

static const struct mcp_tool fixture_tools[] = {
	{ "echo", "Echo", "Gives the text back", FIXTURE_SCHEMA, NULL, "{\"readOnlyHint\":true}",
	  tool_echo },
	{ "big", NULL, "Gives many bytes", FIXTURE_SCHEMA, NULL, NULL, tool_big },
	{ "hold", NULL, "Waits for release", FIXTURE_SCHEMA, NULL, NULL, tool_hold },
	{ "release", NULL, "Answers what waits", FIXTURE_SCHEMA, NULL, NULL, tool_release },
	{ "media", NULL, "Every kind of block", FIXTURE_SCHEMA, NULL, NULL, tool_media },
	{ "progress", NULL, "Tells how far it is", FIXTURE_SCHEMA, NULL, NULL, tool_progress },
	{ "touch", NULL, "Changes things", FIXTURE_SCHEMA, NULL, NULL, tool_touch },
	{ "ask", NULL, "Asks the user", FIXTURE_SCHEMA, NULL, NULL, tool_ask },
};

static const struct mcp_prompt fixture_prompts[] = {
	{ "greet", "Greets", "[{\"name\":\"name\",\"required\":true}]", prompt_greet },
};

static const struct mcp_resource_template fixture_templates[] = {
	{ "test://{name}", "Anything", "By name", "text/plain" },
};

static struct mcp_features fixture_features = {
	.name = "fixture",
	.title = "A fixture",
	.version = "1.0",
	.instructions = "Be brief.",
	.tools = fixture_tools,
	.tool_count = ARRAY_SIZE(fixture_tools),
	.tools_change = true,
	.prompts = fixture_prompts,
	.prompt_count = ARRAY_SIZE(fixture_prompts),
	.resources_list = list_resources,
	.resources_read = read_resource,
	.templates = fixture_templates,
	.template_count = ARRAY_SIZE(fixture_templates),
	.resources_change = true,
	.resources_subscribe = true,
	.complete = complete_words,
	.logging = true,
};

static const struct mcp_limits fixture_limits = { .line_max = 2 << 20,
						  .live_calls_max = 8,
						  .listeners_max = 3 };

FIXTURE_FN void collect(void *context, const char *line, size_t len)
{
	struct fixture *f = context;

	assert_int_equal(line[len - 1], '\n');
	assert_true(len < 1000000);
	buf_put(&f->out, line, len);
}

FIXTURE_FN void fixture_start(struct fixture *f, const struct mcp_features *features)
{
	struct err err;

	*f = (struct fixture){ .held_count = 0 };
	f->limits =
		(struct mcp_limits){ .line_max = 2 << 20, .live_calls_max = 8, .listeners_max = 3 };
	buf_init(&f->out, BUF_UNBOUNDED);
	f->loop = loop_new(fixture_clock, &err);
	assert_non_null(f->loop);
	fixture_features.context = f;
	f->server = mcp_server_new(f->loop, features, &f->limits, NULL);
	mcp_server_set_write(f->server, collect, f);
}

FIXTURE_FN void fixture_end(struct fixture *f)
{
	mcp_server_cancel_all(f->server);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
	mcp_server_free(f->server);
	loop_free(f->loop);
	buf_release(&f->out);
}

FIXTURE_FN int fixture_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	fixture_start(f, &fixture_features);
	*state = f;
	return 0;
}

FIXTURE_FN int fixture_teardown(void **state)
{
	fixture_end(*state);
	free(*state);
	return 0;
}

/* Feeds one line and gives what came out since the last say(), without the final \n. */
FIXTURE_FN const char *say(struct fixture *f, const char *line)
{
	buf_clear(&f->out);
	mcp_server_feed(f->server, line, strlen(line));
	mcp_server_feed(f->server, "\n", 1);
	if (f->out.len > 0) {
		f->out.len--;
		f->out.data[f->out.len] = '\0';
	}
	return buf_str(&f->out);
}

FIXTURE_FN void open_legacy(struct fixture *f, const char *version, const char *capabilities)
{
	char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\","
			       "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{%s}}}",
			       version, capabilities);

	(void)say(f, line);
	free(line);
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	buf_clear(&f->out);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

#endif
