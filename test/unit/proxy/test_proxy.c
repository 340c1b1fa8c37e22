/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "proxy/proxy.h"
#include "scratch.h"

#define ROW                                                                                        \
	"{\"host\":\"a.example\",\"port\":443,\"allowed\":2,\"refused\":1,\"failed\":3,"           \
	"\"sent\":10,\"received\":20,\"last\":\"port\"}"

/* A script stands for ptycell-proxy: it stores its request in a file and then follows its script.
 */
struct fixture {
	struct loop *loop;
	struct proxy *proxy;
	struct sockaddr_in address; /* of the listener */
	int client;
	struct scratch scratch;
	char script[600];
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	(void)sigaction(SIGPIPE, &ignore, NULL);
	scratch_init(&f->scratch);
	(void)snprintf(f->script, sizeof(f->script), "%s/helper", f->scratch.path);
	f->loop = loop_new(clock_ms, &err);
	f->client = -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	proxy_free(f->proxy);
	fd_close(&f->client);
	loop_free(f->loop);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

static int make_listener(struct fixture *f)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(f->address);

	f->address = (struct sockaddr_in){ .sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)&f->address, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&f->address, &len), 0);
	return fd;
}

static void start(struct fixture *f, const char *script, char *const *environment)
{
	const struct proxy_spec spec = { .helper = f->script,
					 .hosts = "a.example",
					 .allow_private = true,
					 .bytes_max = 1000,
					 .environment = environment };
	cleanup_free char *text =
		xasprintf("#!/bin/sh\nread -r line\necho \"$line\" > %s/order\n%s\n",
			  f->scratch.path, script);

	scratch_write(f->scratch.fd, "helper", text);
	assert_int_equal(chmod(f->script, 0700), 0);
	f->proxy = proxy_new(f->loop, &spec, make_listener(f));
}

static int connect_to(struct fixture *f)
{
	fd_close(&f->client);
	f->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(f->client, (struct sockaddr *)&f->address, sizeof(f->address));
}

static bool has_order(const struct fixture *f)
{
	return faccessat(f->scratch.fd, "order", F_OK, 0) == 0;
}

static char *no_environment[] = { NULL };

static void the_program_starts_with_the_first_connection(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *order = NULL;
	size_t len;
	struct err err;

	start(f, "echo '{\"progress\":{\"hosts\":[" ROW "]}}'; read -r end", no_environment);
	loop_turn(f->loop, 0);
	assert_false(has_order(f));
	assert_int_equal(connect_to(f), 0);
	while (proxy_row(f->proxy, 0) == NULL)
		loop_turn(f->loop, -1);
	order = fd_read_file(f->scratch.fd, "order", 4096, &len, &err);
	assert_string_equal(order, "{\"hosts\":\"a.example\",\"allow_private\":true,"
				   "\"bytes_max\":1000}\n");
	assert_null(proxy_problem(f->proxy));
}

static void a_report_is_kept_row_by_row(void **state)
{
	struct fixture *f = *state;
	const struct proxy_row *row;

	start(f, "echo '{\"progress\":{\"hosts\":[" ROW "]}}'; read -r end", no_environment);
	assert_int_equal(connect_to(f), 0);
	while ((row = proxy_row(f->proxy, 0)) == NULL)
		loop_turn(f->loop, -1);
	assert_string_equal(row->host, "a.example");
	assert_int_equal(row->port, 443);
	assert_int_equal(row->allowed, 2);
	assert_int_equal(row->refused, 1);
	assert_int_equal(row->failed, 3);
	assert_int_equal(row->sent, 10);
	assert_int_equal(row->received, 20);
	assert_int_equal(row->last, VERDICT_PORT);
	assert_null(proxy_row(f->proxy, 1));
}

/* It reads what a session sends: it may have been taken over. */
static void a_report_that_is_none_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"{\"hosts\":[{\"host\":\"A.example\\u001b[2J\",\"last\":\"port\"}]}",
		"{\"hosts\":[{\"host\":\"10.0.0.1\",\"last\":\"port\"}]}",
		"{\"hosts\":[{\"host\":\"b.example\",\"last\":\"anything\"}]}",
		"{\"hosts\":[{\"host\":\"b.example\",\"last\":\"port\",\"port\":65536}]}",
		"{\"hosts\":[{\"host\":\"b.example\",\"last\":\"port\",\"sent\":-1}]}",
		"{\"hosts\":[1]}",
		"{\"hosts\":{}}",
	};
	struct fixture *f = *state;
	cleanup_buf struct buf script = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		buf_putf(&script, "echo '{\"progress\":%s}'\n", bad[i]);
	buf_puts(&script, "echo '{\"progress\":{\"hosts\":[" ROW "," ROW "]}}'\n");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		buf_putf(&script, "echo '{\"progress\":%s}'\n", bad[i]);
	start(f, buf_str(&script), no_environment);
	assert_int_equal(connect_to(f), 0);
	while (proxy_problem(f->proxy) == NULL)
		loop_turn(f->loop, -1);
	assert_non_null(proxy_row(f->proxy, 1));
	assert_null(proxy_row(f->proxy, 2));
	assert_string_equal(proxy_row(f->proxy, 0)->host, "a.example");
}

static void one_that_ended_leaves_no_network(void **state)
{
	struct fixture *f = *state;

	start(f, "echo '{\"error\":{\"code\":\"invalid\",\"message\":\"it cannot\"}}'",
	      no_environment);
	assert_int_equal(connect_to(f), 0);
	while (proxy_problem(f->proxy) == NULL)
		loop_turn(f->loop, -1);
	assert_string_equal(proxy_problem(f->proxy), "it cannot");
	assert_int_equal(connect_to(f), -1);
}

static void one_that_is_missing_is_told(void **state)
{
	struct fixture *f = *state;

	start(f, "", no_environment);
	assert_int_equal(unlink(f->script), 0);
	assert_int_equal(connect_to(f), 0);
	while (proxy_problem(f->proxy) == NULL)
		loop_turn(f->loop, -1);
	assert_non_null(strstr(proxy_problem(f->proxy), "/helper'"));
}

static void the_persons_proxies_are_those_that_curl_would_take(void **state)
{
	char *environment[] = { (char[]){ "HTTP_PROXY=http://request:1" },
				(char[]){ "https_proxy=" },
				(char[]){ "HTTPS_PROXY=http://b:2" },
				(char[]){ "ALL_PROXY=http://c:3" },
				(char[]){ "no_proxy=.x" },
				NULL };
	struct fixture *f = *state;
	cleanup_free char *order = NULL;
	size_t len;
	struct err err;

	start(f, "", environment);
	assert_int_equal(connect_to(f), 0);
	while (proxy_problem(f->proxy) == NULL)
		loop_turn(f->loop, -1);
	order = fd_read_file(f->scratch.fd, "order", 4096, &len, &err);
	assert_non_null(strstr(order,
			       "\"https_proxy\":\"http://b:2\",\"http_proxy\":\"http://c:3\","
			       "\"no_proxy\":\".x\""));
}

static void its_end_kills_the_program(void **state)
{
	struct fixture *f = *state;

	start(f, "exec sleep 1000", no_environment);
	assert_int_equal(connect_to(f), 0);
	while (!has_order(f))
		loop_turn(f->loop, 10);
	proxy_free(f->proxy);
	f->proxy = NULL;
	assert_int_equal(connect_to(f), -1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_program_starts_with_the_first_connection),
		test(a_report_is_kept_row_by_row),
		test(a_report_that_is_none_changes_nothing),
		test(one_that_ended_leaves_no_network),
		test(one_that_is_missing_is_told),
		test(the_persons_proxies_are_those_that_curl_would_take),
		test(its_end_kills_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
