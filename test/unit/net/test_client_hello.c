/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "net/client_hello.h"

/* Puts a number of `bytes` bytes, big-endian. */
static void put_number(struct buf *out, size_t number, size_t bytes)
{
	while (bytes-- > 0) {
		unsigned char byte = (unsigned char)(number >> (8 * bytes));

		buf_put(out, &byte, 1);
	}
}

static void put_sni(struct buf *out, const char *name, size_t len)
{
	put_number(out, 0, 2);
	put_number(out, len + 5, 2);
	put_number(out, len + 3, 2);
	put_number(out, 0, 1);
	put_number(out, len, 2);
	buf_put(out, name, len);
}

/* A handshake message with these extensions. */
static void put_message(struct buf *out, const struct buf *extensions)
{
	char random[32] = { 0 };

	put_number(out, 1, 1);
	put_number(out, 2 + 32 + 1 + 2 + 2 + 1 + 1 + 2 + extensions->len, 3);
	put_number(out, 0x0303, 2);
	buf_put(out, random, sizeof(random));
	put_number(out, 0, 1);
	put_number(out, 2, 2);
	put_number(out, 0x1301, 2);
	put_number(out, 1, 1);
	put_number(out, 0, 1);
	put_number(out, extensions->len, 2);
	buf_put(out, extensions->data, extensions->len);
}

/* The same in records of at most `piece` bytes. */
static void put_hello(struct buf *out, const struct buf *extensions, size_t piece)
{
	cleanup_buf struct buf message = BUF_INIT(BUF_UNBOUNDED);

	put_message(&message, extensions);
	for (size_t at = 0; at < message.len; at += piece) {
		size_t len = size_min(piece, message.len - at);

		put_number(out, 0x160301, 3);
		put_number(out, len, 2);
		buf_put(out, message.data + at, len);
	}
}

static int read_name(const struct buf *hello, char host[HOST_MAX + 1])
{
	struct err err;

	return client_hello_read_name(hello->data, hello->len, host, &err);
}

static void the_server_name_is_found_however_it_is_cut(void **state)
{
	static const size_t pieces[] = { 16384, 7, 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		cleanup_buf struct buf extensions = BUF_INIT(BUF_UNBOUNDED);
		cleanup_buf struct buf hello = BUF_INIT(BUF_UNBOUNDED);
		char host[HOST_MAX + 1];
		struct err err;

		put_number(&extensions, 0x002b0003, 4);
		buf_put(&extensions, "\x02\x03\x04", 3);
		put_sni(&extensions, "OK.example", 10);
		put_hello(&hello, &extensions, pieces[i]);
		for (size_t len = 0; len < hello.len; len++)
			assert_int_equal(client_hello_read_name(hello.data, len, host, &err), 0);
		assert_int_equal(read_name(&hello, host), 1);
		assert_string_equal(host, "ok.example");
		buf_puts(&hello, "early data");
		assert_int_equal(read_name(&hello, host), 1);
	}
}

/* Sandbox test 51: a name that is missing, doubled or strange. */
static void a_hello_without_one_plain_name_is_refused(void **state)
{
	static const struct {
		const char *first;
		size_t len;
		const char *second;
	} rows[] = {
		{ NULL, 0, NULL },
		{ "ok.example", 10, "ok.example" },
		{ "ok.example\0evil", 15, NULL },
		{ "127.0.0.1", 9, NULL },
		{ "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf extensions = BUF_INIT(BUF_UNBOUNDED);
		cleanup_buf struct buf hello = BUF_INIT(BUF_UNBOUNDED);
		char host[HOST_MAX + 1];

		if (rows[i].first != NULL)
			put_sni(&extensions, rows[i].first, rows[i].len);
		if (rows[i].second != NULL)
			put_sni(&extensions, rows[i].second, strlen(rows[i].second));
		put_hello(&hello, &extensions, 16384);
		assert_int_equal(read_name(&hello, host), -1);
	}
}

static void other_bytes_are_refused_at_once(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} rows[] = {
		{ "G", 1 },                        /* HTTP */
		{ "SSH-2.0", 7 },                  /* SSH */
		{ "\x16\x02", 2 },                 /* another version */
		{ "\x15\x03\x01", 3 },             /* an alert */
		{ "\x16\x03\x01\x00\x00", 5 },     /* an empty record */
		{ "\x16\x03\x01\x40\x01", 5 },     /* a record that is too long */
		{ "\x16\x03\x01\x00\x01\x02", 6 }, /* a ServerHello */
		{ "\x80\x2e\x01\x00\x02", 5 },     /* SSL 2 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char host[HOST_MAX + 1];
		struct err err;

		print_message("row %zu\n", i);
		assert_int_equal(client_hello_read_name(rows[i].bytes, rows[i].len, host, &err),
				 -1);
	}
}

static void a_hello_that_is_too_long_is_refused_before_it_is_here(void **state)
{
	char host[HOST_MAX + 1];
	struct err err;

	(void)state;
	assert_int_equal(
		client_hello_read_name("\x16\x03\x01\x00\x04\x01\x01\x00\x00", 9, host, &err), -1);
	assert_int_equal(err.code, ERR_LIMIT);
}

static void lengths_that_do_not_fit_are_refused(void **state)
{
	cleanup_buf struct buf extensions = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf hello = BUF_INIT(BUF_UNBOUNDED);
	char host[HOST_MAX + 1];

	(void)state;
	put_sni(&extensions, "ok.example", 10);
	put_hello(&hello, &extensions, 16384);
	/* Every byte behind the headers, off by one both ways: never a crash, never another name.
	 */
	for (size_t at = 9; at < hello.len; at++) {
		for (int delta = -1; delta <= 1; delta += 2) {
			hello.data[at] = (char)(hello.data[at] + delta);
			if (read_name(&hello, host) == 1 && at < hello.len - 10)
				assert_string_equal(host, "ok.example");
			hello.data[at] = (char)(hello.data[at] - delta);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_name_is_found_however_it_is_cut),
		cmocka_unit_test(a_hello_without_one_plain_name_is_refused),
		cmocka_unit_test(other_bytes_are_refused_at_once),
		cmocka_unit_test(a_hello_that_is_too_long_is_refused_before_it_is_here),
		cmocka_unit_test(lengths_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
