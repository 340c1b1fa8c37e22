/* SPDX-License-Identifier: MIT */
/* test_refuser.c - connections of cells that run again are ended and counted. */
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
#include "session/refuser.h"

static struct loop *loop;
static struct refuser *refuser;
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
	refuser = refuser_new(loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	refuser_free(refuser);
	loop_free(loop);
	return 0;
}

static void without_a_listener_nothing_is_counted(void **state)
{
	(void)state;
	assert_int_equal(refuser_count(refuser), 0);
	assert_int_equal(refuser_take_listener(refuser), -1);
	refuser_free(NULL);
}

static void a_connection_is_refused_and_counted_once(void **state)
{
	char text[200] = "";
	int client;

	(void)state;
	refuser_listen(refuser, make_listener());
	client = connect_to();
	assert_int_equal(refuser_count(refuser), 1);
	assert_true(read(client, text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "403 Forbidden"));
	assert_int_equal(read(client, text, sizeof(text)), 0);
	assert_int_equal(refuser_count(refuser), 0);
	fd_close(&client);
}

static void the_loop_refuses_it_at_once(void **state)
{
	char text[200];
	int client;

	(void)state;
	refuser_listen(refuser, make_listener());
	client = connect_to();
	loop_turn(loop, 1000);
	assert_true(read(client, text, sizeof(text)) > 0);
	assert_int_equal(refuser_count(refuser), 1);
	fd_close(&client);
}

static void a_listener_that_is_taken_back_waits_for_another(void **state)
{
	int listener;
	int client;
	int accepted;

	(void)state;
	refuser_listen(refuser, make_listener());
	refuser_listen(refuser, make_listener());
	listener = refuser_take_listener(refuser);
	client = connect_to();
	assert_int_equal(refuser_count(refuser), 0);
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
	refuser_listen(refuser, pair[0]);
	assert_int_equal(refuser_take_listener(refuser), -1);
	fd_close(&pair[1]);
}

#define REFUSER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REFUSER_TEST(without_a_listener_nothing_is_counted),
		REFUSER_TEST(a_connection_is_refused_and_counted_once),
		REFUSER_TEST(the_loop_refuses_it_at_once),
		REFUSER_TEST(a_listener_that_is_taken_back_waits_for_another),
		REFUSER_TEST(what_cannot_be_watched_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
