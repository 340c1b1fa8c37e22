/* SPDX-License-Identifier: MIT */
/*
 * channel.c - passes frames through a language's codec, or as they are.
 *
 * The server's own frames are parsed again for the codec, which takes them one by one. The frames
 * that a codec makes of untrusted bytes go through the same reader as those of any driver.
 */
#include "runtime/channel.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "runtime/frame.h"
#include "runtime/language.h"

struct channel {
	const struct language_codec *codec;
	void *state;
	struct frame_reader *ours; /* parses the server's own frames */
	struct buf outgoing;
	struct buf incoming;
};

struct channel *channel_new(const struct language_codec *codec)
{
	struct channel *channel = xcalloc(1, sizeof(*channel));

	channel->codec = codec;
	buf_init(&channel->outgoing, BUF_UNBOUNDED);
	buf_init(&channel->incoming, BUF_UNBOUNDED);
	if (codec != NULL) {
		channel->state = codec->start();
		channel->ours = frame_reader_new(FRAME_PART_MAX);
	}
	return channel;
}

void channel_free(struct channel *channel)
{
	if (channel == NULL)
		return;
	if (channel->codec != NULL) {
		channel->codec->end(channel->state);
		frame_reader_free(channel->ours);
	}
	buf_release(&channel->outgoing);
	buf_release(&channel->incoming);
	free(channel);
}

void channel_attach(struct channel *channel, int fd)
{
	if (channel->codec != NULL && channel->codec->attach != NULL)
		channel->codec->attach(channel->state, fd);
}

struct buf *channel_outgoing(struct channel *channel, struct buf *frames)
{
	const struct frame *frame;
	struct err err;
	int got;

	if (channel->codec == NULL)
		return frames;
	frame_reader_feed(channel->ours, buf_str(frames), frames->len);
	buf_clear(frames);
	while ((got = frame_reader_next(channel->ours, &frame, &err)) == 1)
		channel->codec->encode(channel->state, frame, &channel->outgoing);
	assert(got == 0); /* the server made them */
	return &channel->outgoing;
}

int channel_take(struct channel *channel, const char *data, size_t len, struct frame_reader *reader,
		 struct err *err)
{
	if (channel->codec == NULL) {
		frame_reader_feed(reader, data, len);
		return 0;
	}
	if (channel->codec->decode(channel->state, data, len, &channel->incoming, err) < 0)
		return -1;
	frame_reader_feed(reader, buf_str(&channel->incoming), channel->incoming.len);
	buf_clear(&channel->incoming);
	return 0;
}
