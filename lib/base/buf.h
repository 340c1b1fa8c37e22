/* SPDX-License-Identifier: MIT */
/*
 * buf.h - growing bytes with a maximum.
 *
 * For everything that the outside world sizes. Going past the maximum is ERR_LIMIT and adds
 * nothing. `data` is NUL-terminated whenever it is not NULL and stays valid until the next
 * non-const call. A zeroed struct is not usable: buf_init first.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

#include "base/err.h"
#include "base/util.h"

struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max;
};

/* For bytes that our own code bounds elsewhere. */
#define BUF_UNBOUNDED ((size_t)-1 / 2)

/* An automatic buffer with cleanup_buf begins with this, before any return. */
#define BUF_INIT(most)                                                                             \
	{                                                                                          \
		.max = (most)                                                                      \
	}

void buf_init(struct buf *buf, size_t max);
/* Frees the bytes; the buffer is empty and reusable. */
void buf_release(struct buf *buf);
#define cleanup_buf __attribute__((cleanup(buf_release)))

/* Empties without giving the memory back. */
void buf_clear(struct buf *buf);
int buf_add(struct buf *buf, const void *data, size_t len, struct err *err) MUST_CHECK;
int buf_add_str(struct buf *buf, const char *s, struct err *err) MUST_CHECK;
int buf_add_fmt(struct buf *buf, struct err *err, const char *fmt, ...) MUST_CHECK
	PRINTF_LIKE(3, 4);

/* The same for a buffer whose content our own code bounds: passing the maximum aborts. */
void buf_put(struct buf *buf, const void *data, size_t len);
void buf_put_char(struct buf *buf, char c);
void buf_puts(struct buf *buf, const char *s);
void buf_putf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Room for `len` more bytes at data + len, to be claimed with buf_commit; NULL past the maximum. */
char *buf_reserve(struct buf *buf, size_t len, struct err *err) MUST_CHECK;
void buf_commit(struct buf *buf, size_t len);
/* Drops the first `len` bytes. */
void buf_consume(struct buf *buf, size_t len);
/* The bytes as a string the caller frees ("" when empty); the buffer is empty afterwards. */
char *buf_steal(struct buf *buf);
/* The content as a C string, "" when empty. */
const char *buf_str(const struct buf *buf);

#endif
