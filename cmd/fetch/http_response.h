/* SPDX-License-Identifier: MIT */
/*
 * http_response.h - the head of an HTTP response, from the lines that libcurl delivers.
 *
 * Interim responses (1xx) are skipped. The stored members are bounded; other lines are only
 * counted.
 */
#ifndef FETCH_HTTP_RESPONSE_H
#define FETCH_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { HTTP_RESPONSE_HEAD_MAX = 256 << 10 /* bytes of all heads of a transfer */ };

struct http_response {
	int status; /* 0 before the first status line */
	bool complete;
	char *location;
	char *disposition;
	char *type;
	char *coding; /* Content-Encoding; NULL for none or one that changes no bytes */
	bool has_length;
	uint64_t length;   /* of Content-Length */
	size_t head_bytes; /* of all heads so far */
};

void http_response_init(struct http_response *response);
void http_response_release(struct http_response *response);
/*
 * Takes one line with its line end. Returns -1 and sets *err: ERR_LIMIT beyond
 * HTTP_RESPONSE_HEAD_MAX.
 */
int http_response_take_line(struct http_response *response, const char *line, size_t len,
			    struct err *err) MUST_CHECK;
/* Returns 0 for a status with a file, else -1 and sets *err to a sentence on the status. */
int http_response_check_status(const struct http_response *response, struct err *err) MUST_CHECK;
/* Returns true for a redirect that names its target. */
bool http_response_redirects(const struct http_response *response);

#endif
