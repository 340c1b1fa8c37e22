/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "net/http_head.h"

#define GOOD "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n"

struct row {
	const char *name;
	const char *text;
	size_t len;
	const char *host; /* NULL: refused */
	uint16_t port;
};

/* The text is a literal: it may hold NUL. */
#define GOES(name, text, host, port)                                                               \
	{                                                                                          \
		name, text, sizeof(text) - 1, host, port                                           \
	}
#define REFUSED(name, text)                                                                        \
	{                                                                                          \
		name, text, sizeof(text) - 1, NULL, 0                                              \
	}

/* Sandbox tests 49 and 52; RFC 9112 2.2, 3.2, 5, 6 and 11.2. */
static const struct row rows[] = {
	GOES("CONNECT", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
	     "a.example", 443),
	GOES("CONNECT with Host without port",
	     "CONNECT A.example.:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 443),
	GOES("CONNECT of HTTP/1.0", "CONNECT a.example:443 HTTP/1.0\r\n\r\n", "a.example", 443),
	GOES("a whole URL", GOOD "\r\n", "a.example", 80),
	GOES("another port", "GET http://a.example:81/x HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
	     "a.example", 81),
	GOES("no path", "GET http://a.example?q HTTP/1.0\r\n\r\n", "a.example", 80),
	GOES("an upper-case scheme", "GET HTTP://A.EXAMPLE HTTP/1.0\r\n\r\n", "a.example", 80),
	GOES("an @ in the path", "GET http://a.example/@b HTTP/1.0\r\n\r\n", "a.example", 80),
	REFUSED("CONNECT without port", "CONNECT a.example HTTP/1.0\r\n\r\n"),
	REFUSED("CONNECT to a URL", "CONNECT http://a.example:443/ HTTP/1.0\r\n\r\n"),
	REFUSED("CONNECT to an address", "CONNECT 127.0.0.1:443 HTTP/1.0\r\n\r\n"),
	REFUSED("CONNECT to [::1]", "CONNECT [::1]:443 HTTP/1.0\r\n\r\n"),
	REFUSED("CONNECT with another Host",
		"CONNECT a.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n"),
	REFUSED("CONNECT with a body",
		"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\n\r\n"),
	REFUSED("a path alone", "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
	REFUSED("an asterisk", "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n"),
	REFUSED("https", "GET https://a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("ftp", "GET ftp://a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("userinfo", "GET http://a.example@b.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("a fragment", "GET http://evil.example#.a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("a backslash", "GET http://evil.example\\.a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("an escape in the host", "GET http://a%2eexample/ HTTP/1.0\r\n\r\n"),
	REFUSED("NUL in the host", "GET http://evil.example\0.a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("bytes beyond ASCII", "GET http://a.example/\xc3\xa9 HTTP/1.0\r\n\r\n"),
	REFUSED("two blanks", "GET  http://a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("a blank behind", "GET http://a.example/ HTTP/1.0 \r\n\r\n"),
	REFUSED("HTTP/2", "GET http://a.example/ HTTP/2.0\r\n\r\n"),
	REFUSED("no version", "GET http://a.example/\r\n\r\n"),
	REFUSED("a bare LF", "GET http://a.example/ HTTP/1.0\nX: y\r\n\r\n"),
	REFUSED("a bare CR", "GET http://a.example/ HTTP/1.0\r\nX: y\rz\r\n\r\n"),
	REFUSED("an empty line first", "\r\nGET http://a.example/ HTTP/1.0\r\n\r\n"),
	REFUSED("no Host", "GET http://a.example/ HTTP/1.1\r\n\r\n"),
	REFUSED("two Hosts", GOOD "host: a.example\r\n\r\n"),
	REFUSED("another Host", "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n"),
	REFUSED("another Host's port",
		"GET http://a.example/ HTTP/1.1\r\nHost: a.example:81\r\n\r\n"),
	REFUSED("a folded line", GOOD "X: y\r\n z\r\n\r\n"),
	REFUSED("a blank before the colon", GOOD "X : y\r\n\r\n"),
	REFUSED("a field without colon", GOOD "X\r\n\r\n"),
	REFUSED("a field without name", GOOD ": y\r\n\r\n"),
	REFUSED("NUL in a value", GOOD "X: \0\r\n\r\n"),
	REFUSED("two lengths", GOOD "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"),
	REFUSED("a list of lengths", GOOD "Content-Length: 1, 1\r\n\r\n"),
	REFUSED("a signed length", GOOD "Content-Length: +1\r\n\r\n"),
	REFUSED("a length too large", GOOD "Content-Length: 9999999999999999999\r\n\r\n"),
	REFUSED("length and chunked",
		GOOD "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
	REFUSED("chunked twice", GOOD "Transfer-Encoding: chunked, chunked\r\n\r\n"),
	REFUSED("another coding", GOOD "Transfer-Encoding: gzip\r\n\r\n"),
	REFUSED("chunked of HTTP/1.0",
		"GET http://a.example/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
};

static void a_request_names_its_host_once_and_clearly(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct http_head_request request;
		struct err err;
		int result;

		print_message("%s\n", row->name);
		assert_int_equal(http_head_len(row->text, row->len), row->len);
		result = http_head_parse_request(row->text, row->len, &request, &err);
		assert_int_equal(result, row->host != NULL ? 0 : -1);
		if (row->host == NULL)
			continue;
		assert_string_equal(request.to.host, row->host);
		assert_int_equal(request.to.port, row->port);
	}
}

static void a_request_in_a_tunnel_is_for_its_host(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} tunnelled[] = {
		{ "GET /x HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", true },
		{ "GET /x HTTP/1.0\r\n\r\n", true },
		{ "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n", false },
		{ "GET /x HTTP/1.1\r\nHost: b.example:8080\r\n\r\n", false },
		{ "GET /x HTTP/1.1\r\n\r\n", false },
		{ "GET http://a.example:8080/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", false },
		{ "CONNECT b.example:443 HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", false },
		{ "CONNECT /b.example HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", false },
	};
	const struct host_port to = { .host = "a.example", .port = 8080 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tunnelled); i++) {
		const char *text = tunnelled[i].text;
		struct http_head_request request;
		struct err err;

		print_message("%s", text);
		assert_int_equal(http_head_parse_tunnelled(text, strlen(text), &to, &request, &err),
				 tunnelled[i].good ? 0 : -1);
		if (tunnelled[i].good)
			assert_string_equal(request.to.host, "a.example");
	}
}

static void a_head_ends_with_its_empty_line(void **state)
{
	(void)state;
	assert_int_equal(http_head_len(GOOD, strlen(GOOD)), 0);
	assert_int_equal(http_head_len(GOOD "\r", strlen(GOOD) + 1), 0);
	assert_int_equal(http_head_len(GOOD "\r\nbody", strlen(GOOD) + 6), strlen(GOOD) + 2);
}

static void more_than_128_fields_are_refused(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct http_head_request request;
	struct err err;

	(void)state;
	buf_puts(&text, GOOD);
	for (int i = 1; i < HTTP_HEAD_FIELDS_MAX; i++)
		buf_puts(&text, "X: y\r\n");
	buf_puts(&text, "\r\n");
	assert_int_equal(http_head_parse_request(text.data, text.len, &request, &err), 0);
	text.len -= 2;
	buf_puts(&text, "X: y\r\n\r\n");
	assert_int_equal(http_head_parse_request(text.data, text.len, &request, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void the_next_hop_sees_nothing_of_this_one(void **state)
{
	static const char in[] =
		"POST http://A.example:8080?x=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\n"
		"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic c2VjcmV0\r\n"
		"Connection: Keep-Alive, X-Hop ,host, content-length\r\nX-Hop: 1\r\nTE: trailers\r\n"
		"Upgrade: websocket\r\nKeep-Alive: 5\r\nContent-Length: 3\r\nX-End: 2\r\n\r\n";
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct http_head_request request;
	struct err err;

	(void)state;
	assert_int_equal(http_head_parse_request(in, strlen(in), &request, &err), 0);
	http_head_write_request(&request, false, NULL, &out);
	assert_string_equal(buf_str(&out),
			    "POST /?x=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\n"
			    "X-End: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
	buf_clear(&out);
	http_head_write_request(&request, true, "Basic eA==", &out);
	assert_string_equal(buf_str(&out),
			    "POST http://a.example:8080/?x=1 HTTP/1.1\r\nHost: a.example:8080\r\n"
			    "Accept: */*\r\nX-End: 2\r\nContent-Length: 3\r\n"
			    "Proxy-Authorization: Basic eA==\r\nConnection: close\r\n\r\n");
}

static void a_response_ends_its_connection(void **state)
{
	static const char in[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n"
		"Keep-Alive: timeout=5\r\nX: y\r\n\r\n";
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct http_head_response response;
	struct err err;

	(void)state;
	assert_int_equal(http_head_parse_response(in, strlen(in), &response, &err), 0);
	assert_int_equal(response.status, 200);
	http_head_write_response(&response, &out);
	assert_string_equal(buf_str(&out), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\n"
					   "Connection: close\r\n\r\n");
}

static void what_is_no_response_is_refused(void **state)
{
	static const char *const bad[] = {
		"HTTP/2 200\r\n\r\n",      "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000\r\n\r\n",
		"HTTP/1.1 2x0 OK\r\n\r\n", "ICY 200 OK\r\n\r\n",  "HTTP/1.1 200 OK\r\nbad\r\n\r\n"
	};
	struct http_head_response response;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(http_head_parse_response(bad[i], strlen(bad[i]), &response, &err),
				 -1);
	assert_int_equal(http_head_parse_response("HTTP/1.0 204\r\n\r\n", 16, &response, &err), 0);
}

/* Feeds all at once and byte by byte: both must agree. Returns the body's length, -1 for none. */
static ptrdiff_t body_len(const char *text, size_t len)
{
	struct http_body whole;
	struct http_body bytes;
	struct err err;
	ptrdiff_t all;
	ptrdiff_t sum = 0;

	http_body_init(&whole, HTTP_BODY_CHUNKED, 0);
	http_body_init(&bytes, HTTP_BODY_CHUNKED, 0);
	all = http_body_take(&whole, text, len, &err);
	for (size_t i = 0; i < len && sum >= 0 && !http_body_done(&bytes); i++) {
		ptrdiff_t n = http_body_take(&bytes, text + i, 1, &err);

		sum = n < 0 ? -1 : sum + n;
	}
	assert_int_equal(all, sum);
	return all >= 0 && !http_body_done(&whole) ? -2 : all;
}

static void a_chunked_body_ends_where_it_says(void **state)
{
	static const struct {
		const char *text;
		ptrdiff_t len; /* -1: refused; -2: not yet */
	} bodies[] = {
		{ "0\r\n\r\nGET http://evil.example/", 5 },
		{ "3\r\nabc\r\n0\r\n\r\nmore", 13 },
		{ "A;x=y\r\n0123456789\r\n00\r\n\r\n", 25 },
		{ "3\r\nab", -2 },
		{ "", -2 },
		{ "3\nabc\r\n0\r\n\r\n", -1 },
		{ "\r\n", -1 },
		{ "-3\r\n", -1 },
		{ "0x3\r\n", -1 },
		{ "3\r\nabcd\r\n", -1 },
		{ "0\r\nTrailer: x\r\n\r\n", -1 },
		{ "0000000000000001\r\n", -1 },
		{ ";x\r\n", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		print_message("%s\n", bodies[i].text);
		assert_int_equal(body_len(bodies[i].text, strlen(bodies[i].text)), bodies[i].len);
	}
}

static void a_counted_body_takes_no_byte_more(void **state)
{
	struct http_body body;
	struct err err;

	(void)state;
	http_body_init(&body, HTTP_BODY_LENGTH, 5);
	assert_int_equal(http_body_take(&body, "abc", 3, &err), 3);
	assert_false(http_body_done(&body));
	assert_int_equal(http_body_take(&body, "deGET", 5, &err), 2);
	assert_true(http_body_done(&body));
	assert_int_equal(http_body_take(&body, "GET", 3, &err), 0);
	http_body_init(&body, HTTP_BODY_LENGTH, 0);
	assert_true(http_body_done(&body));
	http_body_init(&body, HTTP_BODY_NONE, 0);
	assert_true(http_body_done(&body));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_names_its_host_once_and_clearly),
		cmocka_unit_test(a_request_in_a_tunnel_is_for_its_host),
		cmocka_unit_test(a_head_ends_with_its_empty_line),
		cmocka_unit_test(more_than_128_fields_are_refused),
		cmocka_unit_test(the_next_hop_sees_nothing_of_this_one),
		cmocka_unit_test(a_response_ends_its_connection),
		cmocka_unit_test(what_is_no_response_is_refused),
		cmocka_unit_test(a_chunked_body_ends_where_it_says),
		cmocka_unit_test(a_counted_body_takes_no_byte_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
