/* SPDX-License-Identifier: MIT */
/*
 * decoder.c - inflates chunk by chunk.
 *
 * Each chunk is written at once, so memory stays constant for any ratio of compression, and the
 * sink's limit ends a bomb. zlib recognizes gzip and its own header by itself. Deflate without a
 * header is recognized by the first byte.
 */
#include "decoder.h"

#include <stdint.h>
#include <strings.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/sanitize.h"

enum {
	CHUNK = 32 << 10,
	GZIP_FIRST = 0x1f,
	ANY_HEADER = 32, /* added to the bits of the window: detects the header of gzip or zlib */
};

void decoder_release(struct decoder *decoder)
{
	if (decoder->active)
		(void)inflateEnd(&decoder->stream);
	*decoder = (struct decoder){ .active = false };
}

static bool is_known(const char *coding)
{
	static const char *const known[] = { "gzip", "x-gzip", "deflate" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcasecmp(coding, known[i]) == 0)
			return true;
	return false;
}

int decoder_begin(struct decoder *decoder, const char *coding, struct err *err)
{
	decoder_release(decoder);
	if (coding == NULL)
		return 0;
	if (!is_known(coding)) {
		cleanup_free char *quoted = sanitize_quote(coding);

		return err_set(err, ERR_INVALID,
			       "it is encoded as '%s', and only gzip and deflate are undone here",
			       quoted);
	}
	if (inflateInit2(&decoder->stream, MAX_WBITS + ANY_HEADER) != Z_OK)
		return err_set(err, ERR_INTERNAL, "zlib does not start");
	decoder->active = true;
	decoder->deflate = strcasecmp(coding, "deflate") == 0;
	return 0;
}

/*
 * Returns true for deflate without a header. zlib's header begins with the method, and no
 * compressor's first raw block begins like that, or like gzip.
 */
static bool is_bare(unsigned char first)
{
	return (first & 0x0f) != Z_DEFLATED && first != GZIP_FIRST;
}

static int look_at_first(struct decoder *decoder, char first, struct err *err)
{
	if (decoder->deflate && is_bare((unsigned char)first) &&
	    inflateReset2(&decoder->stream, -MAX_WBITS) != Z_OK)
		return err_set(err, ERR_INTERNAL, "zlib does not start again");
	decoder->deflate = false;
	return 0;
}

/* Inflates one step and sets `within`. Starts again for a further member of gzip. */
static int inflate_some(struct decoder *decoder, struct err *err)
{
	int result;

	if (!decoder->within && inflateReset(&decoder->stream) != Z_OK)
		return err_set(err, ERR_INTERNAL, "zlib does not start again");
	result = inflate(&decoder->stream, Z_NO_FLUSH);
	decoder->within = result != Z_STREAM_END;
	if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR)
		return 0;
	return err_set(err, ERR_INVALID, "it is not compressed as it says, or damaged");
}

int decoder_write(struct decoder *decoder, struct sink *sink, const char *data, size_t len,
		  struct err *err)
{
	z_stream *stream = &decoder->stream;
	char out[CHUNK];

	if (!decoder->active)
		return sink_write(sink, data, len, err);
	if (len > 0 && look_at_first(decoder, data[0], err) < 0)
		return -1;
	stream->next_in = (Bytef *)(uintptr_t)data; /* zlib only reads it */
	stream->avail_in = (uInt)len;
	do {
		stream->next_out = (Bytef *)out;
		stream->avail_out = sizeof(out);
		if (inflate_some(decoder, err) < 0 ||
		    sink_write(sink, out, sizeof(out) - stream->avail_out, err) < 0)
			return -1;
	} while (stream->avail_in > 0 || (decoder->within && stream->avail_out == 0));
	return 0;
}

int decoder_finish(const struct decoder *decoder, struct err *err)
{
	if (!decoder->within)
		return 0;
	return err_set(err, ERR_INVALID, "its compressed data breaks off: a part is missing");
}
