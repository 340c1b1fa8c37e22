/* SPDX-License-Identifier: MIT */
/*
 * redact_values.c - prepares the patterns of each value. A value is added as each encoding reads
 * it, so a view compares decoded letters and needs no pattern for each way of escaping. There are
 * three patterns for base64, by the offset of the value within a group of three bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <uninorm.h>

#include "base/chars.h"
#include "base/mem.h"
#include "redact/redact_internal.h"
#include "text/base64.h"
#include "text/escape.h"
#include "text/utf8.h"

const struct view_kind redact_view_kinds[VIEWS] = {
	{ ENCODING_PLAIN, ALPHABET_TEXT, PATTERN_PLAIN },
	{ ENCODING_PLAIN, ALPHABET_BASE64, PATTERN_BASE64 },
	{ ENCODING_PLAIN, ALPHABET_HEX, PATTERN_HEX },
	{ ENCODING_BACKSLASH, ALPHABET_TEXT, PATTERN_BACKSLASH },
	{ ENCODING_BACKSLASH, ALPHABET_BASE64, PATTERN_BASE64 },
	{ ENCODING_BACKSLASH, ALPHABET_HEX, PATTERN_HEX },
	{ ENCODING_PERCENT, ALPHABET_TEXT, PATTERN_PERCENT },
	{ ENCODING_PERCENT, ALPHABET_BASE64, PATTERN_BASE64 },
	{ ENCODING_VERBATIM, ALPHABET_TEXT, PATTERN_VERBATIM },
};

const size_t redact_first_view[ENCODINGS + 1] = { 0, 3, 6, 8, VIEWS };

/* A value that was read from a file often ends with a newline, which its users remove. */
bool redact_takes(const char *value)
{
	size_t returns = 0;
	size_t len = strlen(value);

	chars_trim(&value, &len);
	for (size_t i = 0; i < len; i++)
		returns += value[i] == '\r' ? 1 : 0;
	return len <= REDACT_BYTES_MAX && utf8_count(value, len) - returns >= REDACT_CHARS_MIN;
}

struct redact *redact_new(void)
{
	struct redact *redact = xcalloc(1, sizeof(*redact));

	redact->encodings = ENCODING_VERBATIM;
	for (size_t i = 0; i < PATTERNS; i++) {
		redact->matchers[i] = matcher_new();
		redact->ends[i] = matcher_new();
	}
	return redact;
}

void redact_free(struct redact *redact)
{
	if (redact == NULL)
		return;
	for (size_t i = 0; i < PATTERNS; i++) {
		matcher_free(redact->matchers[i]);
		matcher_free(redact->ends[i]);
	}
	for (size_t i = 0; i < redact->count; i++) {
		free(redact->names[i]);
		explicit_bzero(redact->values[i], strlen(redact->values[i]));
		free(redact->values[i]);
	}
	free(redact->names);
	free(redact->values);
	free(redact);
}

static void add_pattern(struct redact *redact, enum pattern pattern, const char *string, size_t len)
{
	cleanup_buf struct buf backwards = BUF_INIT(BUF_UNBOUNDED);
	uint32_t tag = (uint32_t)redact->count;

	for (size_t i = len; i > 0; i--)
		buf_put(&backwards, string + i - 1, 1);
	matcher_add(redact->matchers[pattern], string, len, tag);
	matcher_add(redact->ends[pattern], buf_str(&backwards), len, tag);
}

/* Adds the base64 letters that `value` alone determines if `before` bytes precede it (RFC 4648). */
static void add_base64(struct redact *redact, const char *value, size_t len, size_t before)
{
	cleanup_buf struct buf bytes = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf letters = BUF_INIT(BUF_UNBOUNDED);
	size_t from = (before * 8 + 5) / 6;
	size_t to = (before + len) * 8 / 6;

	buf_put(&bytes, "\0\0", before);
	buf_put(&bytes, value, len);
	base64_encode(&letters, bytes.data, bytes.len);
	add_pattern(redact, PATTERN_BASE64, letters.data + from, to - from);
}

static void add_hex(struct redact *redact, const char *value, size_t len)
{
	cleanup_buf struct buf digits = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++)
		buf_putf(&digits, "%02x", (unsigned int)(unsigned char)value[i]);
	add_pattern(redact, PATTERN_HEX, digits.data, digits.len);
}

static void add_encoded(struct redact *redact, enum pattern pattern, enum encoding encoding,
			const char *value, size_t len)
{
	cleanup_buf struct buf meant = BUF_INIT(BUF_UNBOUNDED);

	encoding_of(encoding, value, len, &meant);
	/* The rest of a value that consists of escapes may be an ordinary word. */
	if (meant.len >= REDACT_CHARS_MIN)
		add_pattern(redact, pattern, meant.data, meant.len);
}

/* Adds the value with the escapes that JSON and most languages need at least. */
static void add_literal(struct redact *redact, const char *value, size_t len)
{
	static const char special[] = "\\\"\n\t";
	static const char letters[] = "\\\"nt";
	cleanup_buf struct buf literal = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++) {
		const char *found = strchr(special, value[i]);

		if (found != NULL)
			buf_put_char(&literal, '\\');
		if (value[i] != '\r')
			buf_put_char(&literal, found != NULL ? letters[found - special] : value[i]);
	}
	add_pattern(redact, PATTERN_PLAIN, literal.data, literal.len);
}

/*
 * Adds the value as read when it was escaped: its own quotes and colours then no longer stand for
 * nothing.
 */
static void add_escaped(struct redact *redact, const char *value, size_t len)
{
	cleanup_buf struct buf meant = BUF_INIT(BUF_UNBOUNDED);
	struct piece piece;

	for (size_t i = 0; i < len; i += piece.len) {
		enum encoding encoding = value[i] == '\\' ? ENCODING_BACKSLASH : ENCODING_VERBATIM;

		(void)encoding_next(encoding, value + i, len - i, true, &piece);
		buf_put(&meant, piece.bytes, piece.count);
	}
	if (meant.len >= REDACT_CHARS_MIN)
		add_pattern(redact, PATTERN_BACKSLASH, meant.data, meant.len);
	else
		add_literal(redact, value, len);
}

/*
 * Adds the value in Latin-1. Python's ascii() and old JavaScript write U+0080 to U+00FF as \xHH,
 * JavaScript's escape() writes %HH, which is then no UTF-8.
 */
static void add_latin(struct redact *redact, const char *value, size_t len)
{
	cleanup_buf struct buf latin = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++) {
		unsigned char lead = (unsigned char)value[i];
		char character = (char)((lead & 3) << 6 | (value[i + 1] & 0x3f));
		bool is_latin = (lead == 0xc2 || lead == 0xc3) && (value[i + 1] & 0xc0) == 0x80;

		buf_put(&latin, is_latin ? &character : value + i, 1);
		i += is_latin ? 1 : 0;
	}
	if (latin.len == len)
		return;
	add_encoded(redact, PATTERN_BACKSLASH, ENCODING_BACKSLASH, latin.data, latin.len);
	add_escaped(redact, latin.data, latin.len);
	add_encoded(redact, PATTERN_PERCENT, ENCODING_PERCENT, latin.data, latin.len);
}

/*
 * Returns whether colours can make the value unreadable: it has escapes, or begins like part of a
 * colour.
 */
static bool is_like_colour(const char *value, size_t len)
{
	size_t at = value[0] == '[' ? 1 : 0;

	at += strspn(value + at, ENCODING_COLOUR_BYTES);
	return value[at] == 'm' || at >= REDACT_CHARS_MIN ||
	       memchr(value, ESCAPE_BYTE, len) != NULL;
}

/* Adds all patterns of a value. One more byte must follow it. */
static void add_value(struct redact *redact, const char *value, size_t len)
{
	add_encoded(redact, PATTERN_PLAIN, ENCODING_PLAIN, value, len);
	add_encoded(redact, PATTERN_BACKSLASH, ENCODING_BACKSLASH, value, len);
	add_escaped(redact, value, len);
	add_latin(redact, value, len);
	add_encoded(redact, PATTERN_PERCENT, ENCODING_PERCENT, value, len);
	for (size_t before = 0; before < 3; before++)
		add_base64(redact, value, len, before);
	add_hex(redact, value, len);
	if (is_like_colour(value, len)) {
		add_encoded(redact, PATTERN_VERBATIM, ENCODING_VERBATIM, value, len);
		redact->encodings = ENCODINGS;
	}
}

/* Adds the composed or decomposed form: programs and file systems change one to the other. */
static void add_normal(struct redact *redact, uninorm_t form, const char *value, size_t len)
{
	size_t normal_len;
	uint8_t *normal = u8_normalize(form, (const uint8_t *)value, len, NULL, &normal_len);

	/* NULL: the value is not UTF-8. */
	if (normal != NULL && (normal_len != len || memcmp(normal, value, len) != 0)) {
		cleanup_free char *text = xmemdup(normal, normal_len);

		add_value(redact, text, normal_len);
	}
	free(normal);
}

void redact_add(struct redact *redact, const char *name, const char *value)
{
	size_t len = strlen(value);

	assert(redact_takes(value));
	chars_trim(&value, &len);
	add_value(redact, value, len);
	add_normal(redact, UNINORM_NFC, value, len);
	add_normal(redact, UNINORM_NFD, value, len);
	redact->names = xrealloc(redact->names, (redact->count + 1) * sizeof(*redact->names));
	redact->values = xrealloc(redact->values, (redact->count + 1) * sizeof(*redact->values));
	redact->names[redact->count] = xstrdup(name);
	redact->values[redact->count++] = xmemdup(value, len);
}

static int base64_letter(char c)
{
	if (c == '-')
		return '+';
	if (c == '_')
		return '/';
	if (char_is_letter(c) || char_is_digit(c) || c == '+' || c == '/')
		return c;
	return char_is_blank(c) ? REDACT_NOTHING : REDACT_NO_LETTER;
}

static int hex_letter(char c)
{
	if (c >= 'A' && c <= 'F')
		return c | 0x20;
	if ((c >= 'a' && c <= 'f') || char_is_digit(c))
		return c;
	return char_is_blank(c) || c == ':' || c == '-' ? REDACT_NOTHING : REDACT_NO_LETTER;
}

int redact_letter(enum alphabet alphabet, char c)
{
	if (alphabet == ALPHABET_BASE64)
		return base64_letter(c);
	if (alphabet == ALPHABET_HEX)
		return hex_letter(c);
	return (unsigned char)c;
}

/* Returns the letter of a byte in a view if no following byte can change it, else REDACT_ASK. */
static int16_t letter_alone(const struct view_kind *kind, char c)
{
	struct piece piece;

	if (!encoding_next(kind->encoding, &c, 1, false, &piece))
		return REDACT_ASK;
	return piece.count > 0 ? (int16_t)redact_letter(kind->alphabet, piece.bytes[0])
			       : REDACT_NOTHING;
}

static void read_alone(struct redact *redact, size_t view, unsigned char byte)
{
	const struct view_kind *kind = &redact_view_kinds[view];
	int16_t letter = letter_alone(kind, (char)byte);

	redact->alone[view][byte] = letter;
	if (letter == REDACT_ASK ||
	    (letter >= 0 && matcher_begins(redact->matchers[kind->pattern], (unsigned char)letter)))
		redact->wakes[kind->encoding][byte] = true;
}

void redact_finish(struct redact *redact)
{
	for (size_t i = 0; i < PATTERNS; i++) {
		matcher_finish(redact->matchers[i]);
		matcher_finish(redact->ends[i]);
	}
	for (size_t view = 0; view < VIEWS; view++)
		for (size_t byte = 0; byte < 256; byte++)
			read_alone(redact, view, (unsigned char)byte);
}
