/* SPDX-License-Identifier: MIT */
/* A server without a client goes to one front that is alike, or ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "console/console.h"
#include "console_fixture.h"

enum { LINGER_MS = 100000, LATE_MS = 2000 };

#define ADOPT "{\"command\": \"adopt\", \"likeness\": \"alike\"}"

static void begin_lingering(void)
{
	(void)console_fixture_session("mine");
	console_linger(console_fixture.console, clock_ms() + LINGER_MS);
}

/* Asks to take the server over, which must agree. */
static void agree(struct client *client)
{
	struct err err = { .msg = "" };
	cleanup_json json_t *reply = NULL;

	console_fixture_ask(ADOPT, client);
	reply = console_fixture_read(client, &err);
	assert_true(json_is_true(json_object_get(reply, "ok")));
}

static void hand_over(const struct client *client)
{
	int ends[2];
	struct err err;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(
		handover_send(client->fd, (const int[]){ ends[0], ends[1], ends[1] }, &err), 0);
	fd_close(&ends[0]);
	fd_close(&ends[1]);
}

static void forget_front(void)
{
	fd_close(&console_fixture.socket_fd);
	for (size_t i = 0; i < HANDOVER_FDS; i++)
		fd_close(&console_fixture.fds[i]);
}

static void turn_until_rest(void)
{
	for (int i = 0; i < 20; i++)
		loop_turn(fixture.loop, 0);
}

static void test_a_server_with_a_client_is_not_taken_over(void **state)
{
	(void)state;
	(void)console_fixture_session("mine");
	console_fixture_refused(ADOPT, ERR_BUSY, "has a client");
	console_fixture_refused("{\"command\": \"end\"}", ERR_BUSY, "a host uses this server");
	assert_int_equal(console_fixture.ends, 0);
}

static void test_a_front_may_ask_again_while_the_client_leaves(void **state)
{
	cleanup_client struct client client;

	(void)state;
	console_fixture.leaves = true;
	console_fixture_refused(ADOPT, ERR_CANCELLED, "is leaving");
	begin_lingering();
	agree(&client);
	console_fixture_refused(ADOPT, ERR_BUSY, "has a client");
}

static void test_a_server_whose_socket_is_removed_is_not_reachable(void **state)
{
	size_t count = 0;
	char **names = sockets_list(console_fixture.folder_fd, &count);

	(void)state;
	assert_int_equal(count, 1);
	assert_true(console_is_reachable(console_fixture.console));
	assert_int_equal(unlinkat(console_fixture.folder_fd, names[0], 0), 0);
	assert_false(console_is_reachable(console_fixture.console));
	free(names[0]);
	free(names);
}

static void test_a_front_must_be_alike(void **state)
{
	(void)state;
	begin_lingering();
	console_fixture_refused("{\"command\": \"adopt\"}", ERR_INVALID,
				"request.likeness is missing");
	console_fixture_refused("{\"command\": \"adopt\", \"likeness\": 1}", ERR_INVALID,
				"request.likeness must be a string");
	console_fixture_refused("{\"command\": \"adopt\", \"likeness\": \"other\"}", ERR_INVALID,
				"has other settings");
}

static void test_a_front_takes_the_server_over(void **state)
{
	cleanup_client struct client client;

	(void)state;
	begin_lingering();
	agree(&client);
	assert_int_equal(console_fixture.socket_fd, -1);
	hand_over(&client);
	patience_do_until(loop_turn(fixture.loop, 1), console_fixture.socket_fd >= 0);
	console_fixture_refused(ADOPT, ERR_BUSY, "has a client");
	forget_front();
}

static void test_of_two_fronts_one_is_turned_away(void **state)
{
	cleanup_client struct client first;

	(void)state;
	begin_lingering();
	agree(&first);
	console_fixture_refused(ADOPT, ERR_BUSY, "has a client");
}

static void test_a_front_that_goes_leaves_the_server_to_the_next(void **state)
{
	struct client first;
	cleanup_client struct client second;

	(void)state;
	begin_lingering();
	agree(&first);
	client_close(&first);
	turn_until_rest();
	agree(&second);
	hand_over(&second);
	patience_do_until(loop_turn(fixture.loop, 1), console_fixture.socket_fd >= 0);
	forget_front();
}

static void test_a_front_that_hands_nothing_over_is_dropped_in_time(void **state)
{
	cleanup_client struct client first;
	cleanup_client struct client second;

	(void)state;
	begin_lingering();
	agree(&first);
	fixture_pass(LATE_MS - 100);
	turn_until_rest();
	console_fixture_refused(ADOPT, ERR_BUSY, "has a client");
	fixture_pass(LATE_MS);
	turn_until_rest();
	agree(&second);
}

static void test_something_else_than_descriptors_is_not_taken(void **state)
{
	cleanup_client struct client first;
	cleanup_client struct client second;

	(void)state;
	begin_lingering();
	agree(&first);
	assert_int_equal(write(first.fd, "x", 1), 1);
	turn_until_rest();
	assert_int_equal(console_fixture.socket_fd, -1);
	agree(&second);
}

#define RELEASE_UNTIL(id, until_ms)                                                                \
	"{\"command\": \"release\", \"session_id\": \"" id "\", \"until_ms\": " until_ms "}"
#define RELEASE RELEASE_UNTIL("mine", "9007199254740991")

static void linger_with_a_resumable_session(void)
{
	fixture.settings.resume = 1000;
	console_fixture_run(console_fixture_session("mine"), "done");
	patience_do_until(loop_turn(fixture.loop, PATIENCE_TURN_MS), console_fixture.ended == 1);
	begin_lingering();
}

static void test_an_idle_session_is_released_and_can_be_resumed(void **state)
{
	cleanup_json json_t *reply = NULL;
	struct err err;

	(void)state;
	linger_with_a_resumable_session();
	reply = console_fixture_call(RELEASE);
	assert_null(table_find(console_fixture.service.table, "mine", &err));
	fixture_until(fixture.lasting == 1);
	assert_int_equal(console_fixture.ends, 1);
}

static void test_a_session_is_not_released_if_that_would_cost_anything(void **state)
{
	(void)state;
	begin_lingering();
	console_fixture_refused(RELEASE_UNTIL("none", "9007199254740991"), ERR_NOT_FOUND,
				"there is no session 'none'");
	console_fixture_refused(RELEASE, ERR_BUSY, "cannot be resumed");
	console_fixture_refused(RELEASE_UNTIL("mine", "1"), ERR_CANCELLED, "not wait any more");
	console_fixture_refused("{\"command\": \"release\", \"session_id\": \"mine\"}", ERR_INVALID,
				"request.until_ms is missing");
	fixture.settings.resume = 1000;
	console_fixture_run(console_fixture_session("mine"), "hang");
	console_fixture_refused(RELEASE, ERR_BUSY, "session 'mine' is busy");
	console_linger(console_fixture.console, 0);
	console_fixture_refused(RELEASE, ERR_BUSY, "a host uses this server");
}

static void test_a_wanted_session_is_asked_for_wherever_it_is(void **state)
{
	const struct service *service = &console_fixture.service;
	struct err err;

	(void)state;
	linger_with_a_resumable_session();
	service->observer->wanted(service->observer->data, "mine", CLOCK_NEVER / 2);
	patience_do_until(loop_turn(fixture.loop, 1),
			  table_find(service->table, "mine", &err) == NULL);
	service->observer->wanted(service->observer->data, "mine", CLOCK_NEVER / 2);
	turn_until_rest();
}

static void test_the_user_ends_a_server_that_lingers(void **state)
{
	cleanup_json json_t *reply = NULL;

	(void)state;
	begin_lingering();
	reply = console_fixture_call("{\"command\": \"end\"}");
	assert_int_equal(console_fixture.ends, 1);
}

static void test_a_server_whose_last_session_ends_lingers_no_longer(void **state)
{
	struct err err;

	(void)state;
	(void)console_fixture_session("other");
	begin_lingering();
	assert_int_equal(table_destroy(console_fixture.service.table, "other", &err), 0);
	assert_int_equal(console_fixture.ends, 0);
	assert_int_equal(table_destroy(console_fixture.service.table, "mine", &err), 0);
	assert_int_equal(console_fixture.ends, 1);
}

static void test_a_server_tells_how_long_it_lingers(void **state)
{
	cleanup_json json_t *before = console_fixture_call("{\"command\": \"ps\"}");
	cleanup_json json_t *after = NULL;
	cleanup_json json_t *late = NULL;
	json_int_t left;

	(void)state;
	assert_null(json_object_get(before, "lingers_seconds"));
	begin_lingering();
	after = console_fixture_call("{\"command\": \"ps\"}");
	left = json_integer_value(json_object_get(after, "lingers_seconds"));
	assert_true(left > 0 && left <= LINGER_MS / 1000);
	console_linger(console_fixture.console, 1);
	late = console_fixture_call("{\"command\": \"ps\"}");
	assert_int_equal(json_integer_value(json_object_get(late, "lingers_seconds")), 0);
	assert_true(console_is_reachable(console_fixture.console));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, console_set_up, console_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_server_with_a_client_is_not_taken_over),
		TEST(test_a_front_may_ask_again_while_the_client_leaves),
		TEST(test_a_server_whose_socket_is_removed_is_not_reachable),
		TEST(test_a_front_must_be_alike),
		TEST(test_a_front_takes_the_server_over),
		TEST(test_of_two_fronts_one_is_turned_away),
		TEST(test_a_front_that_goes_leaves_the_server_to_the_next),
		TEST(test_a_front_that_hands_nothing_over_is_dropped_in_time),
		TEST(test_something_else_than_descriptors_is_not_taken),
		TEST(test_an_idle_session_is_released_and_can_be_resumed),
		TEST(test_a_session_is_not_released_if_that_would_cost_anything),
		TEST(test_a_wanted_session_is_asked_for_wherever_it_is),
		TEST(test_the_user_ends_a_server_that_lingers),
		TEST(test_a_server_whose_last_session_ends_lingers_no_longer),
		TEST(test_a_server_tells_how_long_it_lingers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
