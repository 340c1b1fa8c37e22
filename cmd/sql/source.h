/* SPDX-License-Identifier: MIT */
/*
 * source.h - reads a text file of any encoding as UTF-8.
 *
 * A file counts as UTF-8 until a byte contradicts. Then source_read fails and sets `again`: the
 * encoding is now known, and the file must be read from its beginning.
 */
#ifndef SQL_SOURCE_H
#define SQL_SOURCE_H

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "encoding.h"
#include "text/utf8.h"

struct source {
	int fd; /* borrowed */
	off_t at;
	struct encoding encoding;
	bool again; /* the encoding was wrong: begin again */
	bool ended;
	uint64_t lost; /* bytes and characters that became U+FFFD */
	struct utf8_decoder decoder;
	iconv_t conversion; /* (iconv_t)-1 while there is none */
	char *raw;          /* bytes that are not converted yet */
	size_t raw_len;
};

/*
 * Begins reading. `encoding` is the result of an earlier reading, or NULL for the first one.
 * Returns -1 and sets *err.
 */
int source_begin(struct source *source, int fd, const struct encoding *encoding,
		 struct err *err) MUST_CHECK;
/* Reads. It is a csv_read of csv.h, with the source as data. Returns -1 and sets *err. */
int source_read(void *data, char *out, size_t size, size_t *ret_len, struct err *err) MUST_CHECK;
void source_end(struct source *source);

#endif
