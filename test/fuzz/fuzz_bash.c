/* SPDX-License-Identifier: MIT */
/* layers: runtime */
/* What a bash may write becomes whole frames, the same however it is split. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "runtime/bash/codec.h"
#include "runtime/bash/installs.h"
#include "runtime/frame.h"
#include "runtime/language.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void greet(void *codec)
{
	struct frame frame = { .type = "hello", .part_count = 1 };
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	frame.parts[0] = (struct frame_part){ .name = "nonce", .data = "n", .len = 1 };
	bash_codec.encode(codec, &frame, &out);
	buf_release(&out);
}

/* Whether it was all legal; what was legal before is in `ret`. */
static bool read_all(const uint8_t *data, size_t size, size_t step, struct buf *ret)
{
	void *codec = bash_codec.start();
	bool legal = true;
	struct err err;

	buf_init(ret, BUF_UNBOUNDED);
	greet(codec);
	for (size_t i = 0; legal && i < size; i += step)
		legal = bash_codec.decode(codec, (const char *)data + i, size_min(step, size - i),
					  ret, &err) == 0;
	bash_codec.end(codec);
	return legal;
}

static void check_frames(const struct buf *frames)
{
	struct frame_reader *reader = frame_reader_new(FRAME_UP_PART_MAX);
	const struct frame *frame;
	struct err err;
	int got;

	frame_reader_feed(reader, buf_str(frames), frames->len);
	while ((got = frame_reader_next(reader, &frame, &err)) == 1)
		;
	assert(got == 0 && !frame_reader_pending(reader));
	frame_reader_free(reader);
}

/* A cell loses nothing, and gets nothing but these words. */
static void check_marks(const uint8_t *data, size_t size)
{
	struct buf out;
	size_t kept = 0;
	size_t added;

	buf_init(&out, BUF_UNBOUNDED);
	installs_mark((const char *)data, size, &out);
	for (size_t i = 0; i < out.len && kept < size; i++)
		kept += (uint8_t)out.data[i] == data[kept];
	assert(kept == size);
	added = out.len - size;
	while (added % strlen(INSTALLS_WORD) != 0 && added >= strlen(TRAPS_WORD))
		added -= strlen(TRAPS_WORD);
	assert(added % strlen(INSTALLS_WORD) == 0);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole;
	struct buf bytes;
	bool legal = read_all(data, size, size + 1, &whole);
	bool same = read_all(data, size, 1, &bytes) == legal;

	assert(same);
	assert(whole.len == bytes.len);
	assert(whole.len == 0 || memcmp(whole.data, bytes.data, whole.len) == 0);
	check_frames(&whole);
	check_marks(data, size);
	buf_release(&whole);
	buf_release(&bytes);
	return 0;
}
