/* SPDX-License-Identifier: MIT */
/* layers: rpc */
/* Lines come out the same however the bytes are split, and none is over the cap or blank. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "rpc/framing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 64 };

struct sink {
	struct framing framing;
	struct buf out;
};

static void on_line(struct framing *framing, const char *line, size_t len)
{
	struct sink *sink = container_of(framing, struct sink, framing);

	assert(len > 0 && len <= CAP);
	assert(memchr(line, '\n', len) == NULL);
	buf_put(&sink->out, line, len);
	buf_put(&sink->out, "\n", 1);
}

static void on_too_long(struct framing *framing, const char *start, size_t len)
{
	assert(len > 0 && memchr(start, '\n', len) == NULL);
	buf_put(&container_of(framing, struct sink, framing)->out, "\n", 1);
}

static void read_all(const uint8_t *data, size_t size, size_t step, struct buf *ret)
{
	static const struct framing_handlers handlers = { on_line, on_too_long };
	struct sink sink;

	buf_init(&sink.out, BUF_UNBOUNDED);
	framing_init(&sink.framing, CAP, &handlers);
	for (size_t i = 0; i < size; i += step)
		framing_feed(&sink.framing, (const char *)data + i, size_min(step, size - i));
	framing_end(&sink.framing);
	framing_release(&sink.framing);
	*ret = sink.out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole;
	struct buf bytes;

	read_all(data, size, size + 1, &whole);
	read_all(data, size, 1, &bytes);
	assert(whole.len == bytes.len);
	assert(whole.len == 0 || memcmp(whole.data, bytes.data, whole.len) == 0);
	buf_release(&whole);
	buf_release(&bytes);
	return 0;
}
