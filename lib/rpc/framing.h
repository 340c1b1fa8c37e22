/* SPDX-License-Identifier: MIT */
/*
 * framing.h - lines out of bytes in any chunking.
 *
 * A line ends with \n; one \r before it is dropped, lines of white space are skipped, and a byte
 * order mark before the first. A line longer than the cap is told once, with what came of it, and
 * skipped up to its \n. Lines lie in the input where they can: `line` is valid during its callback
 * only. No callback may feed.
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
	struct buf partial; /* a line whose \n has not come */
	bool skipping;      /* the rest of a line over the cap */
	bool begun;         /* a line has come */
};

/* `handlers` is borrowed. */
void framing_init(struct framing *framing, size_t line_max,
		  const struct framing_handlers *handlers);
void framing_release(struct framing *framing);
void framing_feed(struct framing *framing, const char *data, size_t len);
/* End of input: what is left counts as a line. */
void framing_end(struct framing *framing);

#endif
