/* SPDX-License-Identifier: MIT */
/*
 * http_body.c - a state machine over the bytes of a body. If the proxy and a server disagreed about
 * where a body ends, the rest would be read as a second request that no list was applied to
 * (request smuggling); so everything ambiguous is refused.
 */
#include "net/http_body.h"

#include "base/chars.h"

enum { SIZE_DIGITS_MAX = 15, EXTENSION_MAX = 256 };

void http_body_init(struct http_body *body, enum http_body_kind kind, uint64_t len)
{
	*body = (struct http_body){ .kind = kind, .state = HTTP_BODY_DONE };
	if (kind == HTTP_BODY_CHUNKED)
		body->state = HTTP_BODY_SIZE;
	if (kind == HTTP_BODY_LENGTH && len > 0) {
		body->state = HTTP_BODY_DATA;
		body->left = len;
	}
}

bool http_body_done(const struct http_body *body)
{
	return body->state == HTTP_BODY_DONE;
}

static enum http_body_state after_size(struct http_body *body)
{
	body->count = 0;
	return body->left > 0 ? HTTP_BODY_DATA : HTTP_BODY_END_CR;
}

/*
 * Takes a character in HTTP_BODY_SIZE or HTTP_BODY_EXTENSION. Returns false if it is not allowed
 * there.
 */
static bool take_size(struct http_body *body, char c)
{
	if (c == '\r') {
		if (body->state == HTTP_BODY_SIZE && body->count == 0)
			return false;
		body->state = HTTP_BODY_SIZE_LF;
		return true;
	}
	body->count++;
	if (body->state == HTTP_BODY_SIZE && char_hex(c) >= 0) {
		body->left = body->left * 16 + (uint64_t)char_hex(c);
		return body->count <= SIZE_DIGITS_MAX;
	}
	if (body->state == HTTP_BODY_SIZE) {
		if (body->count == 1 || (c != ';' && c != ' ' && c != '\t'))
			return false;
		body->state = HTTP_BODY_EXTENSION;
		body->count = 0;
		return true;
	}
	return body->count <= EXTENSION_MAX && (c == '\t' || (c >= ' ' && c < 0x7f));
}

static bool expect_char(struct http_body *body, char c, char wanted, enum http_body_state next)
{
	body->state = next;
	return c == wanted;
}

static bool take_char(struct http_body *body, char c)
{
	switch (body->state) {
	case HTTP_BODY_SIZE:
	case HTTP_BODY_EXTENSION:
		return take_size(body, c);
	case HTTP_BODY_SIZE_LF:
		return expect_char(body, c, '\n', after_size(body));
	case HTTP_BODY_DATA_CR:
		return expect_char(body, c, '\r', HTTP_BODY_DATA_LF);
	case HTTP_BODY_DATA_LF:
		return expect_char(body, c, '\n', HTTP_BODY_SIZE);
	case HTTP_BODY_END_CR:
		return expect_char(body, c, '\r', HTTP_BODY_END_LF);
	case HTTP_BODY_END_LF:
		return expect_char(body, c, '\n', HTTP_BODY_DONE);
	case HTTP_BODY_DATA:
	case HTTP_BODY_DONE:
		break;
	}
	return false;
}

ptrdiff_t http_body_take(struct http_body *body, const char *data, size_t len, struct err *err)
{
	size_t at = 0;

	while (at < len && body->state != HTTP_BODY_DONE) {
		if (body->state == HTTP_BODY_DATA) {
			size_t part = len - at;

			if (part > body->left)
				part = (size_t)body->left;
			body->left -= part;
			at += part;
			if (body->left == 0)
				body->state = body->kind == HTTP_BODY_LENGTH ? HTTP_BODY_DONE
									     : HTTP_BODY_DATA_CR;
		} else if (!take_char(body, data[at++])) {
			return err_set(err, ERR_INVALID,
				       "the request's body is not chunked as "
				       "it says");
		}
	}
	return (ptrdiff_t)at;
}
