/* SPDX-License-Identifier: MIT */
/* layers: text */
/*
 * Any value is found in any text, the same in one piece and in many, and little is held. The value
 * is the input's first line.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "text/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void check(const struct redact *redact, const char *value, const char *text, size_t len)
{
	cleanup_buf struct buf whole = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf parts = BUF_INIT(BUF_UNBOUNDED);

	redact_pieces(redact, text, len, len > 0 ? len : 1, &whole);
	redact_pieces(redact, text, len, 1, &parts);
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	/* The replacement's own letters may complete a value again. */
	if (strpbrk(value, "[secrt A]") == NULL)
		assert(memmem(buf_str(&whole), whole.len, value, strlen(value)) == NULL);
}

/* Parts make the whole, and of a text that was cut no more is left than of one that was not. */
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
	redact_free(redact);
	return 0;
}
