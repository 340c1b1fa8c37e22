/* SPDX-License-Identifier: MIT */
/*
 * source.h - a text file as UTF-8, whatever its characters are written in.
 *
 * A file is taken for UTF-8 until a byte says no. Then source_read fails and sets `again`: what it
 * is was found out, and it must be read from its beginning.
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
	bool again; /* the encoding was not what it was taken for: begin anew */
	bool ended;
	uint64_t lost; /* bytes and characters that became U+FFFD */
	struct utf8_decoder decoder;
	iconv_t conversion; /* (iconv_t)-1 while there is none */
	char *raw;          /* bytes that are not converted yet */
	size_t raw_len;
};

/* `encoding`: found by an earlier reading of the file; NULL for the first one. */
int source_begin(struct source *source, int fd, const struct encoding *encoding,
		 struct err *err) MUST_CHECK;
/* A csv_read of csv.h, with the source as its data. */
int source_read(void *data, char *out, size_t size, size_t *ret_len, struct err *err) MUST_CHECK;
void source_end(struct source *source);

#endif
