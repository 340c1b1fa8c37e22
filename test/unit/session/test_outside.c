/* SPDX-License-Identifier: MIT */
/* test_outside.c - connections of cells that run again are ended and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "event/loop.h"
#include "session/outside.h"

static struct loop *loop;
static struct outside *outside;
static struct sockaddr_in address;

static int make_listener(void)
{
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address = (struct sockaddr_in){ .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return fd;
}

static int connect_to(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int set_up(void **state)
{
	struct err err;

	(void)state;
	loop = loop_new(clock_ms, &err);
	assert_non_null(loop);
	outside = outside_new(loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	outside_free(outside);
	loop_free(loop);
	return 0;
}

static void without_a_listener_nothing_is_counted(void **state)
{
	(void)state;
	assert_int_equal(outside_count(outside), 0);
	assert_int_equal(outside_take_listener(outside), -1);
	outside_free(NULL);
}

static void a_connection_is_refused_and_counted_once(void **state)
{
	char text[200] = "";
	int client;

	(void)state;
	outside_listen(outside, make_listener());
	client = connect_to();
	assert_int_equal(outside_count(outside), 1);
	assert_true(read(client, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "403 Forbidden"));
	assert_int_equal(read(client, text, sizeof(text)), 0);
	assert_int_equal(outside_count(outside), 0);
	fd_close(&client);
}

static void the_loop_refuses_it_at_once(void **state)
{
	char text[200];
	int client;

	(void)state;
	outside_listen(outside, make_listener());
	client = connect_to();
	loop_turn(loop, 1000);
	assert_true(read(client, text, sizeof(text)) > 0);
	assert_int_equal(outside_count(outside), 1);
	fd_close(&client);
}

static void a_listener_that_is_taken_back_waits_for_another(void **state)
{
	int listener;
	int client;
	int accepted;

	(void)state;
	outside_listen(outside, make_listener());
	outside_listen(outside, make_listener());
	listener = outside_take_listener(outside);
	client = connect_to();
	assert_int_equal(outside_count(outside), 0);
	accepted = accept(listener, NULL, NULL);
	assert_true(accepted >= 0);
	fd_close(&accepted);
	fd_close(&client);
	fd_close(&listener);
}

static void what_cannot_be_watched_is_closed(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	fd_close(&pair[0]);
	outside_listen(outside, pair[0]);
	assert_int_equal(outside_take_listener(outside), -1);
	fd_close(&pair[1]);
}

#define OUTSIDE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OUTSIDE_TEST(without_a_listener_nothing_is_counted),
		OUTSIDE_TEST(a_connection_is_refused_and_counted_once),
		OUTSIDE_TEST(the_loop_refuses_it_at_once),
		OUTSIDE_TEST(a_listener_that_is_taken_back_waits_for_another),
		OUTSIDE_TEST(what_cannot_be_watched_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
