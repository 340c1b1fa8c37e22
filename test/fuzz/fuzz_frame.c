/* SPDX-License-Identifier: MIT */
/* layers: runtime text */
/* The same frames come out however the bytes are split, and written again they are the input. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "runtime/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes all frames there are; false when the reader is dead. */
static bool drain(struct frame_reader *reader, struct buf *out)
{
	const struct frame *frame;
	struct err err;
	int got;

	while ((got = frame_reader_next(reader, &frame, &err)) > 0) {
		frame_begin(out, frame->type, frame->id, frame->part_count);
		for (size_t i = 0; i < frame->part_count; i++)
			frame_add(out, frame->parts[i].name, frame->parts[i].data,
				  frame->parts[i].len);
	}
	return got == 0;
}

static bool read_all(const uint8_t *data, size_t size, size_t step, struct buf *out)
{
	struct frame_reader *reader = frame_reader_new(FRAME_UP_PART_MAX);
	bool alive = true;

	for (size_t i = 0; i < size; i += step) {
		frame_reader_feed(reader, data + i, size_min(step, size - i));
		alive = drain(reader, out);
	}
	frame_reader_free(reader);
	return alive;
}

/* Given up byte by byte there are as many frames, and none is longer. */
static void check_drop(const uint8_t *data, size_t size)
{
	struct frame_reader *whole = frame_reader_new(FRAME_UP_PART_MAX);
	struct frame_reader *dropped = frame_reader_new(FRAME_UP_PART_MAX);
	cleanup_buf struct buf all;
	cleanup_buf struct buf left;

	buf_init(&all, BUF_UNBOUNDED);
	buf_init(&left, BUF_UNBOUNDED);
	for (size_t i = 0; i < size; i++) {
		frame_reader_feed(whole, data + i, 1);
		frame_reader_feed(dropped, data + i, 1);
		assert(drain(whole, &all) == drain(dropped, &left));
		frame_reader_drop(dropped);
		assert(frame_reader_pending(whole) || !frame_reader_pending(dropped));
		assert(left.len <= all.len);
	}
	frame_reader_free(whole);
	frame_reader_free(dropped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf whole;
	cleanup_buf struct buf parts;

	buf_init(&whole, BUF_UNBOUNDED);
	buf_init(&parts, BUF_UNBOUNDED);
	assert(read_all(data, size, size > 0 ? size : 1, &whole) ==
	       read_all(data, size, 1, &parts));
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	check_drop(data, size);
	assert(whole.len <= size && memcmp(buf_str(&whole), data, whole.len) == 0);
	return 0;
}
