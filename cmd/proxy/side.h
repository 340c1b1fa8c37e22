/* SPDX-License-Identifier: MIT */
/*
 * side.h - one end of a connection: a non-blocking socket, what came from it, what goes to it.
 *
 * Bytes are read while `in` has room and reading is asked for, written as the other side takes
 * them. Embedded in its owner.
 */
#ifndef PROXY_SIDE_H
#define PROXY_SIDE_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/loop.h"

enum { SIDE_BUFFER = 64 << 10 /* in; and above so much in out nothing should be added */ };

struct side {
	struct loop *loop;
	struct loop_io io;
	int fd; /* owned; -1 before side_open */
	struct buf in;
	struct buf out;
	bool reading; /* more is wanted */
	bool closing; /* nothing is added to `out` any more: then tell the other side */
	bool ended;   /* its last byte is in `in` */
	bool shut;    /* it was told our end */
	bool broken;  /* nothing can be written to it */
	void (*moved)(struct side *side); /* after bytes moved; may release the side */
};

void side_init(struct side *side, struct loop *loop, void (*moved)(struct side *side));
void side_open(struct side *side, int fd_own);
void side_release(struct side *side);
/* Writes what the socket takes, and waits for what is next. To be called after every change. */
void side_update(struct side *side);
/* Everything that was to be written is, or never can be. */
bool side_flushed(const struct side *side);

#endif
