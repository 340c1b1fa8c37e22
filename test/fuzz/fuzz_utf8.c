/* SPDX-License-Identifier: MIT */
/* layers: text */
/* Repairing whole, and decoding byte by byte, give the same well-formed text. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "text/truncate.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_cp(struct buf *out, int32_t cp)
{
	char bytes[4];

	if (cp != UTF8_MORE)
		buf_put(out, bytes, utf8_encode((uint32_t)cp, bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct utf8_decoder decoder = { 0 };
	cleanup_buf struct buf whole;
	cleanup_buf struct buf parts;
	cleanup_buf struct buf clipped;
	size_t chars;

	buf_init(&whole, BUF_UNBOUNDED);
	buf_init(&parts, BUF_UNBOUNDED);
	buf_init(&clipped, BUF_UNBOUNDED);
	utf8_repair(&whole, (const char *)data, size);
	for (size_t i = 0; i < size; i++) {
		int32_t first;
		int32_t second;

		utf8_decode(&decoder, data[i], &first, &second);
		put_cp(&parts, first);
		put_cp(&parts, second);
	}
	if (utf8_decode_end(&decoder))
		put_cp(&parts, UTF8_REPLACEMENT);
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	assert(utf8_valid(buf_str(&whole), whole.len));

	chars = utf8_count(buf_str(&whole), whole.len);
	assert(utf8_offset(buf_str(&whole), whole.len, chars) == whole.len);
	assert(truncate_text(&clipped, buf_str(&whole), whole.len, chars / 2) <= chars);
	assert(utf8_valid(buf_str(&clipped), clipped.len));
	return 0;
}
