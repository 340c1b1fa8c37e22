/* SPDX-License-Identifier: MIT */
/*
 * ring.c - a ring buffer that is allocated with its first byte. Positions are taken from the total
 * number of bytes, so that it needs no second index.
 */
#include "runner/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/utf8.h"

void ring_release(struct ring *ring)
{
	free(ring->data);
	*ring = (struct ring){ .data = NULL };
}

void ring_add(struct ring *ring, const char *data, size_t len)
{
	if (ring->data == NULL)
		ring->data = xcalloc(1, RING_MAX);
	if (len > RING_MAX) { /* earlier bytes would be overwritten */
		ring->total += len - RING_MAX;
		data += len - RING_MAX;
		len = RING_MAX;
	}
	while (len > 0) {
		size_t at = ring->total % RING_MAX;
		size_t piece = size_min(len, RING_MAX - at);

		memcpy(ring->data + at, data, piece);
		ring->total += piece;
		data += piece;
		len -= piece;
	}
}

/* Skips the rest of a character that begins before the ring. */
static void skip_broken_start(const char *pieces[2], size_t lens[2])
{
	size_t skipped = 0;

	for (size_t i = 0; i < 2; i++) {
		while (skipped < UTF8_REST_MAX && lens[i] > 0 && utf8_continues(*pieces[i])) {
			pieces[i]++;
			lens[i]--;
			skipped++;
		}
		if (lens[i] > 0)
			return;
	}
}

size_t ring_pieces(const struct ring *ring, const char *pieces[2], size_t lens[2])
{
	size_t at = ring->total % RING_MAX;

	if (ring->total <= RING_MAX) {
		pieces[0] = ring->data;
		lens[0] = (size_t)ring->total;
		return ring->total > 0 ? 1 : 0;
	}
	pieces[0] = ring->data + at;
	lens[0] = RING_MAX - at;
	pieces[1] = ring->data;
	lens[1] = at;
	skip_broken_start(pieces, lens);
	return 2;
}

void ring_copy_end(const struct ring *ring, char *ret, size_t len)
{
	for (size_t i = 0; i < len; i++)
		ret[i] = ring->data[(ring->total - len + i) % RING_MAX];
}

void ring_drop_end(struct ring *ring, size_t len)
{
	for (size_t i = 0; i < len; i++)
		ring->data[--ring->total % RING_MAX] = '\0';
}
