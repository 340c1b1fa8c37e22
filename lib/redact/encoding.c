/* SPDX-License-Identifier: MIT */
/*
 * encoding.c - one reader for each escape. An escape may be cut by the end of a chunk, so a reader
 * that runs out of text reports that more is needed instead of a guess. Escapes that programs write
 * but no standard defines (<U+00FC> of R, %uHHHH of escape()) are read too.
 */
#include "redact/encoding.h"

#include <stdint.h>

#include <unistr.h>

#include "base/chars.h"
#include "text/escape.h"
#include "text/invisible.h"
#include "text/utf8.h"

enum {
	DOUBLED_MAX = 8, /* backslashes before one escape: JSON in JSON in JSON */
	COLOUR_MAX = 32, /* bytes of CSI ... m */
	INDENT_MAX = 200,
	CODE_DIGITS_MAX = 7, /* of <U+...> and &#...; */
};

/* The text being read. `more`: `s` ended too early, and the text may continue. */
struct reader {
	const char *s;
	size_t len;
	bool last;
	bool more;
};

static bool has(struct reader *in, size_t len)
{
	if (in->len >= len)
		return true;
	in->more = !in->last;
	return false;
}

/* Returns the number of `count` digits at `at`; -1 if they are no such digits or incomplete. */
static int64_t read_digits(struct reader *in, size_t at, size_t count, int base)
{
	int64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		int digit;

		if (!has(in, at + i + 1))
			return -1;
		digit = char_hex(in->s[at + i]);
		if (digit < 0 || digit >= base)
			return -1;
		number = number * base + digit;
	}
	return number;
}

static void mean_byte(struct piece *ret, size_t len, char byte)
{
	ret->len = len;
	ret->count = byte == '\r' ? 0 : 1;
	ret->bytes[0] = byte;
}

static void mean_character(struct piece *ret, size_t len, int64_t cp)
{
	if (cp < 0x80) {
		mean_byte(ret, len, (char)cp);
		return;
	}
	ret->len = len;
	ret->count = utf8_encode((uint32_t)cp, ret->bytes);
}

/*
 * Reads a character by its number, in digits from `at` up to `end`. An invisible one stands for
 * nothing.
 */
static bool read_code(struct reader *in, size_t at, int base, char end, struct piece *ret)
{
	size_t first = at;
	int64_t cp = 0;

	for (; has(in, at + 1) && in->s[at] != end; at++) {
		int digit = char_hex(in->s[at]);

		if (digit < 0 || digit >= base || at - first >= CODE_DIGITS_MAX)
			return false;
		cp = cp * base + digit;
	}
	if (!has(in, at + 1) || cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		return false;
	mean_character(ret, at + 1, cp);
	if (invisible_hides((uint32_t)cp))
		ret->count = 0;
	return true;
}

/* Reads <U+00FC>, which sanitize.c and R write. */
static void read_shown(struct reader *in, struct piece *ret)
{
	mean_byte(ret, 1, in->s[0]);
	if (has(in, 2) && in->s[1] == 'U' && has(in, 3) && in->s[2] == '+')
		(void)read_code(in, 3, 16, '>', ret);
}

/* Reads &#252; or &#xFC; */
static void read_reference(struct reader *in, struct piece *ret)
{
	mean_byte(ret, 1, in->s[0]);
	if (!has(in, 2) || in->s[1] != '#' || !has(in, 3))
		return;
	if (in->s[2] == 'x' || in->s[2] == 'X')
		(void)read_code(in, 3, 16, ';', ret);
	else
		(void)read_code(in, 2, 10, ';', ret);
}

/* Reads the first byte of a character, or one byte of a broken one. */
static void read_character(struct reader *in, struct piece *ret)
{
	unsigned char lead = (unsigned char)in->s[0];
	size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	ucs4_t cp;

	mean_byte(ret, 1, in->s[0]);
	if (lead >= 0xc2 && has(in, len) &&
	    u8_mbtouc(&cp, (const uint8_t *)in->s, len) == (int)len && invisible_hides(cp))
		*ret = (struct piece){ .len = len };
}

static bool is_colour_byte(char c)
{
	return c != '\0' && strchr(ENCODING_COLOUR_BYTES, c) != NULL;
}

static void read_colour(struct reader *in, struct piece *ret)
{
	size_t len = 2;

	mean_byte(ret, 1, in->s[0]);
	if (!has(in, 2) || in->s[1] != '[')
		return;
	while (len < COLOUR_MAX && has(in, len + 1) && is_colour_byte(in->s[len]))
		len++;
	if (len < COLOUR_MAX && has(in, len + 1) && in->s[len] == 'm')
		*ret = (struct piece){ .len = len + 1 };
}

static void read_plain(struct reader *in, struct piece *ret)
{
	if (in->s[0] == ESCAPE_BYTE)
		read_colour(in, ret);
	else
		mean_byte(ret, 1, in->s[0]);
}

/*
 * Reads HHHH behind the u at `at`. A character beyond U+FFFF has two of them, with `sign` before
 * the second.
 */
static bool read_utf16(struct reader *in, size_t at, char sign, struct piece *ret)
{
	int64_t high = read_digits(in, at + 1, 4, 16);
	size_t next = at + 5;
	int64_t low;

	if (high < 0 || (high >= 0xdc00 && high < 0xe000))
		return false;
	if (high < 0xd800 || high >= 0xe000) {
		mean_character(ret, next, high);
		return true;
	}
	while (next - at - 5 < DOUBLED_MAX && has(in, next + 1) && in->s[next] == sign)
		next++;
	if (next == at + 5 || !has(in, next + 1) || in->s[next] != 'u')
		return false;
	low = read_digits(in, next + 1, 4, 16);
	if (low < 0xdc00 || low >= 0xe000)
		return false;
	mean_character(ret, next + 5, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
	return true;
}

/* Reads a number behind backslashes, whose first character is at `at`. */
static bool read_numbered(struct reader *in, size_t at, struct piece *ret)
{
	char kind = in->s[at];
	int64_t number = -1;
	size_t len = 0;

	if (kind == 'u')
		return read_utf16(in, at, '\\', ret);
	if (kind == 'x') {
		len = at + 3;
		number = read_digits(in, at + 1, 2, 16);
	} else if (kind >= '0' && kind <= '3') {
		len = at + 3;
		number = read_digits(in, at, 3, 8);
	} else if (kind == 'U') {
		number = read_digits(in, at + 1, 8, 16);
		if (number < 0 || number > 0x10ffff || (number >= 0xd800 && number < 0xe000))
			return false;
		mean_character(ret, at + 9, number);
		return true;
	}
	if (number < 0)
		return false;
	mean_byte(ret, len, (char)number);
	return true;
}

static void read_backslashes(struct reader *in, struct piece *ret)
{
	static const char letters[] = "nrtbfv\"'/`";
	static const char meanings[] = "\n\r\t\b\f\v\"'/`";
	size_t at = 1;
	const char *letter;

	while (at < DOUBLED_MAX && has(in, at + 1) && in->s[at] == '\\')
		at++;
	mean_byte(ret, at, '\\');
	if (!has(in, at + 1) || in->s[at] == '\0')
		return;
	letter = strchr(letters, in->s[at]);
	if (letter != NULL)
		mean_byte(ret, at + 1, meanings[letter - letters]);
	else
		(void)read_numbered(in, at, ret);
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

/* Returns the position behind blanks at `at`; 0 if more text is needed to know. */
static size_t skip_blanks(struct reader *in, size_t at)
{
	size_t end = at + INDENT_MAX;

	while (at < end && has(in, at + 1) && strchr(" \t\r", in->s[at]) != NULL &&
	       in->s[at] != '\0')
		at++;
	return has(in, at + 1) ? at : 0;
}

/*
 * Reads the break of a literal: a quote, perhaps a plus, the line's end, perhaps a b, and a quote.
 */
static void read_quote(struct reader *in, struct piece *ret)
{
	size_t at;

	mean_byte(ret, 1, in->s[0]);
	at = skip_blanks(in, 1);
	if (at > 0 && in->s[at] == '+')
		at = skip_blanks(in, at + 1);
	if (at == 0 || in->s[at] != '\n')
		return;
	at = skip_blanks(in, at + 1);
	if (at > 0 && in->s[at] == 'b')
		at = has(in, at + 2) ? at + 1 : 0;
	if (at > 0 && is_quote(in->s[at]))
		*ret = (struct piece){ .len = at + 1 };
}

static void read_percent(struct reader *in, struct piece *ret)
{
	int64_t byte = read_digits(in, 1, 2, 16);

	mean_byte(ret, 1, '%');
	if (byte >= 0)
		mean_byte(ret, 3, (char)byte);
	else if (has(in, 2) && in->s[1] == 'u')
		(void)read_utf16(in, 1, '%', ret);
}

bool encoding_next(enum encoding encoding, const char *s, size_t len, bool last, struct piece *ret)
{
	struct reader in = { .s = s, .len = len, .last = last };

	if (encoding == ENCODING_VERBATIM)
		mean_byte(ret, 1, s[0]);
	else if (encoding == ENCODING_BACKSLASH && s[0] == '\\')
		read_backslashes(&in, ret);
	else if (encoding == ENCODING_BACKSLASH && is_quote(s[0]))
		read_quote(&in, ret);
	else if (encoding == ENCODING_BACKSLASH && s[0] == '<')
		read_shown(&in, ret);
	else if (encoding == ENCODING_BACKSLASH && s[0] == '&')
		read_reference(&in, ret);
	else if (encoding == ENCODING_BACKSLASH && (signed char)s[0] < 0)
		read_character(&in, ret);
	else if (encoding == ENCODING_PERCENT && s[0] == '%')
		read_percent(&in, ret);
	else
		read_plain(&in, ret);
	if (encoding == ENCODING_PERCENT && ret->count == 1 && ret->bytes[0] == ' ')
		ret->bytes[0] = '+';
	if (encoding == ENCODING_BACKSLASH && ret->count == 1 && ret->bytes[0] == '\\')
		ret->count = 0;
	return !in.more;
}

/* Writers of %HH encode every % too, so a value stands for itself. */
static void percent_of(const char *value, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		if (value[i] != '\r')
			buf_put(out, value[i] == ' ' ? "+" : value + i, 1);
}

void encoding_of(enum encoding encoding, const char *value, size_t len, struct buf *out)
{
	struct piece piece;

	if (encoding == ENCODING_PERCENT) {
		percent_of(value, len, out);
		return;
	}
	for (size_t i = 0; i < len; i += piece.len) {
		(void)encoding_next(encoding, value + i, len - i, true, &piece);
		buf_put(out, piece.bytes, piece.count);
	}
}
