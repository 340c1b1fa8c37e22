/* SPDX-License-Identifier: MIT */
/*
 * decoder.h - undoes a Content-Encoding of HTTP (RFC 9110, 8.4) on the way into a sink.
 *
 * libcurl's own decoder accepts a truncated compressed stream as complete; this one does not. It
 * knows gzip (RFC 1952, with any number of members) and deflate in zlib's format (RFC 1950) or, as
 * some servers send it, without zlib's header (RFC 1951).
 */
#ifndef FETCH_DECODER_H
#define FETCH_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "base/err.h"
#include "sink.h"

/* The value that requests send as Accept-Encoding. */
#define DECODER_OFFER "gzip"

struct decoder {
	z_stream stream;
	bool active;  /* else bytes pass unchanged */
	bool deflate; /* the coding is deflate and no byte has arrived yet */
	bool within;  /* the stream has begun and not ended */
};

/* Frees the decoder's state. It is zeroed then, and a zeroed decoder passes bytes unchanged. */
void decoder_release(struct decoder *decoder);
/*
 * Prepares to undo `coding`, which may be NULL. Returns -1 and sets *err: ERR_INVALID for an
 * unknown one.
 */
int decoder_begin(struct decoder *decoder, const char *coding, struct err *err) MUST_CHECK;
/*
 * Decodes and writes. Returns -1 and sets *err: ERR_INVALID for malformed data, or the sink's
 * error.
 */
int decoder_write(struct decoder *decoder, struct sink *sink, const char *data, size_t len,
		  struct err *err) MUST_CHECK;
/*
 * Checks the end of the data. Returns -1 and sets *err: ERR_INVALID when the stream is incomplete.
 */
int decoder_finish(const struct decoder *decoder, struct err *err) MUST_CHECK;

#endif
