/* SPDX-License-Identifier: MIT */
/*
 * output.h - queues bytes for a descriptor whose reader may be slow.
 *
 * Writing never blocks, even if the descriptor is not O_NONBLOCK (the flag may be shared with the
 * other side). It then writes only when poll reports room, and at most PIPE_BUF at once.
 *
 * output_is_full() is true from the high mark until the queue has fallen below the low mark. The
 * producer should pause meanwhile.
 */
#ifndef EVENT_OUTPUT_H
#define EVENT_OUTPUT_H

#include "base/buf.h"
#include "event/loop.h"

struct output;

struct output_handlers {
	void (*closed)(struct output *output); /* the reader is gone; nothing more is written */
	/* The queue fell below the low mark after it was full. May be NULL. */
	void (*drained)(struct output *output);
	void *owner; /* for output_owner */
};

enum { OUTPUT_HIGH_MARK = 4 << 20, OUTPUT_LOW_MARK = 1 << 20 };

/* Makes an output. `fd` and `handlers` are borrowed until output_free. */
struct output *output_new(struct loop *loop, int fd, const struct output_handlers *handlers);
/* Returns the `owner` of its handlers. */
void *output_owner(const struct output *output);
/* Frees the output and drops the queue. May be NULL. */
void output_free(struct output *output);
/* Queues a copy and writes what fits at once. Does nothing after `closed`. */
void output_write(struct output *output, const void *data, size_t len);
bool output_is_full(const struct output *output);
/* Returns the errno of the write that closed it, 0 for none. */
int output_error(const struct output *output);
/* Returns the number of bytes queued and not yet written. */
size_t output_pending(const struct output *output);

#endif
