/* SPDX-License-Identifier: MIT */
/*
 * sink.h - writes a download to its file, within a size limit.
 *
 * It writes in blocks. Blocks of zeros become holes, so a sparse file needs no more disk here than
 * at its origin.
 */
#ifndef FETCH_SINK_H
#define FETCH_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SINK_BLOCK = 128 << 10 };

struct sink {
	int fd;      /* a regular file, open for writing; borrowed */
	char *block; /* bytes that are not yet written, at most SINK_BLOCK */
	size_t used;
	uint64_t size; /* of everything that was received */
	uint64_t size_max;
	const char *max_name; /* the limit's name for users */
};

/* Initializes a sink. `fd` is borrowed until release. */
void sink_init(struct sink *sink, int fd);
void sink_release(struct sink *sink);
/*
 * Appends bytes. Returns -1 and sets *err: ERR_LIMIT beyond size_max, and none of the bytes are
 * written.
 */
int sink_write(struct sink *sink, const char *data, size_t len, struct err *err) MUST_CHECK;
/*
 * Returns -1 and sets *err when a file of this size exceeds the limit or the free space of the
 * disk.
 */
int sink_check_size(const struct sink *sink, uint64_t size, struct err *err) MUST_CHECK;
/* Writes the remaining bytes and sets the file's length. Returns -1 and sets *err. */
int sink_finish(struct sink *sink, struct err *err) MUST_CHECK;

#endif
