/* SPDX-License-Identifier: MIT */
/*
 * utf8.c - a decoder with the legal range of the next byte as its state. Overlong forms, surrogates
 * and values above U+10FFFF are thus refused at the second byte (Unicode, table 3-7), and nothing
 * is left to check in the decoded value.
 */
#include "text/utf8.h"

#include <string.h>
#include <unistr.h>

enum { CONTINUATION_LOW = 0x80, CONTINUATION_HIGH = 0xbf, LONGEST = 4 };

static void expect_bytes(struct utf8_decoder *d, uint32_t partial, uint8_t missing)
{
	*d = (struct utf8_decoder){ .partial = partial,
				    .missing = missing,
				    .lower = CONTINUATION_LOW,
				    .upper = CONTINUATION_HIGH };
}

/* Takes the first byte of a sequence (Unicode 15, table 3-7). */
static int32_t decode_lead(struct utf8_decoder *d, unsigned char byte)
{
	if (byte < 0x80)
		return byte;
	if (byte < 0xc2 || byte > 0xf4)
		return UTF8_REPLACEMENT;
	if (byte < 0xe0) {
		expect_bytes(d, byte & 0x1fU, 1);
	} else if (byte < 0xf0) {
		expect_bytes(d, byte & 0x0fU, 2);
		if (byte == 0xe0)
			d->lower = 0xa0;
		if (byte == 0xed)
			d->upper = 0x9f;
	} else {
		expect_bytes(d, byte & 0x07U, 3);
		if (byte == 0xf0)
			d->lower = 0x90;
		if (byte == 0xf4)
			d->upper = 0x8f;
	}
	return UTF8_MORE;
}

void utf8_decode(struct utf8_decoder *d, unsigned char byte, int32_t *ret_first,
		 int32_t *ret_second)
{
	*ret_second = UTF8_MORE;
	if (d->missing == 0) {
		*ret_first = decode_lead(d, byte);
		return;
	}
	if (byte < d->lower || byte > d->upper) {
		d->missing = 0;
		*ret_first = UTF8_REPLACEMENT;
		*ret_second = decode_lead(d, byte);
		return;
	}
	expect_bytes(d, d->partial << 6 | (byte & 0x3fU), (uint8_t)(d->missing - 1));
	*ret_first = d->missing > 0 ? UTF8_MORE : (int32_t)d->partial;
}

bool utf8_decode_end(struct utf8_decoder *d)
{
	bool cut = d->missing > 0;

	*d = (struct utf8_decoder){ 0 };
	return cut;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0U | cp >> 6);
		out[1] = (char)(0x80U | (cp & 0x3fU));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0U | cp >> 12);
		out[1] = (char)(0x80U | (cp >> 6 & 0x3fU));
		out[2] = (char)(0x80U | (cp & 0x3fU));
		return 3;
	}
	out[0] = (char)(0xf0U | cp >> 18);
	out[1] = (char)(0x80U | (cp >> 12 & 0x3fU));
	out[2] = (char)(0x80U | (cp >> 6 & 0x3fU));
	out[3] = (char)(0x80U | (cp & 0x3fU));
	return 4;
}

static size_t valid_prefix(const char *s, size_t len)
{
	const uint8_t *bad = u8_check((const uint8_t *)s, len);

	return bad == NULL ? len : (size_t)((const char *)bad - s);
}

bool utf8_valid(const char *s, size_t len)
{
	return len == 0 || valid_prefix(s, len) == len;
}

/* Returns how many of the bytes at `s`, which begin no well-formed sequence, become one U+FFFD. */
static size_t ill_formed_len(const char *s, size_t len)
{
	struct utf8_decoder d = { 0 };

	for (size_t i = 0; i < len; i++) {
		int32_t first;
		int32_t second;

		utf8_decode(&d, (unsigned char)s[i], &first, &second);
		if (first == UTF8_REPLACEMENT)
			return i > 0 ? i : 1;
	}
	return len;
}

void utf8_repair(struct buf *out, const char *s, size_t len)
{
	while (len > 0) {
		size_t run = valid_prefix(s, len);

		buf_put(out, s, run);
		s += run;
		len -= run;
		if (len == 0)
			return;
		buf_puts(out, "\xef\xbf\xbd");
		run = ill_formed_len(s, len);
		s += run;
		len -= run;
	}
}

/*
 * Counts the bytes that begin a character, eight at a time. Bytes that continue one are 10xxxxxx.
 */
size_t utf8_count(const char *s, size_t len)
{
	const uint64_t low_bits = UINT64_C(0x0101010101010101);
	size_t continuing = 0;
	size_t i = 0;

	for (; i + sizeof(uint64_t) <= len; i += sizeof(uint64_t)) {
		uint64_t bytes;

		memcpy(&bytes, s + i, sizeof(bytes));
		continuing += (((bytes >> 7) & ~(bytes >> 6) & low_bits) * low_bits) >> 56;
	}
	for (; i < len; i++)
		continuing += utf8_continues(s[i]);
	return len - continuing;
}

size_t utf8_offset(const char *s, size_t len, size_t chars)
{
	size_t at = 0;

	for (; at < len; at++) {
		if (utf8_continues(s[at]))
			continue;
		if (chars == 0)
			break;
		chars--;
	}
	return at;
}

size_t utf8_border(const char *s, size_t len, size_t at)
{
	size_t start = at;
	ucs4_t cp;
	int bytes;

	if (at >= len)
		return len;
	while (start > 0 && at - start < LONGEST - 1 && utf8_continues(s[start]))
		start--;
	bytes = u8_mbtoucr(&cp, (const uint8_t *)s + start, len - start);
	return bytes > 0 && start + (size_t)bytes > at && start < at ? start + (size_t)bytes : at;
}
