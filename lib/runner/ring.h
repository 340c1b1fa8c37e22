/* SPDX-License-Identifier: MIT */
/* ring.h - keeps the last bytes of a stream of text. */
#ifndef RUNNER_RING_H
#define RUNNER_RING_H

#include <stddef.h>
#include <stdint.h>

enum { RING_MAX = 32 << 10 };

/* Zero-initialised. */
struct ring {
	char *data;     /* allocated with the first byte */
	uint64_t total; /* bytes that were ever added */
};

void ring_release(struct ring *ring);
void ring_add(struct ring *ring, const char *data, size_t len);
/*
 * Returns the pieces, at most two, that are held, in order. The rest of a character that begins
 * before them is left out. Returns their number.
 */
size_t ring_pieces(const struct ring *ring, const char *pieces[2], size_t lens[2]);
/* Copies the last `len` bytes, which must be held. */
void ring_copy_end(const struct ring *ring, char *ret, size_t len);
/*
 * Removes the last `len` bytes. A full ring does not get back the bytes that it lost: NUL stands
 * for them.
 */
void ring_drop_end(struct ring *ring, size_t len);

#endif
