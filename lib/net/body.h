/* SPDX-License-Identifier: MIT */
/*
 * body.h - where the body of an HTTP/1.1 request ends (RFC 9112 6 and 7).
 *
 * The bytes are passed on as they are; only their end is found. Chunked is read strictly: CR LF,
 * at most 15 hexadecimal digits, a short extension, no trailers.
 */
#ifndef NET_BODY_H
#define NET_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum body_kind { BODY_NONE, BODY_LENGTH, BODY_CHUNKED };

enum body_state {
	BODY_SIZE,      /* digits of a chunk's size */
	BODY_EXTENSION, /* what may follow them */
	BODY_SIZE_LF,
	BODY_DATA,
	BODY_DATA_CR,
	BODY_DATA_LF,
	BODY_END_CR, /* after the chunk of size 0 */
	BODY_END_LF,
	BODY_DONE,
};

struct body {
	enum body_kind kind;
	enum body_state state;
	uint64_t left;      /* bytes of BODY_DATA */
	unsigned int count; /* digits or characters of the line so far */
};

void body_init(struct body *body, enum body_kind kind, uint64_t len);
bool body_done(const struct body *body);
/* How many of these bytes belong to the body; -1 with ERR_INVALID when they are no such body. */
ptrdiff_t body_take(struct body *body, const char *data, size_t len, struct err *err) MUST_CHECK;

#endif
