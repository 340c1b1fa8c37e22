/* SPDX-License-Identifier: MIT */
/*
 * holdings.h - limits the server memory that sessions hold by their code's output.
 *
 * A holder is a session. It holds the images and long texts of its cells until an answer has
 * reported them, and frames that have not arrived whole.
 *
 *   - The first HOLDER_SURE_MAX bytes of each holder always have room.
 *   - Beyond that there is room while the holder has less than HOLDER_MAX, and all together have
 *     less than HOLDINGS_MAX. Output without room is left out, with a note.
 *   - Without room, the server stops reading the larger frames, until the smaller ones are whole
 *     and there is room again.
 *
 * One session can thus cost another only time, and images beyond the first ones.
 */
#ifndef RUNNER_HOLDINGS_H
#define RUNNER_HOLDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

struct holder;
struct holdings;
struct loop;

enum {
	HOLDINGS_MAX = 256 << 20,
	HOLDER_MAX = 64 << 20,
	HOLDER_SURE_MAX = 2 << 20,
	HOLDER_FRAME_SURE_MAX = 256 << 10, /* of a frame that is always read on */
};

struct holdings *holdings_new(struct loop *loop);
/* Frees it. Must follow the end of all holders. May be NULL. */
void holdings_free(struct holdings *holdings);

/* Makes a holder. Returns NULL for NULL: such a holder has no limit. */
struct holder *holdings_join(struct holdings *holdings);
/* Frees a holder, which must hold nothing. */
void holdings_leave(struct holder *holder);
/* Returns whether the holder has room for so many bytes more. */
bool holdings_has_room(const struct holder *holder, size_t bytes);
/* Counts bytes, whether or not there is room: the caller may know better. */
void holdings_take(struct holder *holder, size_t bytes);
void holdings_give_back(struct holder *holder, size_t bytes);

/* A channel that receives a frame. Embedded in its owner; zero-initialised except for `resume`. */
struct incoming {
	struct list node;
	struct holder *holder;
	size_t bytes;
	bool stopped;
	void (*resume)(struct incoming *incoming); /* may continue to read */
};

/*
 * Sets how many bytes of its frame have arrived; 0 when it is complete, and before its owner is
 * freed.
 */
void holdings_set_incoming(struct incoming *incoming, struct holder *holder, size_t bytes);
/*
 * Returns whether the frame may be read on. If not, `resume` is called from the loop once it may.
 */
bool holdings_may_grow(struct incoming *incoming);

#endif
