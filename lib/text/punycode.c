/* SPDX-License-Identifier: MIT */
/*
 * punycode.c - encodes names of hosts. The user's list and the names that session code asks for
 * must become the same ASCII, or a rule would not match; so both pass here.
 */
#include "text/punycode.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>
#include <unistr.h>

#include "base/buf.h"
#include "base/mem.h"

/* RFC 3492, section 5. PART_MAX keeps all sums far below 32 bits. */
enum {
	BASE = 36,
	T_MIN = 1,
	T_MAX = 26,
	SKEW = 38,
	DAMP = 700,
	FIRST_BIAS = 72,
	FIRST_N = 128,
	PART_MAX = 256,
};

static char digit_of(uint32_t value)
{
	return (char)(value < 26 ? 'a' + value : '0' + (value - 26));
}

static uint32_t adapt_bias(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / DAMP : delta / 2;
	for (delta += delta / points; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static void put_delta(struct buf *out, uint32_t delta, uint32_t bias)
{
	for (uint32_t k = BASE;; k += BASE) {
		uint32_t t = k <= bias + T_MIN ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
		char digit;

		if (delta < t)
			break;
		digit = digit_of(t + (delta - t) % (BASE - t));
		buf_put(out, &digit, 1);
		delta = (delta - t) / (BASE - t);
	}
	buf_put(out, &(char){ digit_of(delta) }, 1);
}

static uint32_t next_point(const uint32_t *points, size_t count, uint32_t from)
{
	uint32_t next = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		if (points[i] >= from && points[i] < next)
			next = points[i];
	return next;
}

/* Encodes all code points of one part, behind its ASCII ones. */
static void put_others(struct buf *out, const uint32_t *points, size_t count, uint32_t basic)
{
	uint32_t n = FIRST_N;
	uint32_t delta = 0;
	uint32_t bias = FIRST_BIAS;
	uint32_t done = basic;

	while (done < count) {
		uint32_t next = next_point(points, count, n);

		delta += (next - n) * (done + 1);
		n = next;
		for (size_t i = 0; i < count; i++) {
			delta += points[i] < n;
			if (points[i] != n)
				continue;
			put_delta(out, delta, bias);
			bias = adapt_bias(delta, done + 1, done == basic);
			delta = 0;
			done++;
		}
		delta++;
		n++;
	}
}

static void put_host_part(struct buf *out, const uint32_t *points, size_t count)
{
	uint32_t basic = 0;

	for (size_t i = 0; i < count; i++)
		basic += points[i] < FIRST_N;
	if (basic < count)
		buf_puts(out, "xn--");
	for (size_t i = 0; i < count; i++)
		if (points[i] < FIRST_N)
			buf_put(out, &(char){ (char)points[i] }, 1);
	if (basic == count)
		return;
	if (basic > 0)
		buf_puts(out, "-");
	put_others(out, points, count, basic);
}

/* Recognises dots. The one of Chinese and Japanese counts as one, in its wide forms too. */
static bool is_dot(uint32_t point)
{
	return point == '.' || point == 0x3002 || point == 0xff0e || point == 0xff61;
}

static char *encode_part(const uint32_t *points, size_t count)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	size_t start = 0;

	for (size_t i = 0; i <= count; i++) {
		if (i < count && !is_dot(points[i]))
			continue;
		if (i - start > PART_MAX)
			return NULL;
		put_host_part(&out, points + start, i - start);
		if (i < count)
			buf_puts(&out, ".");
		start = i + 1;
	}
	return xstrdup(buf_str(&out));
}

char *punycode_host(const char *text, size_t len)
{
	const uint8_t *bytes = (const uint8_t *)text;
	uint8_t *lower = NULL;
	uint32_t *points = NULL;
	size_t count = 0;
	char *host = NULL;

	if (u8_check(bytes, len) == NULL)
		lower = u8_tolower(bytes, len, NULL, UNINORM_NFC, NULL, &len);
	if (lower != NULL)
		points = u8_to_u32(lower, len, NULL, &count);
	if (points != NULL)
		host = encode_part(points, count);
	free(lower);
	free(points);
	return host;
}
