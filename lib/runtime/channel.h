/* SPDX-License-Identifier: MIT */
/*
 * channel.h - turns the server's frames into what a driver reads, and its bytes back into frames.
 *
 * Each running interpreter has one. Without a codec both sides are frames and nothing is copied.
 */
#ifndef RUNTIME_CHANNEL_H
#define RUNTIME_CHANNEL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct frame_reader;
struct language_codec;
struct channel;

/* `codec` is borrowed; NULL for a driver that speaks frames. */
struct channel *channel_new(const struct language_codec *codec);
/* `channel` may be NULL. */
void channel_free(struct channel *channel);
/* Hands the codec the server's end of the descriptor "aside", or -1. `fd` is borrowed. */
void channel_attach(struct channel *channel, int fd);
/*
 * Returns the bytes to send for `frames`, which must be whole frames. The caller consumes what it
 * could send. The result is `frames` itself, or a buffer of the channel, and `frames` is then
 * empty.
 */
struct buf *channel_outgoing(struct channel *channel, struct buf *frames);
/*
 * Feeds bytes that the driver wrote to `reader`, as frames. Returns -1 and sets *err if they break
 * the codec's grammar: the channel must not be used again.
 */
int channel_take(struct channel *channel, const char *data, size_t len, struct frame_reader *reader,
		 struct err *err) MUST_CHECK;

#endif
