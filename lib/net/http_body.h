/* SPDX-License-Identifier: MIT */
/*
 * http_body.h - finds where the body of an HTTP/1.1 request ends (RFC 9112 6 and 7).
 *
 * The bytes are passed on unchanged. Chunked bodies are read strictly: CR LF, at most 15
 * hexadecimal digits, a short extension, no trailers.
 */
#ifndef NET_HTTP_BODY_H
#define NET_HTTP_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum http_body_kind { HTTP_BODY_NONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED };

enum http_body_state {
	HTTP_BODY_SIZE,      /* digits of a chunk's size */
	HTTP_BODY_EXTENSION, /* optional text behind them */
	HTTP_BODY_SIZE_LF,
	HTTP_BODY_DATA,
	HTTP_BODY_DATA_CR,
	HTTP_BODY_DATA_LF,
	HTTP_BODY_END_CR, /* after the chunk of size 0 */
	HTTP_BODY_END_LF,
	HTTP_BODY_DONE,
};

struct http_body {
	enum http_body_kind kind;
	enum http_body_state state;
	uint64_t left;      /* bytes of HTTP_BODY_DATA */
	unsigned int count; /* digits or characters of the line so far */
};

void http_body_init(struct http_body *body, enum http_body_kind kind, uint64_t len);
bool http_body_done(const struct http_body *body);
/*
 * Returns how many of these bytes belong to the body. Returns -1 and sets ERR_INVALID if they are
 * malformed.
 */
ptrdiff_t http_body_take(struct http_body *body, const char *data, size_t len,
			 struct err *err) MUST_CHECK;

#endif
