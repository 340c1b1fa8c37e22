/* SPDX-License-Identifier: MIT */
/*
 * head.h - heads of HTTP/1 messages (RFC 9112): what a proxy must know of them, and their
 * rewriting for the next hop.
 *
 * Strict where two readers could differ: CR LF ends lines, no folding, no control characters, no
 * blank before a colon, one Host, one Content-Length or one "chunked". Requests are CONNECT or
 * name their whole URL. A parsed head borrows from the bytes it was parsed from.
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
	struct http_head_text path; /* with the query, from '/' on; "" is "/" */
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
 * Bytes of the head at the start of `data` (NULL when `len` is 0) with its empty line; 0 while it
 * is not complete.
 */
size_t http_head_len(const char *data, size_t len);
/* `len` is that of http_head_len. ERR_INVALID is a sentence for who sent it. */
int http_head_parse_request(const char *data, size_t len, struct http_head_request *ret_request,
			    struct err *err) MUST_CHECK;
/* The same for a request within a tunnel to `to`: it names its path, and in Host that host. */
int http_head_parse_tunnelled(const char *data, size_t len, const struct host_port *to,
			      struct http_head_request *ret_request, struct err *err) MUST_CHECK;
int http_head_parse_response(const char *data, size_t len, struct http_head_response *ret_response,
			     struct err *err) MUST_CHECK;

/*
 * The request for the server itself, or, with `absolute`, for another proxy, which also gets
 * `authorization` (the field's value; NULL for none). What concerns one hop only is left out and
 * Host comes from the URL.
 */
void http_head_write_request(const struct http_head_request *request, bool absolute,
			     const char *authorization, struct buf *out);
/* The response for a client whose connection ends with it. */
void http_head_write_response(const struct http_head_response *response, struct buf *out);

#endif
