/* SPDX-License-Identifier: MIT */
/*
 * buf.c - growing bytes with a maximum. The capacity doubles, so appending costs constant time on
 * average. It always includes one byte for the NUL, which is not counted in the maximum.
 */
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { BUF_FIRST_CAP = 256, FMT_BRIEF = 256 };

void buf_init(struct buf *buf, size_t max)
{
	*buf = (struct buf){ .max = size_min(max, BUF_UNBOUNDED) };
}

void buf_release(struct buf *buf)
{
	int saved = errno;

	free(buf->data);
	buf_init(buf, buf->max);
	errno = saved;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t len, struct err *err)
{
	assert(buf->max > 0);
	if (len > buf->max - buf->len) {
		(void)err_set(err, ERR_LIMIT, "more than %zu bytes", buf->max);
		return NULL;
	}
	if (buf->len + len + 1 > buf->cap) {
		size_t cap = buf->cap > 0 ? buf->cap : BUF_FIRST_CAP;

		while (cap < buf->len + len + 1)
			cap *= 2;
		buf->data = xrealloc(buf->data, cap);
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

void buf_commit(struct buf *buf, size_t len)
{
	assert(buf->len + len < buf->cap);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

int buf_add(struct buf *buf, const void *data, size_t len, struct err *err)
{
	char *room = buf_reserve(buf, len, err);

	if (room == NULL)
		return -1;
	if (len > 0)
		memcpy(room, data, len);
	buf_commit(buf, len);
	return 0;
}

int buf_add_str(struct buf *buf, const char *s, struct err *err)
{
	return buf_add(buf, s, strlen(s), err);
}

/* Most texts are short and need no memory of their own. */
PRINTF_LIKE(3, 0)
static int add_fmt(struct buf *buf, struct err *err, const char *fmt, va_list args)
{
	cleanup_free char *text = NULL;
	char brief[FMT_BRIEF];
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(brief, sizeof(brief), fmt, again);
	va_end(again);
	if (len >= 0 && (size_t)len < sizeof(brief))
		return buf_add(buf, brief, (size_t)len, err);
	text = xvasprintf(fmt, args);
	return buf_add_str(buf, text, err);
}

static void abort_unless_added(int result, const struct err *err)
{
	if (result == 0)
		return;
	(void)fprintf(stderr, "ptycell: a bounded buffer overflowed: %s\n", err->msg);
	abort();
}

void buf_put(struct buf *buf, const void *data, size_t len)
{
	struct err err;

	abort_unless_added(buf_add(buf, data, len, &err), &err);
}

/* Writers of single characters are frequent, so the common case has a short path of its own. */
void buf_put_char(struct buf *buf, char c)
{
	if (buf->len == buf->max || buf->len + 1 >= buf->cap) {
		buf_put(buf, &c, 1);
		return;
	}
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}

void buf_puts(struct buf *buf, const char *s)
{
	buf_put(buf, s, strlen(s));
}

void buf_put_number(struct buf *buf, uint64_t number)
{
	char digits[20]; /* of UINT64_MAX */
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	buf_put(buf, digits + at, sizeof(digits) - at);
}

void buf_putf(struct buf *buf, const char *fmt, ...)
{
	struct err err;
	va_list args;
	int result;

	va_start(args, fmt);
	result = add_fmt(buf, &err, fmt, args);
	va_end(args);
	abort_unless_added(result, &err);
}

void buf_consume(struct buf *buf, size_t len)
{
	assert(len <= buf->len);
	if (len == 0)
		return;
	memmove(buf->data, buf->data + len, buf->len - len + 1);
	buf->len -= len;
}

char *buf_steal(struct buf *buf)
{
	char *data = buf->data != NULL ? buf->data : xstrdup("");

	buf_init(buf, buf->max);
	return data;
}

const char *buf_str(const struct buf *buf)
{
	return buf->data != NULL ? buf->data : "";
}
