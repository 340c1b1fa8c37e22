/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the file that a download is written to, within its limit.
 *
 * Long stretches of zeros become holes, so that a file which is sparse where it comes from costs no
 * more disk here.
 */
#ifndef FETCH_SINK_H
#define FETCH_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sink {
	int fd; /* a regular file, open for writing; borrowed */
	uint64_t size;
	uint64_t size_max;
	const char *max_name; /* what people call that limit */
};

/* What comes next. ERR_LIMIT past the maximum: then nothing of it is written. */
int sink_write(struct sink *sink, const char *data, size_t len, struct err *err) MUST_CHECK;
/* Would a file of this size fit, by the limit and by what is free on the disk? */
int sink_check_size(const struct sink *sink, uint64_t size, struct err *err) MUST_CHECK;
/* Gives the file its length. */
int sink_finish(const struct sink *sink, struct err *err) MUST_CHECK;

#endif
