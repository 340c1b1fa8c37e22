/* SPDX-License-Identifier: MIT */
/*
 * side.h - one end of a connection: a non-blocking socket, what came from it, what goes to it.
 *
 * Bytes are read while `in` has room and reading is asked for, written as the other side takes
 * them. Embedded in its owner.
 */
#ifndef PROXY_ENDPOINT_H
#define PROXY_ENDPOINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/loop.h"

enum { ENDPOINT_BUFFER = 64 << 10 /* in; and above so much in out nothing should be added */ };

struct endpoint {
	struct loop *loop;
	struct loop_io io;
	int fd; /* owned; -1 before endpoint_open */
	struct buf in;
	struct buf out;
	bool reading; /* more is wanted */
	bool closing; /* nothing is added to `out` any more: then tell the other side */
	bool ended;   /* its last byte is in `in` */
	bool shut;    /* it was told our end */
	bool broken;  /* nothing can be written to it */
	void (*moved)(struct endpoint *side); /* after bytes moved; may release the side */
};

void endpoint_init(struct endpoint *side, struct loop *loop, void (*moved)(struct endpoint *side));
void endpoint_open(struct endpoint *side, int fd_own);
void endpoint_release(struct endpoint *side);
/* Writes what the socket takes, and waits for what is next. To be called after every change. */
void endpoint_update(struct endpoint *side);
/* Everything that was to be written is, or never can be. */
bool endpoint_flushed(const struct endpoint *side);

#endif
