/* SPDX-License-Identifier: MIT */
/* ring.h - the last bytes of a stream of text. */
#ifndef RUNNER_RING_H
#define RUNNER_RING_H

#include <stddef.h>
#include <stdint.h>

enum { RING_MAX = 32 << 10 };

/* Zero-initialised. */
struct ring {
	char *data;     /* allocated with the first byte */
	uint64_t total; /* bytes that ever went in */
};

void ring_release(struct ring *ring);
void ring_add(struct ring *ring, const char *data, size_t len);
/*
 * What is held in order, in at most two pieces; without the rest of a character that begins before
 * it. Returns how many.
 */
size_t ring_pieces(const struct ring *ring, const char *pieces[2], size_t lens[2]);
/* Copies the last `len` bytes, which are held. */
void ring_copy_end(const struct ring *ring, char *ret, size_t len);
/* Takes the last `len` bytes back. Of a full ring the oldest are then gone: they become nothing. */
void ring_drop_end(struct ring *ring, size_t len);

#endif
