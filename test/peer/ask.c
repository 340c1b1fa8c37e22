/* SPDX-License-Identifier: MIT */
/* The tools that ask: a table of what each asks in each round, and one function for all. */
#include <stdlib.h>

#include "json/parse.h"
#include "json/write.h"
#include "peer.h"

#define FORM(message, fields, required)                                                            \
	"{\"message\":\"" message                                                                  \
	"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" fields                      \
	"},\"required\":[" required "]}}"
#define TEXT_FIELD(name) "\"" name "\":{\"type\":\"string\"}"
#define SAMPLE(text)                                                                               \
	"{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text        \
	"\"}}],\"maxTokens\":50}"

enum { ROUND_QUESTIONS = 3 };

struct template
{
	const char *key;
	enum mcp_ask_kind kind;
	const char *params; /* JSON, or NULL */
};

struct asking_tool {
	const char *name;
	struct template rounds[2][ROUND_QUESTIONS];
	bool keeps_state;
	bool only_declared; /* asks only what the client can be asked */
};

static const struct asking_tool asking_tools[] = {
	{ .name = "test_sampling", .rounds = { { { "sample", MCP_ASK_MODEL, SAMPLE("?") } } } },
	{ .name = "test_elicitation",
	  .rounds = { { { "elicitation", MCP_ASK_FORM,
			  FORM("?", TEXT_FIELD("username") "," TEXT_FIELD("email"),
			       "\"username\",\"email\"") } } } },
	{ .name = "test_elicitation_sep1034_defaults",
	  .rounds = { { { "defaults", MCP_ASK_FORM,
			  FORM("Please check the defaults",
			       "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
			       "\"age\":{\"type\":\"integer\",\"default\":30},"
			       "\"score\":{\"type\":\"number\",\"default\":95.5},"
			       "\"status\":{\"type\":\"string\",\"enum\":[\"active\","
			       "\"inactive\",\"pending\"],\"default\":\"active\"},"
			       "\"verified\":{\"type\":\"boolean\",\"default\":true}",
			       "") } } } },
	{ .name = "test_elicitation_sep1330_enums",
	  .rounds = { { { "enums", MCP_ASK_FORM,
			  FORM("Please choose",
			       "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\","
			       "\"option2\",\"option3\"]},"
			       "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
			       "{\"const\":\"value1\",\"title\":\"First Option\"},"
			       "{\"const\":\"value2\",\"title\":\"Second Option\"},"
			       "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
			       "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\","
			       "\"opt3\"],\"enumNames\":[\"Option One\",\"Option Two\","
			       "\"Option Three\"]},"
			       "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":"
			       "\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
			       "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
			       "{\"const\":\"value1\",\"title\":\"First Choice\"},"
			       "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
			       "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}",
			       "") } } } },
	{ .name = "test_streaming_elicitation",
	  .rounds = { { { "answer", MCP_ASK_FORM,
			  FORM("Go on?", TEXT_FIELD("answer"), "\"answer\"") } } } },
	{ .name = "test_input_required_result_elicitation",
	  .rounds = { { { "user_name", MCP_ASK_FORM,
			  FORM("What is your name?", TEXT_FIELD("name"), "\"name\"") } } } },
	{ .name = "test_input_required_result_sampling",
	  .rounds = { { { "capital_question", MCP_ASK_MODEL,
			  SAMPLE("What is the capital of France?") } } } },
	{ .name = "test_input_required_result_list_roots",
	  .rounds = { { { "client_roots", MCP_ASK_ROOTS, NULL } } } },
	{ .name = "test_input_required_result_request_state",
	  .keeps_state = true,
	  .rounds = { { { "confirm", MCP_ASK_FORM,
			  FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"") } } } },
	{ .name = "test_input_required_result_tampered_state",
	  .keeps_state = true,
	  .rounds = { { { "confirm", MCP_ASK_FORM,
			  FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"") } } } },
	{ .name = "test_input_required_result_multiple_inputs",
	  .keeps_state = true,
	  .rounds = { { { "user_name", MCP_ASK_FORM,
			  FORM("What is your name?", TEXT_FIELD("name"), "\"name\"") },
			{ "greeting", MCP_ASK_MODEL, SAMPLE("Generate a greeting") },
			{ "client_roots", MCP_ASK_ROOTS, NULL } } } },
	{ .name = "test_input_required_result_multi_round",
	  .keeps_state = true,
	  .rounds = { { { "step1", MCP_ASK_FORM,
			  FORM("Step 1: What is your name?", TEXT_FIELD("name"), "\"name\"") } },
		      { { "step2", MCP_ASK_FORM,
			  FORM("Step 2: What is your favorite color?", TEXT_FIELD("color"),
			       "\"color\"") } } } },
	{ .name = "test_input_required_result_capabilities",
	  .only_declared = true,
	  .rounds = { { { "user_name", MCP_ASK_FORM,
			  FORM("What is your name?", TEXT_FIELD("name"), "\"name\"") },
			{ "greeting", MCP_ASK_MODEL, SAMPLE("Generate a greeting") } } } },
};

static const struct asking_tool *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(asking_tools); i++)
		if (str_eq(asking_tools[i].name, name))
			return &asking_tools[i];
	return NULL;
}

/* The prompt or message of the arguments takes the place of the table's "?". */
static json_t *make_params(const struct template *t, json_t *arguments)
{
	json_t *params = t->params != NULL ? json_parse_const(t->params) : NULL;
	json_t *text = json_object_get(arguments, "message");

	if (json_is_string(text))
		json_put(params, "message", json_incref(text));
	text = json_object_get(arguments, "prompt");
	if (json_is_string(text)) {
		json_t *message = json_array_get(json_object_get(params, "messages"), 0);

		json_put(json_object_get(message, "content"), "text", json_incref(text));
	}
	return params;
}

static bool is_used(const struct mcp_call *call, const struct asking_tool *tool,
		    const struct template *t)
{
	return t->key != NULL && (!tool->only_declared || mcp_call_can_ask(call, t->kind));
}

/* True when every question of the round is answered; else `ret` are those to ask. */
static bool answered(struct mcp_call *call, const struct asking_tool *tool, int round,
		     const struct template *ret[ROUND_QUESTIONS], size_t *ret_count)
{
	bool all = true;

	*ret_count = 0;
	for (size_t i = 0; i < ROUND_QUESTIONS; i++) {
		const struct template *t = &tool->rounds[round][i];

		if (!is_used(call, tool, t))
			continue;
		ret[(*ret_count)++] = t;
		if (mcp_call_answer(call, t->key, t->kind) == NULL)
			all = false;
	}
	return all;
}

static void ask(struct mcp_call *call, const struct template *const *templates, size_t count,
		json_t *arguments, json_t *state_own)
{
	struct mcp_question questions[ROUND_QUESTIONS];

	for (size_t i = 0; i < count; i++)
		questions[i] =
			(struct mcp_question){ .key = templates[i]->key,
					       .kind = templates[i]->kind,
					       .params = make_params(templates[i], arguments) };
	mcp_call_ask(call, questions, count, state_own, "This client cannot be asked.");
	for (size_t i = 0; i < count; i++)
		json_decref(questions[i].params);
}

static void finish(struct mcp_call *call, const struct template *t, bool with_state)
{
	json_t *answer = mcp_call_answer(call, t->key, t->kind);
	char *text = json_write_text(answer);
	json_t *content = json_array();
	json_t *block = mcp_text("", 0);

	json_put(block, "text",
		 json_make_fmt("%sanswered: %s", with_state ? "state-ok, " : "", text));
	json_append(content, block);
	mcp_call_finish(call, content, NULL, NULL, false);
	free(text);
}

void peer_ask_tool(struct mcp_call *call, json_t *arguments, void *context)
{
	const struct asking_tool *tool = find(mcp_call_target(call));
	const struct template *templates[ROUND_QUESTIONS] = { NULL };
	json_t *state = mcp_call_state(call);
	int round = (int)json_integer_value(state);
	size_t count;
	bool done = answered(call, tool, round, templates, &count);

	(void)context;
	if (templates[0] == NULL) {
		peer_finish_text(call, "The client declared nothing that could be asked.");
		return;
	}
	if (done && (!tool->keeps_state || state != NULL)) {
		if (round == 1 || tool->rounds[1][0].key == NULL) {
			finish(call, templates[0], state != NULL);
			return;
		}
		round++;
		(void)answered(call, tool, round, templates, &count);
	}
	ask(call, templates, count, arguments, tool->keeps_state ? json_integer(round) : NULL);
}
