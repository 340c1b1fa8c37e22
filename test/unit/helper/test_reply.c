/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "helper/reply.h"

static int progress_count;

static void on_progress(struct reply *reply, const json_t *progress)
{
	(void)reply;
	assert_true(json_is_object(progress));
	progress_count++;
}

static int setup(void **state)
{
	struct reply *reply = calloc(1, sizeof(*reply));

	reply_init(reply, on_progress);
	progress_count = 0;
	*state = reply;
	return 0;
}

static int teardown(void **state)
{
	reply_release(*state);
	free(*state);
	return 0;
}

static void feed(struct reply *reply, const char *text)
{
	struct err err = { 0 };

	if (reply_feed(reply, text, strlen(text), &err) < 0)
		fail_msg("'%s': %s", text, err.msg);
}

static void a_result_after_progress_is_taken(void **state)
{
	struct reply *reply = *state;

	feed(reply, "{\"progress\":{\"n\":1}}\n{\"progress\":{}}\n");
	assert_false(reply_complete(reply));
	feed(reply, "{\"result\":{\"n\":7}}\n");
	assert_true(reply_complete(reply));
	assert_int_equal(progress_count, 2);
	assert_int_equal(json_integer_value(json_object_get(reply->result, "n")), 7);
}

static void lines_may_come_byte_by_byte(void **state)
{
	static const char text[] = "{\"progress\":{}}\n{\"result\":{}}\n";
	struct reply *reply = *state;
	struct err err;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(reply_feed(reply, text + i, 1, &err), 0);
	assert_int_equal(progress_count, 1);
	assert_true(reply_complete(reply));
}

static void an_error_has_its_code_and_message(void **state)
{
	struct reply *reply = *state;

	feed(reply, "{\"error\":{\"code\":\"limit\",\"message\":\"too much\"}}\n");
	assert_true(reply->failed);
	assert_int_equal(reply->error.code, ERR_LIMIT);
	assert_string_equal(reply->error.msg, "too much");
}

static void what_is_no_reply_is_refused_for_good(void **state)
{
	static const char *const lines[] = {
		"\n",
		"x\n",
		"[]\n",
		"{}\n",
		"null\n",
		"{\"progress\":1}\n",
		"{\"result\":[]}\n",
		"{\"other\":{}}\n",
		"{\"result\":{},\"progress\":{}}\n",
		"{\"error\":{}}\n",
		"{\"error\":{\"code\":\"none\",\"message\":\"x\"}}\n",
		"{\"error\":{\"code\":\"limit\"}}\n",
		"{\"error\":{\"code\":7,\"message\":\"x\"}}\n",
		"{\"result\":{}}\n{\"result\":{}}\n",
		"{\"result\":{}}\n{\"progress\":{}}\n",
		"{\"result\":{}}\n\n",
		"{\"result\":\"\377\"}\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct reply reply;
		struct err err = { 0 };

		reply_init(&reply, NULL);
		if (reply_feed(&reply, lines[i], strlen(lines[i]), &err) == 0)
			fail_msg("accepted: %s", lines[i]);
		assert_int_equal(err.code, ERR_INTERNAL);
		assert_int_equal(reply_feed(&reply, "{\"result\":{}}\n", 14, &err), -1);
		reply_release(&reply);
	}
}

static void a_line_past_the_cap_is_a_limit(void **state)
{
	struct reply *reply = *state;
	struct err err = { 0 };
	char *text = malloc(REPLY_LINE_MAX + 1);

	memset(text, ' ', REPLY_LINE_MAX + 1);
	assert_int_equal(reply_feed(reply, text, REPLY_LINE_MAX, &err), 0);
	assert_int_equal(reply_feed(reply, text, 1, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
	free(text);
}

static void the_sum_of_all_lines_is_capped(void **state)
{
	struct reply *reply = *state;
	struct err err = { 0 };
	char *text = malloc(REPLY_LINE_MAX);
	int result = 0;
	int fed = 0;

	memset(text, ' ', REPLY_LINE_MAX);
	memcpy(text, "{\"progress\":{}}", 15);
	text[REPLY_LINE_MAX - 1] = '\n';
	while (result == 0 && fed < 1000) {
		result = reply_feed(reply, text, REPLY_LINE_MAX, &err);
		fed++;
	}
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(fed, REPLY_TOTAL_MAX / REPLY_LINE_MAX + 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_result_after_progress_is_taken),  TEST(lines_may_come_byte_by_byte),
		TEST(an_error_has_its_code_and_message), TEST(what_is_no_reply_is_refused_for_good),
		TEST(a_line_past_the_cap_is_a_limit),    TEST(the_sum_of_all_lines_is_capped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
