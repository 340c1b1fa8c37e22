/* SPDX-License-Identifier: MIT */
/*
 * output.h - queued bytes for a descriptor that may be slow.
 *
 * Writing never blocks, also on a descriptor that is not set O_NONBLOCK (the flag may be shared
 * with the other side): it writes only what poll says fits, in pieces of at most PIPE_BUF there.
 * Above the high mark output_is_full() is true until the queue fell below the low mark: who
 * produces the bytes should stop reading meanwhile.
 */
#ifndef EVENT_OUTPUT_H
#define EVENT_OUTPUT_H

#include "base/buf.h"
#include "event/loop.h"

struct output;

struct output_handlers {
	void (*closed)(struct output *output); /* the reader is gone; nothing more is written */
	/* It fell below the low mark after being full; NULL: nobody stopped for that. */
	void (*drained)(struct output *output);
	void *owner; /* for output_owner */
};

enum { OUTPUT_HIGH_MARK = 4 << 20, OUTPUT_LOW_MARK = 1 << 20 };

/* `fd` is borrowed; `handlers` too, until free. */
struct output *output_new(struct loop *loop, int fd, const struct output_handlers *handlers);
/* The `owner` of its handlers. */
void *output_owner(const struct output *output);
/* Drops what is still queued. NULL is allowed. */
void output_free(struct output *output);
/* Queues a copy and writes what fits at once. After `closed` it does nothing. */
void output_write(struct output *output, const void *data, size_t len);
bool output_is_full(const struct output *output);
bool output_is_closed(const struct output *output);
/* The errno of the write that closed it; 0: none. */
int output_error(const struct output *output);
/* Bytes queued and not yet written. */
size_t output_pending(const struct output *output);

#endif
