/* SPDX-License-Identifier: MIT */
/*
 * link.h - frames of ours into what a language's driver reads, and back.
 *
 * One a running interpreter. Without a codec both sides are frames already and nothing is copied.
 */
#ifndef RUNTIME_CHANNEL_H
#define RUNTIME_CHANNEL_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct frame_reader;
struct language_codec;
struct channel;

/* `codec` is borrowed, NULL for a driver that speaks frames. */
struct channel *channel_new(const struct language_codec *codec);
/* NULL is allowed. */
void channel_free(struct channel *link);
/* Our end of the row's descriptor "aside", borrowed, or -1. */
void channel_attach(struct channel *link, int fd);
/*
 * The bytes to be sent for what `frames` holds, which must be whole frames; the caller consumes
 * what it could send. Either `frames` itself, or the link's own buffer and `frames` is empty then.
 */
struct buf *channel_outgoing(struct channel *link, struct buf *frames);
/* Feeds what the driver wrote to `reader`. As language_codec.decode says. */
int channel_take(struct channel *link, const char *data, size_t len, struct frame_reader *reader,
		 struct err *err) MUST_CHECK;

#endif
