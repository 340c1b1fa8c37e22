/* SPDX-License-Identifier: MIT */
/* layers: text */
/* Cleaning twice changes nothing; lines and words keep their form, whatever comes in. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "text/sanitize.h"
#include "text/status_line.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_block(const char *s, size_t len)
{
	cleanup_buf struct buf once;
	cleanup_buf struct buf twice;

	buf_init(&once, BUF_UNBOUNDED);
	buf_init(&twice, BUF_UNBOUNDED);
	sanitize_block(&once, s, len);
	sanitize_block(&twice, buf_str(&once), once.len);
	assert(utf8_valid(buf_str(&once), once.len));
	assert(once.len == twice.len && memcmp(buf_str(&once), buf_str(&twice), once.len) == 0);
}

/* Byte by byte it is the same as at once. */
static void check_pieces(const char *s, size_t len)
{
	struct sanitize_stream *stream = sanitize_stream_new();
	cleanup_buf struct buf once;
	cleanup_buf struct buf pieces;

	buf_init(&once, BUF_UNBOUNDED);
	buf_init(&pieces, BUF_UNBOUNDED);
	sanitize_block(&once, s, len);
	for (size_t i = 0; i < len; i++)
		sanitize_feed(stream, s + i, 1, &pieces);
	sanitize_end(stream, &pieces);
	sanitize_stream_free(stream);
	assert(once.len == pieces.len && memcmp(buf_str(&once), buf_str(&pieces), once.len) == 0);
}

static void check_line(const char *s, size_t len)
{
	cleanup_buf struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	sanitize_line(&out, s, len, SANITIZE_QUOTE_MAX);
	assert(utf8_valid(buf_str(&out), out.len));
	assert(utf8_count(buf_str(&out), out.len) <= SANITIZE_QUOTE_MAX);
	assert(strpbrk(buf_str(&out), "\n\r\t\033") == NULL);
	buf_clear(&out);
	sanitize_word(&out, s, len, SANITIZE_QUOTE_MAX);
	assert(out.len > 0 && strpbrk(buf_str(&out), " |[]#,\n\r\t\033") == NULL);
}

static void check_status(const char *s)
{
	const struct status_change change = { '+', s, 1 };
	const struct status status = { .id = s,
				       .state = s,
				       .changes = &change,
				       .change_count = 1,
				       .names = s,
				       .saved = s,
				       .try_call = s };
	cleanup_buf struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	status_write(&out, &status);
	assert(strpbrk(buf_str(&out), "\n\r\t\033") == NULL);
	assert(utf8_valid(buf_str(&out), out.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf string;

	buf_init(&string, BUF_UNBOUNDED);
	buf_put(&string, data, size);
	check_block(buf_str(&string), size);
	check_pieces(buf_str(&string), size);
	check_line(buf_str(&string), size);
	check_status(buf_str(&string));
	return 0;
}
