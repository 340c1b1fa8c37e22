/* SPDX-License-Identifier: MIT */
/*
 * answer.h - the head of an HTTP answer, from the lines that libcurl hands over.
 *
 * Interim answers (1xx) are passed over. What is kept is bounded; the rest of a head only counts.
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
	char *coding; /* Content-Encoding; NULL without one that changes the bytes */
	bool has_length;
	uint64_t length;   /* of Content-Length */
	size_t head_bytes; /* of all heads so far */
};

void http_response_init(struct http_response *answer);
void http_response_release(struct http_response *answer);
/* One line with its end. ERR_LIMIT past HTTP_RESPONSE_HEAD_MAX. */
int http_response_take_line(struct http_response *answer, const char *line, size_t len,
			    struct err *err) MUST_CHECK;
/* A sentence on a status that brings no file; 0 for one that does. */
int http_response_check_status(const struct http_response *answer, struct err *err) MUST_CHECK;
/* A redirect that names where to. */
bool http_response_redirects(const struct http_response *answer);

#endif
