/* SPDX-License-Identifier: MIT */
/*
 * buf.h - growing bytes with a maximum.
 *
 * It holds everything whose size the outside world decides. Passing the maximum is ERR_LIMIT and
 * adds nothing. `data` is NUL-terminated whenever it is not NULL, and stays valid until the next
 * non-const call. A zeroed struct is not usable: call buf_init first.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/util.h"

struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max;
};

/* The maximum for bytes that our own code bounds elsewhere. */
#define BUF_UNBOUNDED ((size_t)-1 / 2)

/* Initialises an automatic buffer with cleanup_buf. It must come before any return. */
#define BUF_INIT(most)                                                                             \
	{                                                                                          \
		.max = (most)                                                                      \
	}

/* Makes an empty buffer of at most `max` bytes. Allocates nothing. */
void buf_init(struct buf *buf, size_t max);
/* Frees the bytes. The buffer is empty and may be used again. */
void buf_release(struct buf *buf);
#define cleanup_buf __attribute__((cleanup(buf_release)))

/* Empties the buffer and keeps its memory. */
void buf_clear(struct buf *buf);
/* Each of these appends. Returns 0; returns -1 and sets *err to ERR_LIMIT past the maximum. */
int buf_add(struct buf *buf, const void *data, size_t len, struct err *err) MUST_CHECK;
int buf_add_str(struct buf *buf, const char *s, struct err *err) MUST_CHECK;

/*
 * Each of these appends to a buffer whose content our own code bounds: passing the maximum aborts.
 */
void buf_put(struct buf *buf, const void *data, size_t len);
void buf_put_char(struct buf *buf, char c);
void buf_puts(struct buf *buf, const char *s);
/* Appends the number in decimal: far cheaper than buf_putf. */
void buf_put_number(struct buf *buf, uint64_t number);
void buf_putf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * Returns room for `len` more bytes at data + len, which buf_commit claims. Returns NULL and sets
 * *err past the maximum.
 */
char *buf_reserve(struct buf *buf, size_t len, struct err *err) MUST_CHECK;
/* Claims `len` bytes that the caller wrote into the reserved room. */
void buf_commit(struct buf *buf, size_t len);
/* Drops the first `len` bytes. */
void buf_consume(struct buf *buf, size_t len);
/*
 * Returns the bytes as a string, "" if there are none, and empties the buffer. The caller frees the
 * result.
 */
char *buf_steal(struct buf *buf);
/* Returns the content as a C string, "" if it is empty. Borrowed until the next non-const call. */
const char *buf_str(const struct buf *buf);

#endif
