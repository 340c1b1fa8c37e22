/* SPDX-License-Identifier: MIT */
/*
 * base64.c - encodes in chunks and decodes strictly. Leftover bits and missing padding are errors,
 * so that each text has one decoding: lenient decoders let a filter and a reader see different
 * bytes.
 */
#include "text/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/chars.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encoded_len(size_t len)
{
	return (len / 3 + (len % 3 > 0)) * 4;
}

static void encode_group(char out[4], const unsigned char *in, size_t len)
{
	uint32_t bits = (uint32_t)in[0] << 16;

	if (len > 1)
		bits |= (uint32_t)in[1] << 8;
	if (len > 2)
		bits |= in[2];
	out[0] = alphabet[bits >> 18];
	out[1] = alphabet[bits >> 12 & 0x3fU];
	out[2] = len > 1 ? alphabet[bits >> 6 & 0x3fU] : '=';
	out[3] = len > 2 ? alphabet[bits & 0x3fU] : '=';
}

void base64_encode(struct buf *out, const void *data, size_t len)
{
	const unsigned char *in = data;
	char chunk[4096];
	size_t used = 0;

	for (size_t i = 0; i < len; i += 3) {
		if (used == sizeof(chunk)) {
			buf_put(out, chunk, used);
			used = 0;
		}
		encode_group(chunk + used, in + i, len - i);
		used += 4;
	}
	buf_put(out, chunk, used);
}

/* Returns 0 to 63, or -1. */
static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

struct decoding {
	uint32_t bits;
	size_t digits;  /* 0-3 of the open group */
	size_t padding; /* '=' characters read */
	unsigned char *out;
	size_t len;
};

static bool decode_char(struct decoding *d, char c)
{
	int value = digit_value(c);

	if (c == '=' && d->digits >= 2 && d->digits + d->padding < 4) {
		d->padding++;
		return true;
	}
	if (value < 0 || d->padding > 0)
		return false;
	d->bits = d->bits << 6 | (uint32_t)value;
	if (++d->digits < 4)
		return true;
	d->out[d->len++] = (unsigned char)(d->bits >> 16);
	d->out[d->len++] = (unsigned char)(d->bits >> 8);
	d->out[d->len++] = (unsigned char)d->bits;
	d->bits = 0;
	d->digits = 0;
	return true;
}

/* Ends the last, padded group. Returns false if it is cut off or has leftover bits. */
static bool decode_end(struct decoding *d)
{
	if (d->digits == 0)
		return d->padding == 0;
	if (d->digits + d->padding != 4)
		return false;
	if (d->digits == 2) {
		d->out[d->len++] = (unsigned char)(d->bits >> 4);
		return (d->bits & 0x0fU) == 0;
	}
	d->out[d->len++] = (unsigned char)(d->bits >> 10);
	d->out[d->len++] = (unsigned char)(d->bits >> 2);
	return (d->bits & 0x03U) == 0;
}

static int decode_all(struct decoding *d, const char *s, size_t len, struct err *err)
{
	for (size_t i = 0; i < len; i++) {
		if (!char_is_blank(s[i]) && !decode_char(d, s[i]))
			return err_set(err, ERR_INVALID, "not base64 at byte %zu", i);
	}
	if (!decode_end(d))
		return err_set(err, ERR_INVALID, "base64 that is cut off or wrongly padded");
	return 0;
}

int base64_decode(struct buf *out, const char *s, size_t len, struct err *err)
{
	char *room = buf_reserve(out, len / 4 * 3 + 3, err);
	struct decoding d = { .out = (unsigned char *)room };
	int result;

	if (room == NULL)
		return -1;
	result = decode_all(&d, s, len, err);
	buf_commit(out, result == 0 ? d.len : 0);
	return result;
}
