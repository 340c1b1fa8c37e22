/* SPDX-License-Identifier: MIT */
/* What a server tells the commands of its user, and does for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fd.h"
#include "console/console.h"
#include "console_fixture.h"
#include "redact/redact.h"

static void test_a_server_without_a_session_is_listed(void **state)
{
	cleanup_json json_t *reply = NULL;

	(void)state;
	console_fixture_forget_table();
	reply = console_fixture_call("{\"command\": \"ps\"}");
	assert_int_equal(json_integer_value(json_object_get(reply, "pid")), getpid());
	assert_string_equal(json_string_value(json_object_get(reply, "version")), "0.0");
	assert_string_equal(json_string_value(json_object_get(reply, "client")), "");
	assert_int_equal(json_array_size(json_object_get(reply, "sessions")), 0);
}

static void test_sessions_are_listed_with_what_they_run(void **state)
{
	cleanup_json json_t *reply = NULL;
	const json_t *row;
	const json_t *cell;

	(void)state;
	(void)console_fixture_session("idle");
	console_fixture_run(console_fixture_session("busy"), "hang");
	reply = console_fixture_call("{\"command\": \"ps\"}");
	assert_int_equal(json_array_size(json_object_get(reply, "sessions")), 2);
	row = json_array_get(json_object_get(reply, "sessions"), 0);
	assert_string_equal(console_fixture_text(row, "session_id"), "idle");
	assert_string_equal(console_fixture_text(row, "state"), "idle");
	assert_int_equal(json_array_size(json_object_get(row, "running")), 0);
	row = json_array_get(json_object_get(reply, "sessions"), 1);
	assert_string_equal(console_fixture_text(row, "state"), "running");
	assert_int_equal(json_integer_value(json_object_get(row, "first_cell")), 1);
	cell = json_array_get(json_object_get(row, "running"), 0);
	assert_string_equal(console_fixture_text(cell, "language"), "fake");
	assert_string_equal(console_fixture_text(cell, "code"), "hang");
	assert_int_equal(json_integer_value(json_object_get(cell, "cell")), 1);
}

static void test_an_unknown_command_is_refused(void **state)
{
	static const struct {
		const char *request;
		enum err_code code;
		const char *words;
	} rows[] = {
		{ "{\"command\": \"dance\"}", ERR_UNSUPPORTED, "does not know the command" },
		{ "{}", ERR_INVALID, "request.command is missing" },
		{ "{\"command\": 1}", ERR_INVALID, "request.command must be a string" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		console_fixture_refused(rows[i].request, rows[i].code, rows[i].words);
}

static void test_a_session_is_ended_and_others_stay(void **state)
{
	cleanup_json json_t *reply = NULL;
	struct err err;

	(void)state;
	(void)console_fixture_session("other");
	console_fixture_run(console_fixture_session("mine"), "hang");
	reply = console_fixture_call("{\"command\": \"stop\", \"session_id\": \"mine\"}");
	assert_true(json_is_false(json_object_get(reply, "lasts")));
	assert_null(table_find(console_fixture.service.table, "mine", &err));
	assert_non_null(table_find(console_fixture.service.table, "other", &err));
	assert_int_equal(console_fixture.ended, 1);
	console_fixture_refused("{\"command\": \"stop\", \"session_id\": \"mine\"}", ERR_NOT_FOUND,
				"there is no session 'mine'; live: 'other'");
}

static void test_a_session_that_can_be_resumed_says_so(void **state)
{
	cleanup_json json_t *reply = NULL;

	(void)state;
	fixture.settings.resume = 1000;
	console_fixture_run(console_fixture_session("mine"), "hang");
	reply = console_fixture_call("{\"command\": \"stop\", \"session_id\": \"mine\"}");
	assert_true(json_is_true(json_object_get(reply, "lasts")));
	assert_int_equal(fixture.lasting, 1);
}

static void test_what_runs_is_interrupted_and_the_model_is_told(void **state)
{
	struct session *session = console_fixture_session("mine");
	cleanup_json json_t *reply = NULL;

	(void)state;
	console_fixture_refused("{\"command\": \"interrupt\", \"session_id\": \"mine\"}",
				ERR_NOT_FOUND, "no cell runs in session 'mine'");
	console_fixture_run(session, "wait\ndone");
	reply = console_fixture_call("{\"command\": \"interrupt\", \"session_id\": \"mine\"}");
	assert_int_equal(json_integer_value(json_object_get(reply, "cells")), 1);
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS), console_fixture.ended == 1);
	assert_non_null(strstr(console_fixture.notice, "The user interrupted what ran"));
}

static void test_a_command_about_a_session_must_name_one(void **state)
{
	(void)state;
	console_fixture_refused("{\"command\": \"stop\"}", ERR_INVALID,
				"request.session_id is missing");
	console_fixture_refused("{\"command\": \"interrupt\", \"session_id\": 1}", ERR_INVALID,
				"request.session_id must be a string");
	console_fixture_forget_table();
	console_fixture_refused("{\"command\": \"stop\", \"session_id\": \"mine\"}", ERR_NOT_FOUND,
				"this server has no session");
}

/* Reads lines until one has this event, which is returned; a new reference. */
static json_t *await_event(struct client *client, const char *event)
{
	struct err err = { .msg = "" };

	for (;;) {
		json_t *line = console_fixture_read(client, &err);

		if (line == NULL)
			fail_msg("%s: %s", event, err.msg);
		if (str_eq(console_fixture_text(line, "event"), event))
			return line;
		json_decref(line);
	}
}

static void expect_event(struct client *client, const char *event, const char *key,
			 const char *value)
{
	cleanup_json json_t *line = await_event(client, event);

	assert_string_equal(console_fixture_text(line, key), value);
}

static void watch(struct client *client, const char *request)
{
	struct err err = { .msg = "" };
	cleanup_json json_t *reply = NULL;

	console_fixture_ask(request, client);
	reply = console_fixture_read(client, &err);
	assert_true(json_is_true(json_object_get(reply, "ok")));
}

static void test_a_watcher_sees_cells_and_their_clean_output(void **state)
{
	struct session *session = console_fixture_session("mine");
	cleanup_client struct client client;

	(void)state;
	watch(&client, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	expect_event(&client, "state", "state", "idle");
	console_fixture_run(session, "print=a\033[31mb\rc\033]0;t\007\nread\nresult=42\ndone");
	{
		cleanup_json json_t *began = await_event(&client, "began");

		assert_int_equal(json_integer_value(json_object_get(began, "cell")), 1);
	}
	expect_event(&client, "output", "text", "ab\rc");
}

static void test_a_watcher_that_comes_later_gets_what_was_not_shown(void **state)
{
	cleanup_client struct client first;
	cleanup_client struct client second;

	(void)state;
	console_fixture_run(console_fixture_session("mine"), "print=early\nhang");
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS), console_fixture_has_output());
	watch(&first, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	expect_event(&first, "output", "text", "early");
	expect_event(&first, "state", "state", "running");
	watch(&second, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	expect_event(&second, "output", "text", "early");
}

static void test_secrets_are_hidden_from_a_watcher_also_if_it_comes_amid_one(void **state)
{
	struct redact *redact = redact_new();
	cleanup_client struct client client;
	struct err err;

	(void)state;
	redact_add(redact, "KEY", "correct-horse-battery");
	redact_finish(redact);
	fixture.settings.redact = redact;
	console_fixture_run(console_fixture_session("mine"),
			    "print=a correct-horse\nread\nprint=-battery b\nhang");
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS), console_fixture_has_output());
	watch(&client, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	expect_event(&client, "output", "text", "a ");
	json_decref(console_fixture_call("{\"command\": \"type\", \"session_id\": \"mine\", "
					 "\"text\": \"x\"}"));
	fixture_pass(100);
	expect_event(&client, "output", "text", "[secret KEY] b");
	assert_null(client_read(&client, 0, &err));
	console_fixture_forget_table();
	fixture.settings.redact = NULL;
	redact_free(redact);
}

static void test_a_watcher_of_one_session_sees_its_end(void **state)
{
	cleanup_client struct client one;
	cleanup_client struct client all;
	struct err err = { .msg = "" };

	(void)state;
	(void)console_fixture_session("other");
	console_fixture_run(console_fixture_session("mine"), "hang");
	watch(&one, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	watch(&all, "{\"command\": \"watch\", \"all\": true}");
	json_decref(console_fixture_call("{\"command\": \"stop\", \"session_id\": \"mine\"}"));
	expect_event(&one, "ended", "state", "died");
	expect_event(&one, "session_ended", "session_id", "mine");
	assert_null(console_fixture_read(&one, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	expect_event(&all, "session_ended", "session_id", "mine");
	json_decref(console_fixture_call("{\"command\": \"stop\", \"session_id\": \"other\"}"));
	expect_event(&all, "session_ended", "session_id", "other");
}

static void test_without_a_watcher_nothing_is_observed(void **state)
{
	const struct service *service = &console_fixture.service;
	struct client client;

	(void)state;
	console_fixture_run(console_fixture_session("mine"), "hang");
	assert_null(service->observer->wrote);
	watch(&client, "{\"command\": \"watch\", \"all\": true}");
	assert_non_null(service->observer->wrote);
	client_close(&client);
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS),
			  service->observer->wrote == NULL);
	console_fixture_refused("{\"command\": \"watch\", \"session_id\": \"none\"}", ERR_NOT_FOUND,
				"there is no session 'none'");
}

static void test_a_flood_is_cut_and_counted(void **state)
{
	struct session *session = console_fixture_session("mine");
	const struct service_observer *observer = console_fixture.service.observer;
	cleanup_free char *flood = xcalloc(1, 100 << 10);
	cleanup_client struct client client;

	(void)state;
	memset(flood, 'x', 100 << 10);
	watch(&client, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	observer->wrote(observer->data, session, &fixture_language, flood, 100 << 10);
	observer->wrote(observer->data, session, &fixture_language, flood, 10);
	fixture_pass(100);
	{
		cleanup_json json_t *line = await_event(&client, "output");

		assert_int_equal(json_string_length(json_object_get(line, "text")), 64 << 10);
		assert_int_equal(json_integer_value(json_object_get(line, "left_out_bytes")),
				 (36 << 10) + 10);
	}
	observer->wrote(observer->data, session, &fixture_language, "on", 2);
	fixture_pass(100);
	expect_event(&client, "output", "text", "on");
}

static void test_lines_that_a_watcher_does_not_read_leave_a_gap(void **state)
{
	struct session *session = console_fixture_session("mine");
	const struct service_observer *observer = console_fixture.service.observer;
	cleanup_free char *text = xcalloc(1, 64 << 10);
	cleanup_client struct client client;

	(void)state;
	memset(text, 'x', 64 << 10);
	watch(&client, "{\"command\": \"watch\", \"session_id\": \"mine\"}");
	for (int i = 0; i < 40; i++) {
		observer->wrote(observer->data, session, &fixture_language, text, 64 << 10);
		fixture_pass(100);
		loop_turn(fixture.loop, 0);
	}
	for (int i = 0; i < 3; i++)
		json_decref(await_event(&client, "output"));
	observer->wrote(observer->data, session, &fixture_language, "on", 2);
	fixture_pass(100);
	json_decref(await_event(&client, "gap"));
}

static void test_typing_goes_to_the_cell_and_the_model_is_told_once(void **state)
{
	struct session *session = console_fixture_session("mine");

	(void)state;
	console_fixture_refused(
		"{\"command\": \"type\", \"session_id\": \"mine\", \"text\": \"a\"}", ERR_NOT_FOUND,
		"no cell runs in session 'mine'");
	console_fixture_run(session, "read\nread\ndone");
	for (int i = 0; i < 2; i++) {
		cleanup_json json_t *reply = console_fixture_call(
			"{\"command\": \"type\", \"session_id\": \"mine\", \"text\": \"a\"}");

		assert_int_equal(json_integer_value(json_object_get(reply, "cell")), 1);
	}
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS);
			  fixture_pass(50), console_fixture.ended == 1);
	assert_non_null(
		strstr(console_fixture.notice, "The user typed into cell 1, with ptycell attach."));
	assert_null(strstr(strstr(console_fixture.notice, "The user typed") + 1, "The user typed"));
	assert_null(strstr(console_fixture.notice, "The user interrupted"));
}

static void test_the_model_is_told_of_an_interrupt_by_key(void **state)
{
	struct session *session = console_fixture_session("mine");
	cleanup_free char *notice = NULL;

	(void)state;
	console_fixture_run(session, "hang");
	json_decref(console_fixture_call("{\"command\": \"type\", \"session_id\": \"mine\", "
					 "\"text\": \"\\u0003\", \"kind\": \"key\"}"));
	notice = session_take_notice(session);
	assert_non_null(strstr(notice, "The user interrupted cell 1, with ptycell attach."));
	assert_null(strstr(notice, "The user typed"));
}

static void test_a_wrong_request_to_type_is_refused(void **state)
{
	(void)state;
	console_fixture_run(console_fixture_session("mine"), "hang");
	console_fixture_refused("{\"command\": \"type\", \"session_id\": \"mine\"}", ERR_INVALID,
				"request.text is missing");
	console_fixture_refused("{\"command\": \"type\", \"session_id\": \"mine\", "
				"\"text\": \"a\", \"kind\": \"shout\"}",
				ERR_INVALID, "request.kind must be line, raw or key");
	console_fixture_refused("{\"command\": \"type\", \"session_id\": \"mine\", "
				"\"text\": \"a\", \"kind\": 1}",
				ERR_INVALID, "request.kind must be a string");
}

static void test_a_home_that_cannot_be_used_costs_no_server(void **state)
{
	struct service service = console_fixture.service;
	struct settings settings = { .home = (char *)(uintptr_t) "relative" };
	struct console *console;

	(void)state;
	service.settings = &settings;
	console = console_new(&service, console_fixture.server, NULL);
	service.observer->ready(service.observer->data);
	service.observer->ready(service.observer->data);
	console_free(console);
	assert_null(service.observer);
	console_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, console_set_up, console_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_server_without_a_session_is_listed),
		TEST(test_sessions_are_listed_with_what_they_run),
		TEST(test_an_unknown_command_is_refused),
		TEST(test_a_session_is_ended_and_others_stay),
		TEST(test_a_session_that_can_be_resumed_says_so),
		TEST(test_what_runs_is_interrupted_and_the_model_is_told),
		TEST(test_a_command_about_a_session_must_name_one),
		TEST(test_a_watcher_sees_cells_and_their_clean_output),
		TEST(test_a_watcher_that_comes_later_gets_what_was_not_shown),
		TEST(test_secrets_are_hidden_from_a_watcher_also_if_it_comes_amid_one),
		TEST(test_a_watcher_of_one_session_sees_its_end),
		TEST(test_without_a_watcher_nothing_is_observed),
		TEST(test_a_flood_is_cut_and_counted),
		TEST(test_lines_that_a_watcher_does_not_read_leave_a_gap),
		TEST(test_typing_goes_to_the_cell_and_the_model_is_told_once),
		TEST(test_the_model_is_told_of_an_interrupt_by_key),
		TEST(test_a_wrong_request_to_type_is_refused),
		TEST(test_a_home_that_cannot_be_used_costs_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
