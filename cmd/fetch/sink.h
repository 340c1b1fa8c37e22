/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the file that a download is written to, within its limit.
 *
 * It is written in blocks. Those of zeros become holes, so that a file which is sparse where it
 * comes from costs no more disk here.
 */
#ifndef FETCH_SINK_H
#define FETCH_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SINK_BLOCK = 128 << 10 };

struct sink {
	int fd;      /* a regular file, open for writing; borrowed */
	char *block; /* what is not yet written, SINK_BLOCK bytes at most */
	size_t used;
	uint64_t size; /* of all that came */
	uint64_t size_max;
	const char *max_name; /* what people call that limit */
};

/* `fd` is borrowed until release. */
void sink_init(struct sink *sink, int fd);
void sink_release(struct sink *sink);
/* What comes next. ERR_LIMIT past the maximum: then nothing of it is written. */
int sink_write(struct sink *sink, const char *data, size_t len, struct err *err) MUST_CHECK;
/* Would a file of this size fit, by the limit and by what is free on the disk? */
int sink_check_size(const struct sink *sink, uint64_t size, struct err *err) MUST_CHECK;
/* Writes what is left and gives the file its length. */
int sink_finish(struct sink *sink, struct err *err) MUST_CHECK;

#endif
