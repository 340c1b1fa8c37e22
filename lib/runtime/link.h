/* SPDX-License-Identifier: MIT */
/*
 * link.h - frames of ours into what a language's driver reads, and back.
 *
 * One a running interpreter. Without a codec both sides are frames already and nothing is copied.
 */
#ifndef RUNTIME_LINK_H
#define RUNTIME_LINK_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct frame_reader;
struct language_codec;
struct link;

/* `codec` is borrowed, NULL for a driver that speaks frames. */
struct link *link_new(const struct language_codec *codec);
/* NULL is allowed. */
void link_free(struct link *link);
/* Our end of the row's descriptor "aside", borrowed, or -1. */
void link_attach(struct link *link, int fd);
/*
 * The bytes to be sent for what `frames` holds, which must be whole frames; the caller consumes
 * what it could send. Either `frames` itself, or the link's own buffer and `frames` is empty then.
 */
struct buf *link_outgoing(struct link *link, struct buf *frames);
/* Feeds what the driver wrote to `reader`. As language_codec.decode says. */
int link_take(struct link *link, const char *data, size_t len, struct frame_reader *reader,
	      struct err *err) MUST_CHECK;

#endif
