/* SPDX-License-Identifier: MIT */
#include "fixture.h"

enum { TEN_MINUTES_MS = 10 * 60 * 1000 };

/* A modern call of `ask` for two rounds; `more` are further members of the params. */
static const char *ask_modern(struct fixture *f, const char *arguments, const char *more)
{
	char *line =
		xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tools/call\","
			  "\"params\":{\"name\":\"ask\",\"arguments\":{\"twice\":true%s}%s," CLAIM(
				  "\"elicitation\":{}") "}}",
			  arguments, more);
	const char *answer = say(f, line);

	free(line);
	return answer;
}

/* Round one, answered: gives the handle of round two, to be freed. */
static char *start_second_round(struct fixture *f)
{
	static const char key[] = "\"requestState\":\"";
	const char *answer =
		ask_modern(f, "", ",\"inputResponses\":{\"first\":{\"action\":\"accept\"}}");
	const char *handle = strstr(answer, key);

	assert_non_null(handle);
	return xmemdup(handle + sizeof(key) - 1, 32);
}

static const char *second_round(struct fixture *f, const char *arguments, const char *handle)
{
	char *more = xasprintf(",\"inputResponses\":{\"second\":{\"action\":\"decline\"}},"
			       "\"requestState\":\"%s\"",
			       handle);
	const char *answer = ask_modern(f, arguments, more);

	free(more);
	return answer;
}

static void MI_2_a_state_leads_a_retry_into_the_next_round(void **state)
{
	struct fixture *f = *state;
	char *handle = start_second_round(f);

	assert_non_null(strstr(second_round(f, "", handle), "\"text\":\"decline\""));
	free(handle);
}

static void MI_3_a_state_works_once(void **state)
{
	struct fixture *f = *state;
	char *handle = start_second_round(f);

	(void)second_round(f, "", handle);
	assert_non_null(strstr(second_round(f, "", handle), "-32602"));
	free(handle);
}

static void MI_3_a_state_is_bound_to_its_params(void **state)
{
	struct fixture *f = *state;
	char *handle = start_second_round(f);

	assert_non_null(strstr(second_round(f, ",\"other\":1", handle), "-32602"));
	free(handle);
}

static void MI_3_a_state_expires(void **state)
{
	struct fixture *f = *state;
	char *handle = start_second_round(f);

	fixture_now += TEN_MINUTES_MS;
	loop_turn(f->loop, 0);
	assert_non_null(strstr(second_round(f, "", handle), "-32602"));
	free(handle);
}

static void MI_5_states_that_nobody_comes_back_for_are_bounded(void **state)
{
	struct fixture *f = *state;
	char *oldest = start_second_round(f);
	char *newest = NULL;

	for (int i = 0; i < 64; i++) {
		free(newest);
		newest = start_second_round(f);
	}
	assert_non_null(strstr(second_round(f, "", oldest), "-32602"));
	assert_non_null(strstr(second_round(f, "", newest), "\"text\":\"decline\""));
	free(oldest);
	free(newest);
}

static void MI_7_a_legacy_question_times_out(void **state)
{
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "\"elicitation\":{}");
	assert_non_null(strstr(say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				      "\"params\":{\"name\":\"ask\"}}"),
			       "elicitation/create"));
	assert_int_equal(mcp_server_live_calls(f->server), 1);
	buf_clear(&f->out);
	fixture_now += TEN_MINUTES_MS;
	loop_turn(f->loop, 0);
	assert_non_null(strstr(buf_str(&f->out), "{\"requestId\":\"s1\"}"));
	assert_non_null(strstr(buf_str(&f->out), "not answered within 10 minutes"));
	assert_int_equal(mcp_server_live_calls(f->server), 0);
}

static void a_call_that_waits_for_an_answer_can_be_cancelled_by_the_server(void **state)
{
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "\"elicitation\":{}");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"ask\"}}");
	mcp_server_cancel_all(f->server);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
}

static void a_later_handshake_does_not_change_what_a_waiting_call_was_told(void **state)
{
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "\"elicitation\":{}");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"ask\"}}");
	open_legacy(f, "2024-11-05", "");
	assert_non_null(strstr(say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":"
				      "{\"action\":\"accept\"}}"),
			       "\"text\":\"accept\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(MI_2_a_state_leads_a_retry_into_the_next_round),
		TEST(MI_3_a_state_works_once),
		TEST(MI_3_a_state_is_bound_to_its_params),
		TEST(MI_3_a_state_expires),
		TEST(MI_5_states_that_nobody_comes_back_for_are_bounded),
		TEST(MI_7_a_legacy_question_times_out),
		TEST(a_call_that_waits_for_an_answer_can_be_cancelled_by_the_server),
		TEST(a_later_handshake_does_not_change_what_a_waiting_call_was_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
