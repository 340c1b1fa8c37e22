/* SPDX-License-Identifier: MIT */
/*
 * framing.h - cuts bytes that arrive in any chunks into lines.
 *
 * A line ends with \n; one \r before it is dropped. Lines of white space are skipped, and so is a
 * byte order mark before the first line. A line longer than the maximum is reported once, with the
 * part of it that arrived, and skipped up to its \n. A line is not copied if the input holds all of
 * it: `line` is valid only during its callback. No callback may call framing_feed.
 */
#ifndef RPC_FRAMING_H
#define RPC_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct framing;

struct framing_handlers {
	void (*line)(struct framing *framing, const char *line, size_t len);
	void (*too_long)(struct framing *framing, const char *start, size_t len);
};

struct framing {
	const struct framing_handlers *handlers;
	size_t line_max;
	struct buf partial; /* a line whose \n has not arrived */
	bool skipping;      /* the rest of a line over the maximum */
	bool begun;         /* a line has arrived */
};

/* Prepares an empty framing. `handlers` is borrowed until framing_release. */
void framing_init(struct framing *framing, size_t line_max,
		  const struct framing_handlers *handlers);
void framing_release(struct framing *framing);
void framing_feed(struct framing *framing, const char *data, size_t len);
/* Ends the input: the rest counts as a line. */
void framing_end(struct framing *framing);

#endif
