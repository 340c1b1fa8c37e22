/* SPDX-License-Identifier: MIT */
/* Side requests, which leave the call with its owner; and progress, sent only while output flows.
 */
#include "fixture.h"
#include "mcp/client_request.h"

static int answered_count;
static char answered_with[64]; /* "" for none */

static void on_answered(void *data, json_t *result)
{
	const char *action = json_string_value(json_object_get(result, "action"));

	assert_ptr_equal(data, &answered_count);
	answered_count++;
	(void)snprintf(answered_with, sizeof(answered_with), "%s", action != NULL ? action : "");
}

static struct mcp_side_request *ask(struct fixture *f)
{
	cleanup_json json_t *params = json_parse_const(
		"{\"message\":\"Sure?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}");
	const struct mcp_question question = { "answer", MCP_ASK_FORM, params };

	return mcp_call_ask_side_request(f->held[0], &question, on_answered, &answered_count);
}

/* A legacy client with a call that waits. */
static void hold(struct fixture *f, const char *capabilities)
{
	answered_count = 0;
	open_legacy(f, "2025-06-18", capabilities);
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"hold\"}}");
	assert_int_equal(f->held_count, 1);
	buf_clear(&f->out);
}

static void the_answer_comes_and_the_call_stays(void **state)
{
	struct fixture *f = *state;

	hold(f, "\"elicitation\":{}");
	assert_non_null(ask(f));
	assert_non_null(strstr(buf_str(&f->out), "\"method\":\"elicitation/create\""));
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":{\"action\":\"accept\"}}");
	assert_int_equal(answered_count, 1);
	assert_string_equal(answered_with, "accept");
	assert_int_equal(mcp_server_live_calls(f->server), 1);
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":{\"action\":\"accept\"}}");
	assert_int_equal(answered_count, 1);
	release_held(f);
}

static void an_error_or_a_wrong_shape_is_no_answer(void **state)
{
	static const char *const responses[] = { "\"error\":{\"code\":1,\"message\":\"no\"}",
						 "\"result\":{\"action\":\"whatever\"}",
						 "\"result\":{}" };
	struct fixture *f = *state;

	hold(f, "\"elicitation\":{}");
	for (size_t i = 0; i < ARRAY_SIZE(responses); i++) {
		char *line =
			xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"s%zu\",%s}", i + 1, responses[i]);

		assert_non_null(ask(f));
		(void)say(f, line);
		free(line);
		assert_int_equal(answered_count, i + 1);
		assert_string_equal(answered_with, "");
	}
	release_held(f);
}

static void what_is_withdrawn_is_taken_back_and_never_answered(void **state)
{
	struct fixture *f = *state;

	hold(f, "\"elicitation\":{}");
	mcp_side_request_withdraw(ask(f));
	assert_non_null(strstr(buf_str(&f->out), "{\"requestId\":\"s1\"}"));
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":{\"action\":\"accept\"}}");
	assert_int_equal(answered_count, 0);
	mcp_side_request_withdraw(NULL);
	release_held(f);
}

static void who_cannot_ask_is_not_asked(void **state)
{
	struct fixture *f = *state;

	hold(f, "");
	assert_null(ask(f));
	assert_int_equal(f->out.len, 0);
	release_held(f);
}

static void the_end_of_input_is_no_answer(void **state)
{
	struct fixture *f = *state;

	hold(f, "\"elicitation\":{}");
	assert_non_null(ask(f));
	assert_non_null(ask(f));
	mcp_server_feed_end(f->server);
	assert_int_equal(answered_count, 2);
	assert_string_equal(answered_with, "");
	release_held(f);
}

/* ---- progress ---- */

static bool flows;

static bool is_flowing(void *context)
{
	assert_non_null(context);
	return flows;
}

static void progress_is_dropped_while_the_client_does_not_read(void **state)
{
	static const char request[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"progress\",\"_meta\":{\"progressToken\":0}}}";
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "");
	mcp_server_set_flowing(f->server, is_flowing);
	flows = false;
	assert_null(strstr(say(f, request), "notifications/progress"));
	flows = true;
	assert_non_null(strstr(say(f, request), "notifications/progress"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_answer_comes_and_the_call_stays),
		TEST(an_error_or_a_wrong_shape_is_no_answer),
		TEST(what_is_withdrawn_is_taken_back_and_never_answered),
		TEST(who_cannot_ask_is_not_asked),
		TEST(the_end_of_input_is_no_answer),
		TEST(progress_is_dropped_while_the_client_does_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
