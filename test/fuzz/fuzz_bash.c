/* SPDX-License-Identifier: MIT */
/* layers: runtime */
/* What a bash may write becomes whole frames, the same however it is split. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/bash/codec.h"
#include "runtime/bash/trap_commands.h"
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

/* Is it so long as some of the words are together? */
static bool is_of_words(size_t len)
{
	static const size_t words[] = { sizeof(NOTEBOOK_WORD) - 1, sizeof(TRAPS_WORD) - 1,
					sizeof(LISTS_WORD) - 1,
					sizeof(SETTLING_START SETTLING_END) - 1 };
	bool *reached = calloc(len + 1, sizeof(*reached));
	bool result;

	reached[0] = true;
	for (size_t at = 0; at <= len; at++)
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (at >= words[i] && reached[at - words[i]])
				reached[at] = true;
	result = reached[len];
	free(reached);
	return result;
}

/* A cell loses nothing, and gets nothing but these words. */
static void check_marks(const uint8_t *data, size_t size)
{
	struct buf out;
	size_t kept = 0;

	buf_init(&out, BUF_UNBOUNDED);
	trap_commands_mark((const char *)data, size, &out);
	for (size_t i = 0; i < out.len && kept < size; i++)
		kept += (uint8_t)out.data[i] == data[kept];
	assert(kept == size);
	assert(is_of_words(out.len - size));
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
