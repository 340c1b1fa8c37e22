/* SPDX-License-Identifier: MIT */
/* Tests that need more than a transcript: sizes, limits, cancellation from our own side. */
#include "fixture.h"

static json_t *parse_line(const char *line)
{
	struct err err;
	json_t *value = json_parse(line, strlen(line), &err);

	if (value == NULL)
		fail_msg("%s: %.200s", err.msg, line);
	return value;
}

static char *call_line(const char *id, const char *tool, const char *arguments)
{
	return xasprintf("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/call\",\"params\":{"
			 "\"name\":\"%s\",\"arguments\":{%s}," CLAIM("") "}}",
			 id, tool, arguments);
}

/* Calls a tool and gives its parsed answer. */
static json_t *call_tool(struct fixture *f, const char *tool, const char *arguments)
{
	char *line = call_line("t", tool, arguments);
	json_t *answer = parse_line(say(f, line));

	free(line);
	return answer;
}

static void an_answer_of_just_under_a_million_bytes_goes_out(void **state)
{
	struct fixture *f = *state;
	cleanup_json json_t *answer = call_tool(f, "big", "\"bytes\":999700");

	assert_true(f->out.len > 999700 && f->out.len < 1000000);
	assert_null(json_object_get(json_object_get(answer, "result"), "isError"));
}

static void a_tool_result_over_a_million_bytes_becomes_a_failure_that_says_so(void **state)
{
	struct fixture *f = *state;
	cleanup_json json_t *answer = call_tool(f, "big", "\"bytes\":1000000");
	json_t *result = json_object_get(answer, "result");
	json_t *block = json_array_get(json_object_get(result, "content"), 0);

	assert_true(json_is_true(json_object_get(result, "isError")));
	assert_string_equal(json_string_value(json_object_get(result, "resultType")), "complete");
	assert_non_null(strstr(json_string_value(json_object_get(block, "text")), "larger than"));
}

static void every_answer_of_a_large_batch_fits_into_one_line(void **state)
{
	struct fixture *f = *state;
	cleanup_json json_t *answers = NULL;
	struct buf line;

	open_legacy(f, "2025-03-26", "");
	buf_init(&line, BUF_UNBOUNDED);
	for (int i = 0; i < 50; i++)
		buf_putf(&line,
			 "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
			 "\"name\":\"big\",\"arguments\":{\"bytes\":100000}}}",
			 i > 0 ? "," : "[", i);
	buf_puts(&line, "]");
	answers = parse_line(say(f, buf_str(&line)));
	assert_int_equal(json_array_size(answers), 50);
	buf_release(&line);
}

static void one_large_refusal_leaves_room_for_the_rest_of_its_batch(void **state)
{
	struct fixture *f = *state;
	cleanup_json json_t *answers = NULL;
	char version[900000];
	struct buf line;

	memset(version, 'x', sizeof(version));
	version[sizeof(version) - 1] = '\0';
	open_legacy(f, "2025-03-26", "");
	buf_init(&line, BUF_UNBOUNDED);
	buf_putf(&line,
		 "[{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\",\"params\":{\"_meta\":{"
		 "\"io.modelcontextprotocol/protocolVersion\":\"%s\"}}}",
		 version);
	for (int i = 1; i < 50; i++) {
		buf_puts(&line, ",{\"jsonrpc\":\"2.0\",\"method\":\"none\",\"id\":\"");
		for (int j = 0; j < 1024; j++)
			buf_puts(&line, "\\u0001");
		buf_puts(&line, "\"}");
	}
	buf_puts(&line, "]");
	answers = parse_line(say(f, buf_str(&line)));
	assert_int_equal(json_array_size(answers), 50);
	buf_release(&line);
}

static void FR_6_a_line_over_the_cap_is_refused_and_the_next_one_served(void **state)
{
	struct fixture *f = *state;
	static char blob[3 << 20];

	memset(blob, 'x', sizeof(blob) - 1);
	assert_string_equal(say(f, blob),
			    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":"
			    "\"Parse error: the line is longer than this server reads\"}}");
	assert_string_equal(say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
			    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static void a_request_over_the_cap_is_refused_by_its_id(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":{\"a,b\":\"",
		  "\"id\":7," },
		{ "{ \"jsonrpc\" : \"2.0\", \"method\" : \"x\", \"id\" : \"a\\\"b\", \"params\": [1, {\"c\": \"",
		  "\"id\":\"a\\\"b\"," },
		/* No request, or one whose id is not found. */
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"id\":7,\"a\":\"", NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"", NULL },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":\"", NULL },
		{ "\"id\":7,", NULL },
		{ "{}},,", NULL },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
		const char *answer;

		buf_puts(&line, rows[i][0]);
		while (line.len < 3 << 20)
			buf_puts(
				&line,
				"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		answer = say(f, buf_str(&line));
		assert_non_null(strstr(answer, "longer than this server reads"));
		if (rows[i][1] != NULL)
			assert_non_null(strstr(answer, rows[i][1]));
		else
			assert_null(strstr(answer, "\"id\""));
	}
}

static void half_a_pair_in_a_request_is_replaced(void **state)
{
	struct fixture *f = *state;
	char *line = call_line("h", "echo", "\"text\":\"a\\ud83d\"");
	const char *answer = say(f, line);

	free(line);
	assert_non_null(strstr(answer, "\"id\":\"h\",\"result\""));
	assert_non_null(strstr(answer, "a\xef\xbf\xbd"));
}

static void a_request_that_is_no_utf8_is_refused_by_its_id(void **state)
{
	struct fixture *f = *state;
	cleanup_json json_t *answer = parse_line(say(
		f,
		"{\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}"));
	cleanup_json json_t *nobodys = parse_line(
		say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}"));

	assert_string_equal(json_string_value(json_object_get(answer, "id")), "u");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(answer, "error"), "code")),
		-32700);
	assert_null(json_object_get(nobodys, "id"));
}

static void RP_5_a_number_that_is_too_large_is_refused_by_the_request_s_id(void **state)
{
	static const char *const numbers[] = { "9223372036854775808", "1e999" };
	static const char *const wants[] = { "too big integer", "real number overflow" };
	static const char *const advice[] = { "as a text, in quotes", "" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		cleanup_free char *argument = xasprintf("\"text\":%s", numbers[i]);
		cleanup_free char *line = call_line("h", "echo", argument);
		cleanup_json json_t *answer = parse_line(say(f, line));
		const json_t *error = json_object_get(answer, "error");

		assert_string_equal(json_string_value(json_object_get(answer, "id")), "h");
		assert_int_equal(json_integer_value(json_object_get(error, "code")), -32700);
		assert_non_null(
			strstr(json_string_value(json_object_get(error, "message")), wants[i]));
		assert_non_null(
			strstr(json_string_value(json_object_get(error, "message")), advice[i]));
	}
}

static void CN_1_a_cancelled_call_is_told_and_nothing_more_is_written(void **state)
{
	struct fixture *f = *state;
	char *line = call_line("h", "hold", "");

	assert_string_equal(say(f, line), "");
	assert_int_equal(mcp_server_live_calls(f->server), 1);
	assert_string_equal(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				   "\"params\":{\"requestId\":\"h\"}}"),
			    "");
	assert_int_equal(f->cancelled_count, 1);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
	free(line);
}

static void cancelling_all_tells_each_live_call_once(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		char id[2] = { (char)('a' + i), '\0' };
		char *line = call_line(id, "hold", "");

		(void)say(f, line);
		free(line);
	}
	assert_int_equal(mcp_server_live_calls(f->server), 3);
	mcp_server_cancel_all(f->server);
	assert_int_equal(f->cancelled_count, 3);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
	assert_int_equal(f->out.len, 0);
}

static const char *const methods_of_parts[] = {
	"tools/list",
	"tools/call",
	"prompts/list",
	"prompts/get",
	"resources/list",
	"resources/read",
	"resources/subscribe",
	"resources/unsubscribe",
	"logging/setLevel",
	"completion/complete",
	"resources/templates/list",
};

static void RP_9_what_is_not_offered_is_not_there(void **state)
{
	static const struct mcp_features nothing = { .name = "empty", .version = "1" };
	struct fixture f;

	(void)state;
	fixture_start(&f, &nothing);
	open_legacy(&f, "2025-11-25", "");
	for (size_t i = 0; i < ARRAY_SIZE(methods_of_parts); i++) {
		char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}",
				       methods_of_parts[i]);

		assert_non_null(strstr(say(&f, line), "-32601"));
		free(line);
	}
	assert_non_null(strstr(say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
				       "\"params\":{\"protocolVersion\":\"2025-11-25\"}}"),
			       "\"capabilities\":{}"));
	fixture_end(&f);
}

static void SB_7_listening_works_where_nothing_is_offered(void **state)
{
	static const struct mcp_features nothing = { .name = "empty", .version = "1" };
	struct fixture f;

	(void)state;
	fixture_start(&f, &nothing);
	assert_non_null(strstr(say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
				       "\"subscriptions/listen\",\"params\":{\"notifications\":{"
				       "\"toolsListChanged\":true}," CLAIM("") "}}"),
			       "\"notifications\":{}"));
	fixture_end(&f);
}

static void ER_12_a_live_call_keeps_the_client_it_came_from(void **state)
{
	struct fixture *f = *state;

	(void)say(
		f,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"first\",\"version\":\"7\"}}}");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
		     "\"params\":{\"name\":\"hold\"}}");
	open_legacy(f, "2024-11-05", "");
	assert_string_equal(mcp_call_client_name(f->held[0]), "first");
	assert_string_equal(mcp_call_client_version(f->held[0]), "7");
	assert_int_equal(mcp_call_revision(f->held[0]), MCP_2025_11_25);
}

static void SB_1_a_stream_has_so_many_uris_at_most(void **state)
{
	struct fixture *f = *state;
	struct buf line;

	buf_init(&line, BUF_UNBOUNDED);
	buf_puts(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\","
			"\"params\":{" CLAIM("") ",\"notifications\":{\"resourceSubscriptions\":[");
	for (int i = 0; i < 1025; i++)
		buf_putf(&line, "%s\"test://%d\"", i > 0 ? "," : "", i);
	buf_puts(&line, "]}}}");
	assert_non_null(strstr(say(f, buf_str(&line)), "-32602"));
	buf_release(&line);
}

static void SB_4_a_stream_does_not_count_as_a_call(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 8; i++) {
		char id[2] = { (char)('a' + i), '\0' };
		char *line = call_line(id, "hold", "");

		(void)say(f, line);
		free(line);
	}
	assert_non_null(strstr(
		say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		       "\"subscriptions/listen\",\"params\":{\"notifications\":{}," CLAIM("") "}}"),
		"acknowledged"));
	assert_int_equal(mcp_server_live_calls(f->server), 8);
}

static void the_tool_list_is_made_anew_when_the_tools_changed(void **state)
{
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
	static struct mcp_features features;
	struct fixture f;

	(void)state;
	features = fixture_features;
	fixture_start(&f, &features);
	open_legacy(&f, "2025-11-25", "");
	assert_non_null(strstr(say(&f, list), "\"ask\""));
	features.tool_count--;
	mcp_server_tools_changed(f.server);
	assert_null(strstr(say(&f, list), "\"ask\""));
	fixture_end(&f);
}

static void what_answers_look_like_is_told_since_2025_06_18(void **state)
{
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
	static const struct {
		const char *revision;
		bool told;
	} rows[] = {
		{ "2024-11-05", false },
		{ "2025-03-26", false },
		{ "2025-06-18", true },
		{ "2025-11-25", true },
	};
	struct mcp_features features = fixture_features;
	struct mcp_tool tool = features.tools[0];

	(void)state;
	tool.output_schema = "{\"type\":\"object\"}";
	features.tools = &tool;
	features.tool_count = 1;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture f;

		fixture_start(&f, &features);
		open_legacy(&f, rows[i].revision, "");
		assert_int_equal(strstr(say(&f, list), "\"outputSchema\":{") != NULL, rows[i].told);
		assert_non_null(strstr(say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
					       "\"tools/list\",\"params\":{" CLAIM("") "}}"),
				       "\"outputSchema\":{"));
		fixture_end(&f);
	}
}

static struct {
	unsigned int times;
	bool answered; /* always before the report */
} listing = { .answered = true };

static void on_listed(void *context)
{
	const struct fixture *f = context;

	listing.times++;
	listing.answered =
		listing.answered && memmem(f->out.data, f->out.len, "\"ask\"", 5) != NULL;
}

static void that_tools_were_listed_is_told_after_the_answer(void **state)
{
	struct mcp_features features = fixture_features;
	struct fixture f;

	(void)state;
	features.tools_listed = on_listed;
	features.context = &f;
	fixture_start(&f, &features);
	open_legacy(&f, "2025-11-25", "");
	(void)say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
		      "\"params\":{\"cursor\":\"nowhere\"}}");
	assert_int_equal(listing.times, 0);
	(void)say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	assert_int_equal(listing.times, 1);
	(void)say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" CLAIM(
			      "") "}}");
	assert_int_equal(listing.times, 2);
	assert_true(listing.answered);
	fixture_end(&f);
}

static void a_duplicate_of_a_listen_id_is_refused(void **state)
{
	struct fixture *f = *state;
	const char *line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\","
			   "\"params\":{\"notifications\":{}," CLAIM("") "}}";

	(void)say(f, line);
	assert_non_null(strstr(say(f, line), "-32600"));
	assert_int_equal(mcp_server_live_calls(f->server), 0);
}

static const char *logged(struct fixture *f, const char *level)
{
	buf_clear(&f->out);
	mcp_server_log(f->server, level, "pool", "python is ready");
	return buf_str(&f->out);
}

static void log_messages_go_to_an_older_client_that_has_set_a_level(void **state)
{
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "");
	assert_string_equal(logged(f, "error"), "");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{"
		     "\"level\":\"warning\"}}");
	assert_string_equal(logged(f, "info"), "");
	assert_string_equal(
		logged(f, "error"),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
		"\"level\":\"error\",\"logger\":\"pool\",\"data\":\"python is ready\"}}\n");
	open_legacy(f, "2025-06-18", "");
	assert_string_equal(logged(f, "error"), "");
}

static void log_messages_go_to_a_newer_client_during_a_call_that_names_a_level(void **state)
{
	struct fixture *f = *state;

	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		     "\"hold\"," CLAIM("") "}}");
	assert_string_equal(logged(f, "emergency"), "");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
		     "\"hold\"," CLAIM(
			     "},\"io.modelcontextprotocol/logLevel\":\"info\",\"more\":{") "}}");
	assert_string_equal(logged(f, "debug"), "");
	assert_non_null(strstr(logged(f, "info"), "python is ready"));
	release_held(f);
	assert_string_equal(logged(f, "emergency"), "");
}

static void a_client_that_has_gone_leaves_nothing_to_the_next(void **state)
{
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{"
		     "\"level\":\"debug\"}}");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":{"
		     "\"uri\":\"test://a\"}}");
	(void)say(f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
		     "\"hold\"}}");
	(void)say(f,
		  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"subscriptions/listen\",\"params\":{"
		  "\"notifications\":{}," CLAIM("") "}}");
	mcp_server_feed(f->server, "{\"jsonrpc\":", 11);
	f->out.len = 0;
	mcp_server_forget_client(f->server);
	assert_int_equal(f->cancelled_count, 1);
	assert_int_equal(f->deserted_count, 1);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
	assert_false(mcp_server_wants_log(f->server, "emergency"));
	assert_false(mcp_server_resource_watched(f->server, "test://a"));
	assert_string_equal(mcp_server_client_name(f->server), "");
	assert_int_equal(f->out.len, 0);
	assert_non_null(strstr(say(f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
				      "\"params\":{\"name\":\"release\"," CLAIM("") "}}"),
			       "done"));
	open_legacy(f, "2025-11-25", "");
	assert_non_null(strstr(say(f, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}"),
			       "\"result\":{}"));
	mcp_server_cancel_all(f->server);
	assert_int_equal(f->deserted_count, 1);
}

static void a_question_to_a_client_that_has_gone_is_over(void **state)
{
	static const char ask[] = "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
				  "\"params\":{\"name\":\"ask\"}}";
	struct fixture *f = *state;

	open_legacy(f, "2025-06-18", "\"elicitation\":{}");
	assert_non_null(strstr(say(f, ask), "elicitation/create"));
	mcp_server_forget_client(f->server);
	assert_int_equal(mcp_server_live_calls(f->server), 0);
	f->out.len = 0;
	open_legacy(f, "2025-06-18", "\"elicitation\":{}");
	f->out.len = 0;
	assert_string_equal(say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":{\"action\":"
				   "\"accept\"}}"),
			    "");
	assert_non_null(strstr(say(f, ask), "\"s2\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_of_just_under_a_million_bytes_goes_out),
		TEST(a_tool_result_over_a_million_bytes_becomes_a_failure_that_says_so),
		TEST(every_answer_of_a_large_batch_fits_into_one_line),
		TEST(one_large_refusal_leaves_room_for_the_rest_of_its_batch),
		TEST(FR_6_a_line_over_the_cap_is_refused_and_the_next_one_served),
		TEST(a_request_over_the_cap_is_refused_by_its_id),
		TEST(half_a_pair_in_a_request_is_replaced),
		TEST(a_request_that_is_no_utf8_is_refused_by_its_id),
		TEST(RP_5_a_number_that_is_too_large_is_refused_by_the_request_s_id),
		TEST(CN_1_a_cancelled_call_is_told_and_nothing_more_is_written),
		TEST(cancelling_all_tells_each_live_call_once),
		cmocka_unit_test(RP_9_what_is_not_offered_is_not_there),
		cmocka_unit_test(SB_7_listening_works_where_nothing_is_offered),
		TEST(ER_12_a_live_call_keeps_the_client_it_came_from),
		TEST(SB_1_a_stream_has_so_many_uris_at_most),
		TEST(SB_4_a_stream_does_not_count_as_a_call),
		cmocka_unit_test(the_tool_list_is_made_anew_when_the_tools_changed),
		cmocka_unit_test(what_answers_look_like_is_told_since_2025_06_18),
		cmocka_unit_test(that_tools_were_listed_is_told_after_the_answer),
		TEST(a_duplicate_of_a_listen_id_is_refused),
		TEST(log_messages_go_to_an_older_client_that_has_set_a_level),
		TEST(log_messages_go_to_a_newer_client_during_a_call_that_names_a_level),
		TEST(a_client_that_has_gone_leaves_nothing_to_the_next),
		TEST(a_question_to_a_client_that_has_gone_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
