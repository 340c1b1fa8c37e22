/* SPDX-License-Identifier: MIT */
/* layers: text */
/*
 * Any value is found in any text, the same in one piece and in many, wherever it rests and however
 * the text was cut, and little is held. The value is the input's first line.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "redact/redact.h"
#include "text/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum form { PLAIN, PERCENT, BYTE, JSON_TWICE, HEX, FORMS };

enum { VALUE_MAX = 64, PIECE_MAX = 32 /* of the spelling of one byte */, IGNORED_MAX = 512 };

static void redact_pieces(const struct redact *redact, const char *text, size_t len, size_t step,
			  struct buf *out)
{
	struct redact_stream *stream = redact_stream_new(redact);

	for (size_t i = 0; i < len; i += step) {
		redact_feed(stream, text + i, size_min(step, len - i), out);
		assert(redact_held(stream) <= (size_t)VALUE_MAX * 2 * (PIECE_MAX + IGNORED_MAX));
	}
	redact_end(stream, out);
	assert(redact_held(stream) == 0);
	redact_stream_free(stream);
}

/* The replacement's own letters may complete a value again. */
static void assert_gone(const char *value, const struct buf *out)
{
	assert(strpbrk(value, "[secrt A]") != NULL ||
	       memmem(buf_str(out), out->len, value, strlen(value)) == NULL);
}

static void check_rests(const struct redact *redact, const char *value, const char *text,
			size_t len)
{
	struct redact_stream *stream = redact_stream_new(redact);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < len; i++) {
		redact_feed(stream, text + i, 1, &out);
		redact_settle(stream, &out);
	}
	redact_end(stream, &out);
	redact_stream_free(stream);
	assert_gone(value, &out);
}

static void check(const struct redact *redact, const char *value, const char *text, size_t len)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf parts = BUF_INIT(BUF_UNBOUNDED);

	redact_pieces(redact, text, len, len > 0 ? len : 1, &whole);
	redact_pieces(redact, text, len, 1, &parts);
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	assert_gone(value, &whole);
	check_rests(redact, value, text, len);
}

/* Parts make the whole. Strings, cut or not, are only to be survived. */
static void check_whole(const struct redact *redact, const char *text, size_t len)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf parts = BUF_INIT(BUF_UNBOUNDED);
	char *string = xmemdup(text, len);
	size_t step = len / 3 + 1;

	redact_range(redact, text, len, 0, len, &whole);
	for (size_t at = 0; at < len; at += step)
		redact_range(redact, text, len, at, size_min(at + step, len), &parts);
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	redact_string(redact, &string);
	redact_cut_string(redact, &string);
	free(string);
}

/* Of what is left of a text the start of a value goes, where `least` bytes spell enough of it. */
static void check_cut(const struct redact *redact, const struct buf *text, size_t least, size_t cut)
{
	char *string;

	if (text->len <= least)
		return;
	string = xmemdup(text->data, least + cut % (text->len - least));
	redact_cut_string(redact, &string);
	assert(strstr(string, "[secret A]") != NULL);
	free(string);
}

static void spell(struct buf *out, enum form form, unsigned int letter)
{
	switch (form) {
	case PLAIN:
		buf_put_char(out, (char)letter);
		break;
	case PERCENT:
		buf_putf(out, "%%%02X", letter);
		break;
	case BYTE:
		buf_putf(out, "\\x%02x", letter);
		break;
	case JSON_TWICE:
		buf_putf(out, "\\\\u%04x", letter);
		break;
	case HEX:
	default:
		buf_putf(out, "%02x", letter);
		break;
	}
}

static void check_cuts(const struct redact *redact, const char *value, size_t cut)
{
	static const size_t bytes[FORMS] = { 1, 3, 4, 7, 1 }; /* of each letter */
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	/* What is everybody's stays; backslashes and colours are no letters; ASCII has these
	 * escapes. */
	if (strstr(value, "://") != NULL || strstr(value, "-----") != NULL ||
	    strpbrk(value, "\\\033") != NULL)
		return;
	for (const char *p = value; *p != '\0'; p++)
		if ((signed char)*p < 0)
			return;
	for (size_t i = 0; i < FORMS; i++) {
		buf_clear(&text);
		for (const char *p = value; *p != '\0'; p++)
			spell(&text, (enum form)i, (unsigned char)*p);
		check_cut(redact, &text, REDACT_TRUNCATED_MIN * bytes[i], cut);
	}
	buf_clear(&text);
	base64_encode(&text, value, strlen(value));
	check_cut(redact, &text, REDACT_TRUNCATED_MIN, cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line_end = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t value_len = line_end != NULL ? (size_t)(line_end - data) : 0;
	cleanup_free char *value = xmemdup(data, value_len);
	struct redact *redact;

	if (strlen(value) > VALUE_MAX || strlen(value) != value_len || !redact_takes(value) ||
	    strpbrk(value, " \t\r") != NULL)
		return 0;
	redact = redact_new();
	redact_add(redact, "A", value);
	redact_finish(redact);
	check(redact, value, (const char *)data, size);
	check(redact, value, (const char *)line_end, size - value_len);
	check_whole(redact, (const char *)data, size);
	check_cuts(redact, value, size);
	redact_free(redact);
	return 0;
}
