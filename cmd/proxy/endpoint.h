/* SPDX-License-Identifier: MIT */
/*
 * endpoint.h - one end of a connection: a non-blocking socket, the bytes from it, and the bytes to
 * it.
 *
 * Bytes are read while `in` has room and `reading` is set. They are written as the socket takes
 * them. The struct is embedded in its owner.
 */
#ifndef PROXY_ENDPOINT_H
#define PROXY_ENDPOINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/loop.h"

enum { ENDPOINT_BUFFER = 64 << 10 /* size of `in`; the owner adds nothing to `out` above it */ };

struct endpoint {
	struct loop *loop;
	struct loop_io io;
	int fd; /* owned; -1 before endpoint_open */
	struct buf in;
	struct buf out;
	bool reading; /* the owner wants more bytes */
	bool closing; /* `out` is complete: shut down the socket's writing side once it is empty */
	bool ended;   /* the peer's last byte is in `in` */
	bool shut;    /* the writing side is shut down */
	bool broken;  /* the socket takes no more bytes */
	/* called after bytes moved; may release the endpoint */
	void (*moved)(struct endpoint *endpoint);
};

void endpoint_init(struct endpoint *endpoint, struct loop *loop,
		   void (*moved)(struct endpoint *endpoint));
/* Takes ownership of `fd_own`, a non-blocking socket. endpoint_update() must follow. */
void endpoint_open(struct endpoint *endpoint, int fd_own);
void endpoint_release(struct endpoint *endpoint);
/*
 * Writes what the socket takes and updates what the loop waits for. Must be called after every
 * change.
 */
void endpoint_update(struct endpoint *endpoint);
/* Returns true when `out` is written, or never can be. */
bool endpoint_flushed(const struct endpoint *endpoint);

#endif
