/* SPDX-License-Identifier: MIT */
/*
 * decoder.h - undoes a Content-Encoding of HTTP (RFC 9110, 8.4) on the way into a sink.
 *
 * Ours rather than libcurl's, which takes a compressed stream that ends too early for a whole one.
 * It knows gzip (RFC 1952, with any number of members) and deflate in zlib's format (RFC 1950),
 * or, as some servers send it, without that (RFC 1951).
 */
#ifndef FETCH_DECODER_H
#define FETCH_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "base/err.h"
#include "sink.h"

/* What requests offer in Accept-Encoding. */
#define DECODER_OFFER "gzip"

struct decoder {
	z_stream stream;
	bool active;  /* else bytes pass as they are */
	bool deflate; /* nothing has come of what is called so */
	bool within;  /* the stream has begun and not ended */
};

/* A zeroed decoder passes bytes as they are. */
void decoder_release(struct decoder *decoder);
/* Undoes `coding`; NULL is none. ERR_INVALID for one that it does not know. */
int decoder_begin(struct decoder *decoder, const char *coding, struct err *err) MUST_CHECK;
/* ERR_INVALID for bytes that are not compressed so; the sink's errors. */
int decoder_write(struct decoder *decoder, struct sink *sink, const char *data, size_t len,
		  struct err *err) MUST_CHECK;
/* All bytes have come: ERR_INVALID when the stream has no end. */
int decoder_finish(const struct decoder *decoder, struct err *err) MUST_CHECK;

#endif
