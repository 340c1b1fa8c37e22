/* SPDX-License-Identifier: MIT */
/*
 * source.c - reading with conversion to UTF-8, fast for the common case.
 *
 * Nearly all files are UTF-8, and nearly all of their bytes are ASCII. Bytes are therefore passed
 * on as they are, and only those beyond ASCII are checked one by one. Other encodings are converted
 * by iconv.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum {
	RAW_SIZE = 128 << 10,
	HEAD_SIZE = 4096,
	SAMPLE_SIZE = 1 << 20,
	SAMPLE_BEFORE = 64 << 10, /* bytes before the one that is not UTF-8 */
};

#define NO_CONVERSION ((iconv_t)-1)
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Reads as many bytes as there are, up to `size`. */
static ssize_t read_at(int fd, char *out, size_t size, off_t at, struct err *err)
{
	ssize_t got = fd_read_at(fd, out, size, (uint64_t)at);

	return got < 0 ? err_sys(err, "reading it") : got;
}

static int find_encoding(struct source *source, struct err *err)
{
	char head[HEAD_SIZE];
	ssize_t len = read_at(source->fd, head, sizeof(head), 0, err);

	if (len < 0)
		return -1;
	encoding_begin(&source->encoding, head, (size_t)len);
	return 0;
}

int source_begin(struct source *source, int fd, const struct encoding *encoding, struct err *err)
{
	*source = (struct source){ .fd = fd, .conversion = NO_CONVERSION };
	if (encoding != NULL)
		source->encoding = *encoding;
	else if (find_encoding(source, err) < 0)
		return -1;
	source->at = (off_t)source->encoding.mark;
	if (source->encoding.name[0] == '\0' && !source->encoding.broken)
		return 0;
	source->raw = xcalloc(1, RAW_SIZE);
	if (source->encoding.broken)
		return 0;
	source->conversion = iconv_open("UTF-8", source->encoding.name);
	if (source->conversion == NO_CONVERSION)
		return err_set(err, ERR_INVALID,
			       "it is %s, which is not known here; write it as "
			       "UTF-8 first",
			       source->encoding.name);
	return 0;
}

void source_end(struct source *source)
{
	if (source->conversion != NO_CONVERSION)
		(void)iconv_close(source->conversion);
	source->conversion = NO_CONVERSION;
	free(source->raw);
	source->raw = NULL;
}

/* ---- UTF-8 ---- */

static size_t ascii_run(const char *s, size_t len)
{
	size_t n = 0;
	uint64_t word;

	for (; n + sizeof(word) <= len; n += sizeof(word)) {
		memcpy(&word, s + n, sizeof(word));
		if ((word & HIGH_BITS) != 0)
			break;
	}
	while (n < len && (unsigned char)s[n] < 0x80)
		n++;
	return n;
}

/* Returns the index of the first byte that is not UTF-8, or `len`. */
static size_t utf8_run(struct utf8_decoder *decoder, const char *s, size_t len)
{
	size_t n = 0;

	while (n < len) {
		int32_t first;
		int32_t second;

		if (decoder->missing == 0)
			n += ascii_run(s + n, len - n);
		if (n == len)
			break;
		utf8_decode(decoder, (unsigned char)s[n], &first, &second);
		if (first == UTF8_REPLACEMENT || second == UTF8_REPLACEMENT)
			break;
		n++;
	}
	return n;
}

/* Guesses the encoding, as the byte at `at` is not UTF-8. Always returns -1. */
static int guess(struct source *source, off_t at, struct err *err)
{
	cleanup_free char *sample = xcalloc(1, SAMPLE_SIZE);
	off_t from = at > SAMPLE_BEFORE ? at - SAMPLE_BEFORE : 0;
	ssize_t len = read_at(source->fd, sample, SAMPLE_SIZE, from, err);

	if (len < 0)
		return -1;
	encoding_guess(&source->encoding, sample, (size_t)len);
	source->again = true;
	return err_set(err, ERR_INVALID, "it is not UTF-8");
}

static int read_utf8(struct source *source, char *out, size_t size, size_t *ret_len,
		     struct err *err)
{
	ssize_t len = read_at(source->fd, out, size, source->at, err);
	size_t good;

	if (len < 0)
		return -1;
	good = utf8_run(&source->decoder, out, (size_t)len);
	if (good < (size_t)len || (len == 0 && utf8_decode_end(&source->decoder)))
		return guess(source, source->at + (off_t)good, err);
	source->at += len;
	*ret_len = (size_t)len;
	return 0;
}

/* ---- other encodings ---- */

static int fill(struct source *source, struct err *err)
{
	ssize_t len = read_at(source->fd, source->raw + source->raw_len, RAW_SIZE - source->raw_len,
			      source->at, err);

	if (len < 0)
		return -1;
	source->at += len;
	source->raw_len += (size_t)len;
	source->ended = len == 0;
	return 0;
}

static void consume(struct source *source, size_t len)
{
	memmove(source->raw, source->raw + len, source->raw_len - len);
	source->raw_len -= len;
}

static size_t put_lost(struct source *source, char *out)
{
	source->lost++;
	return utf8_encode(UTF8_REPLACEMENT, out);
}

/* Reads UTF-8 with invalid bytes. `size` must have room for more than three bytes for each byte. */
static int read_broken(struct source *source, char *out, size_t size, size_t *ret_len,
		       struct err *err)
{
	size_t used = 0;
	size_t put = 0;

	if (fill(source, err) < 0)
		return -1;
	for (; used < source->raw_len && put + 8 <= size; used++) {
		int32_t got[2];

		utf8_decode(&source->decoder, (unsigned char)source->raw[used], &got[0], &got[1]);
		for (size_t i = 0; i < 2; i++)
			if (got[i] == UTF8_REPLACEMENT)
				put += put_lost(source, out + put);
			else if (got[i] != UTF8_MORE)
				put += utf8_encode((uint32_t)got[i], out + put);
	}
	consume(source, used);
	if (source->ended && put == 0 && utf8_decode_end(&source->decoder))
		put = put_lost(source, out);
	*ret_len = put;
	return 0;
}

/* Replaces an invalid byte, or unit of UTF-16 or UTF-32. */
static size_t lose(struct source *source, char **in, size_t *in_left, char *out, size_t size)
{
	const char *name = source->encoding.name;
	size_t step = strncmp(name, "UTF-16", 6) == 0 ? 2 : strncmp(name, "UTF-32", 6) == 0 ? 4 : 1;

	step = size_min(step, *in_left);
	*in += step;
	*in_left -= step;
	return size >= 3 ? put_lost(source, out) : 0;
}

static int convert(struct source *source, char *out, size_t size, size_t *ret_len, struct err *err)
{
	size_t put = 0;

	while (put == 0 && !(source->ended && source->raw_len == 0)) {
		char *in = source->raw;
		char *to = out;
		size_t in_left;
		size_t room = size;
		size_t failed;

		if (fill(source, err) < 0)
			return -1;
		in_left = source->raw_len;
		failed = iconv(source->conversion, &in, &in_left, &to, &room);
		put = size - room;
		if (failed == (size_t)-1 &&
		    (errno == EILSEQ || (errno == EINVAL && source->ended)) && in_left > 0)
			put += lose(source, &in, &in_left, to, room);
		consume(source, source->raw_len - in_left);
	}
	*ret_len = put;
	return 0;
}

int source_read(void *data, char *out, size_t size, size_t *ret_len, struct err *err)
{
	struct source *source = data;

	if (source->conversion != NO_CONVERSION)
		return convert(source, out, size, ret_len, err);
	if (source->encoding.broken)
		return read_broken(source, out, size, ret_len, err);
	return read_utf8(source, out, size, ret_len, err);
}
