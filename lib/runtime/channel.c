/* SPDX-License-Identifier: MIT */
#include "runtime/channel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "runtime/frame.h"
#include "runtime/language.h"

struct channel {
	const struct language_codec *codec;
	void *state;
	struct frame_reader *ours;
	struct buf outgoing;
	struct buf incoming;
};

struct channel *channel_new(const struct language_codec *codec)
{
	struct channel *link = xcalloc(1, sizeof(*link));

	link->codec = codec;
	buf_init(&link->outgoing, BUF_UNBOUNDED);
	buf_init(&link->incoming, BUF_UNBOUNDED);
	if (codec != NULL) {
		link->state = codec->start();
		link->ours = frame_reader_new(FRAME_PART_MAX);
	}
	return link;
}

void channel_free(struct channel *link)
{
	if (link == NULL)
		return;
	if (link->codec != NULL) {
		link->codec->end(link->state);
		frame_reader_free(link->ours);
	}
	buf_release(&link->outgoing);
	buf_release(&link->incoming);
	free(link);
}

void channel_attach(struct channel *link, int fd)
{
	if (link->codec != NULL && link->codec->attach != NULL)
		link->codec->attach(link->state, fd);
}

struct buf *channel_outgoing(struct channel *link, struct buf *frames)
{
	const struct frame *frame;
	struct err err;
	int got;

	if (link->codec == NULL)
		return frames;
	frame_reader_feed(link->ours, buf_str(frames), frames->len);
	buf_clear(frames);
	while ((got = frame_reader_next(link->ours, &frame, &err)) == 1)
		link->codec->encode(link->state, frame, &link->outgoing);
	assert(got == 0); /* they are our own */
	return &link->outgoing;
}

int channel_take(struct channel *link, const char *data, size_t len, struct frame_reader *reader,
		 struct err *err)
{
	if (link->codec == NULL) {
		frame_reader_feed(reader, data, len);
		return 0;
	}
	if (link->codec->decode(link->state, data, len, &link->incoming, err) < 0)
		return -1;
	frame_reader_feed(reader, buf_str(&link->incoming), link->incoming.len);
	buf_clear(&link->incoming);
	return 0;
}
