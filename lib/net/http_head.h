/* SPDX-License-Identifier: MIT */
/*
 * http_head.h - heads of HTTP/1 messages (RFC 9112): the parts that a proxy needs, and rewriting
 * for the next hop.
 *
 * It is strict where two readers could differ: lines end with CR LF, no folding, no control
 * characters, no blank before a colon, one Host, one Content-Length or one "chunked". Requests are
 * CONNECT or name their whole URL. A parsed head borrows from the bytes that it was parsed from.
 */
#ifndef NET_HTTP_HEAD_H
#define NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/host.h"
#include "net/http_body.h"

enum { HTTP_HEAD_MAX = 32768, HTTP_HEAD_FIELDS_MAX = 128 };

struct http_head_text {
	const char *data;
	size_t len;
};

struct http_head_field {
	struct http_head_text name;
	struct http_head_text value;
};

struct http_head_fields {
	struct http_head_field items[HTTP_HEAD_FIELDS_MAX];
	size_t count;
};

struct http_head_request {
	bool connect;
	struct http_head_text method;
	struct http_head_text path; /* with the query, beginning with '/'; "" means "/" */
	int minor;                  /* of HTTP/1.x */
	struct host_port to;
	enum http_body_kind body;
	uint64_t body_len; /* of HTTP_BODY_LENGTH */
	struct http_head_fields fields;
};

struct http_head_response {
	struct http_head_text line; /* the status line without its end */
	int status;
	struct http_head_fields fields;
};

/*
 * Returns the length of the head at the start of `data`, with its empty line; 0 while it is
 * incomplete. `data` may be NULL if `len` is 0.
 */
size_t http_head_len(const char *data, size_t len);
/*
 * Parses a head of http_head_len bytes. Returns -1 and sets ERR_INVALID, a sentence for its sender.
 */
int http_head_parse_request(const char *data, size_t len, struct http_head_request *ret_request,
			    struct err *err) MUST_CHECK;
/*
 * Parses a request within a tunnel to `to`: it names its path, and that host in Host. Returns -1
 * and sets *err.
 */
int http_head_parse_tunnelled(const char *data, size_t len, const struct host_port *to,
			      struct http_head_request *ret_request, struct err *err) MUST_CHECK;
/* Parses the head of a response. Returns -1 and sets ERR_INVALID. */
int http_head_parse_response(const char *data, size_t len, struct http_head_response *ret_response,
			     struct err *err) MUST_CHECK;

/*
 * Appends the request for the server itself or, with `absolute`, for another proxy. The latter also
 * gets `authorization` (the field's value; may be NULL). Fields for one hop are left out, and Host
 * comes from the URL.
 */
void http_head_write_request(const struct http_head_request *request, bool absolute,
			     const char *authorization, struct buf *out);
/* Appends the response for a client whose connection ends with it. */
void http_head_write_response(const struct http_head_response *response, struct buf *out);

#endif
