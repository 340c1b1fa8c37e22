/* SPDX-License-Identifier: MIT */
/*
 * client_hello.c - a bounds-checked parser of TLS vectors. Session code can send a tunnel to an
 * allowed host and speak to another one behind the same front (domain fronting), so the proxy
 * requires that the name in the hello is the tunnel's. The handshake may span several records; they
 * are joined first.
 */
#include "net/client_hello.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	RECORD_HEADER = 5,
	RECORD_HANDSHAKE = 22,
	RECORD_MAX = 16384,
	HANDSHAKE_HEADER = 4,
	HANDSHAKE_CLIENT_HELLO = 1,
	RANDOM_LEN = 32,
	SESSION_ID_MAX = 32,
	EXTENSION_SERVER_NAME = 0,
	NAME_TYPE_HOST = 0,
};

/* The bytes left to read. `bad` is set once a read reaches past the end. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static const uint8_t *take_bytes(struct reader *reader, size_t len)
{
	const uint8_t *at = reader->at;

	if (reader->bad || len > reader->left) {
		reader->bad = true;
		reader->left = 0;
		return NULL;
	}
	reader->at += len;
	reader->left -= len;
	return at;
}

/* Reads a big-endian number of one to three bytes. */
static size_t take_number(struct reader *reader, size_t bytes)
{
	const uint8_t *at = take_bytes(reader, bytes);
	size_t number = 0;

	for (size_t i = 0; at != NULL && i < bytes; i++)
		number = number << 8 | at[i];
	return number;
}

/* Reads a vector whose length precedes it in `bytes` bytes. */
static struct reader take_vector(struct reader *reader, size_t bytes)
{
	size_t len = take_number(reader, bytes);
	struct reader vector = { .at = take_bytes(reader, len), .left = len };

	if (reader->bad)
		vector = (struct reader){ .bad = true };
	return vector;
}

static int refuse_hello(struct err *err)
{
	return err_set(err, ERR_INVALID, "this is no ClientHello of TLS");
}

static int read_server_name(struct reader *extension, char ret_host[HOST_MAX + 1], struct err *err)
{
	struct reader list = take_vector(extension, 2);
	size_t type = take_number(&list, 1);
	struct reader name = take_vector(&list, 2);

	if (extension->bad || list.bad || extension->left > 0 || list.left > 0 ||
	    type != NAME_TYPE_HOST)
		return refuse_hello(err);
	return host_canonicalise((const char *)name.at, name.left, ret_host, err);
}

static int read_extensions(struct reader *extensions, char ret_host[HOST_MAX + 1], struct err *err)
{
	bool found = false;

	while (extensions->left > 0) {
		size_t type = take_number(extensions, 2);
		struct reader body = take_vector(extensions, 2);

		if (extensions->bad)
			return refuse_hello(err);
		if (type != EXTENSION_SERVER_NAME)
			continue;
		if (found)
			return refuse_hello(err);
		found = true;
		if (read_server_name(&body, ret_host, err) < 0)
			return -1;
	}
	if (!found)
		return err_set(err, ERR_INVALID, "TLS without a server name (SNI)");
	return 1;
}

static int read_hello(struct reader hello, char ret_host[HOST_MAX + 1], struct err *err)
{
	struct reader session;
	struct reader suites;
	struct reader compressions;
	struct reader extensions;

	(void)take_bytes(&hello, 2 + RANDOM_LEN); /* version */
	session = take_vector(&hello, 1);
	suites = take_vector(&hello, 2);
	compressions = take_vector(&hello, 1);
	if (hello.bad || session.left > SESSION_ID_MAX || suites.left == 0 ||
	    suites.left % 2 != 0 || compressions.left == 0)
		return refuse_hello(err);
	if (hello.left == 0)
		return err_set(err, ERR_INVALID, "TLS without a server name (SNI)");
	extensions = take_vector(&hello, 2);
	if (hello.bad || hello.left > 0)
		return refuse_hello(err);
	return read_extensions(&extensions, ret_host, err);
}

/*
 * Appends the handshake bytes of one whole record to `message`. Returns 1, or 0 if the record is
 * not complete.
 */
static int take_record(struct reader *records, uint8_t *message, size_t *len, struct err *err)
{
	struct reader look = *records;
	size_t type = take_number(&look, 1);
	size_t major = take_number(&look, 1);
	size_t size;

	if ((records->left > 0 && type != RECORD_HANDSHAKE) || (records->left > 1 && major != 3))
		return refuse_hello(err);
	(void)take_number(&look, 1);
	size = take_number(&look, 2);
	if (look.bad)
		return 0;
	if (size == 0 || size > RECORD_MAX)
		return refuse_hello(err);
	if (size > CLIENT_HELLO_MAX - *len)
		return err_set(err, ERR_LIMIT, "the ClientHello is longer than %d bytes",
			       CLIENT_HELLO_MAX);
	if (take_bytes(&look, size) == NULL)
		return 0;
	memcpy(message + *len, look.at - size, size);
	*len += size;
	*records = look;
	return 1;
}

int client_hello_read_name(const void *data, size_t len, char ret_host[HOST_MAX + 1],
			   struct err *err)
{
	struct reader records = { .at = data, .left = len };
	uint8_t message[CLIENT_HELLO_MAX];
	size_t have = 0;

	for (;;) {
		int result = take_record(&records, message, &have, err);
		struct reader handshake = { .at = message, .left = have };
		size_t type;
		size_t size;

		if (result <= 0)
			return result;
		type = take_number(&handshake, 1);
		if (type != HANDSHAKE_CLIENT_HELLO)
			return refuse_hello(err);
		size = take_number(&handshake, 3);
		if (handshake.bad)
			continue;
		if (size > CLIENT_HELLO_MAX - HANDSHAKE_HEADER)
			return err_set(err, ERR_LIMIT, "the ClientHello is longer than %d bytes",
				       CLIENT_HELLO_MAX);
		if (handshake.left > size)
			return refuse_hello(err);
		if (handshake.left == size)
			return read_hello(handshake, ret_host, err);
	}
}
