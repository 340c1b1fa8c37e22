/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "net/upstream.h"

static const struct {
	const char *url;
	const char *host; /* NULL: refused */
	uint16_t port;
	const char *user;
} rows[] = {
	{ "http://proxy.example:3128", "proxy.example", 3128, "" },
	{ "proxy.example:3128", "proxy.example", 3128, "" },
	{ "HTTP://10.0.0.1:8080/", "10.0.0.1", 8080, "" },
	{ "http://[::1]:8080/x", "::1", 8080, "" },
	{ "http://u:p%40ss@proxy.example:1", "proxy.example", 1, "u:p@ss" },
	{ "http://a@b:c@proxy.example:1", "proxy.example", 1, "a@b:c" },
	{ "https://proxy.example:3128", NULL, 0, NULL },
	{ "socks5://proxy.example:1080", NULL, 0, NULL },
	{ "http://proxy.example", NULL, 0, NULL },
	{ "http://[::1]", NULL, 0, NULL },
	{ "http://:3128", NULL, 0, NULL },
	{ "http://u%0d%0a:p@proxy.example:1", NULL, 0, NULL },
	{ "http://u%00:p@proxy.example:1", NULL, 0, NULL },
	{ "http://pro xy:1", NULL, 0, NULL },
	{ "", NULL, 0, NULL },
};

static void a_proxy_is_host_port_and_user(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct upstream upstream;
		struct err err;
		int result = upstream_parse(rows[i].url, &upstream, &err);

		print_message("%s\n", rows[i].url);
		assert_int_equal(result, rows[i].host != NULL ? 0 : -1);
		if (result < 0)
			continue;
		assert_string_equal(upstream.host, rows[i].host);
		assert_int_equal(upstream.port, rows[i].port);
		assert_string_equal(upstream.user, rows[i].user);
	}
}

static void a_refusal_does_not_repeat_the_password(void **state)
{
	struct upstream upstream;
	struct err err;

	(void)state;
	assert_int_equal(upstream_parse("http://u:hunter2@proxy.example", &upstream, &err), -1);
	assert_null(strstr(err.msg, "hunter2"));
}

static void no_proxy_names_hosts_and_what_is_below(void **state)
{
	static const struct {
		const char *list;
		const char *host;
		bool excepted;
	} lists[] = {
		{ "", "a.example", false },
		{ "*", "a.example", true },
		{ "a.example", "a.example", true },
		{ "a.example", "b.a.example", true },
		{ "a.example", "ba.example", false },
		{ ".a.example", "b.a.example", true },
		{ "*.a.example", "b.a.example", true },
		{ "localhost, 10.0.0.0/8,A.EXAMPLE", "a.example", true },
		{ "10.0.0.1 ::1", "a.example", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		print_message("%s: %s\n", lists[i].list, lists[i].host);
		assert_int_equal(upstream_excepted(lists[i].list, lists[i].host),
				 lists[i].excepted);
	}
}

static void the_environment_is_read_as_curl_does(void **state)
{
	char *const full[] = {
		(char[]){ "HTTP_PROXY=http://cgi:1" },    (char[]){ "https_proxy=" },
		(char[]){ "HTTPS_PROXY=http://upper:1" }, (char[]){ "all_proxy=http://all:1" },
		(char[]){ "NO_PROXY=a.example" },         NULL
	};
	char *const none[] = { (char[]){ "HTTP_PROXY=http://cgi:1" }, NULL };
	struct upstream_variables found;

	(void)state;
	upstream_find(full, &found);
	assert_string_equal(found.https_proxy, "http://upper:1");
	assert_string_equal(found.http_proxy, "http://all:1");
	assert_string_equal(found.no_proxy, "a.example");
	upstream_find(none, &found);
	assert_null(found.https_proxy);
	assert_null(found.http_proxy);
	assert_null(found.no_proxy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proxy_is_host_port_and_user),
		cmocka_unit_test(the_environment_is_read_as_curl_does),
		cmocka_unit_test(a_refusal_does_not_repeat_the_password),
		cmocka_unit_test(no_proxy_names_hosts_and_what_is_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
