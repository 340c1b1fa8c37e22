/* SPDX-License-Identifier: MIT */
#include "net/body.h"

#include "base/util.h"

enum { SIZE_DIGITS_MAX = 15, EXTENSION_MAX = 256 };

void body_init(struct body *body, enum body_kind kind, uint64_t len)
{
	*body = (struct body){ .kind = kind, .state = BODY_DONE };
	if (kind == BODY_CHUNKED)
		body->state = BODY_SIZE;
	if (kind == BODY_LENGTH && len > 0) {
		body->state = BODY_DATA;
		body->left = len;
	}
}

bool body_done(const struct body *body)
{
	return body->state == BODY_DONE;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

static enum body_state after_size(struct body *body)
{
	body->count = 0;
	return body->left > 0 ? BODY_DATA : BODY_END_CR;
}

/* BODY_SIZE and BODY_EXTENSION; false for a character that cannot stand there. */
static bool take_size(struct body *body, char c)
{
	if (c == '\r') {
		if (body->state == BODY_SIZE && body->count == 0)
			return false;
		body->state = BODY_SIZE_LF;
		return true;
	}
	body->count++;
	if (body->state == BODY_SIZE && digit(c) >= 0) {
		body->left = body->left * 16 + (uint64_t)digit(c);
		return body->count <= SIZE_DIGITS_MAX;
	}
	if (body->state == BODY_SIZE) {
		if (body->count == 1 || (c != ';' && c != ' ' && c != '\t'))
			return false;
		body->state = BODY_EXTENSION;
		body->count = 0;
		return true;
	}
	return body->count <= EXTENSION_MAX && (c == '\t' || (c >= ' ' && c < 0x7f));
}

static bool expect(struct body *body, char c, char wanted, enum body_state next)
{
	body->state = next;
	return c == wanted;
}

static bool take_char(struct body *body, char c)
{
	switch (body->state) {
	case BODY_SIZE:
	case BODY_EXTENSION:
		return take_size(body, c);
	case BODY_SIZE_LF:
		return expect(body, c, '\n', after_size(body));
	case BODY_DATA_CR:
		return expect(body, c, '\r', BODY_DATA_LF);
	case BODY_DATA_LF:
		return expect(body, c, '\n', BODY_SIZE);
	case BODY_END_CR:
		return expect(body, c, '\r', BODY_END_LF);
	case BODY_END_LF:
		return expect(body, c, '\n', BODY_DONE);
	case BODY_DATA:
	case BODY_DONE:
		break;
	}
	return false;
}

ptrdiff_t body_take(struct body *body, const char *data, size_t len, struct err *err)
{
	size_t at = 0;

	while (at < len && body->state != BODY_DONE) {
		if (body->state == BODY_DATA) {
			size_t part = len - at;

			if (part > body->left)
				part = (size_t)body->left;
			body->left -= part;
			at += part;
			if (body->left == 0)
				body->state = body->kind == BODY_LENGTH ? BODY_DONE : BODY_DATA_CR;
		} else if (!take_char(body, data[at++])) {
			return err_set(err, ERR_INVALID,
				       "the request's body is not chunked as "
				       "it says");
		}
	}
	return (ptrdiff_t)at;
}
