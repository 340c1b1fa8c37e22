/* SPDX-License-Identifier: MIT */
/*
 * holdings.h - how much of the server's memory sessions hold by what their code says.
 *
 * A holder is a session: the pictures and long texts of its cells, until these are told, and what
 * has come of frames that are not whole. Where it holds HOLDER_MAX, or all together hold
 * HOLDINGS_MAX, there is no room: what would be kept is left out and told, but for the first
 * HOLDER_SURE_MAX of each, and frames that have grown most are not read on until there is room. So
 * no session loses anything by what another holds but time, and pictures beyond those first ones.
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
/* When all holders are freed; NULL is allowed. */
void holdings_free(struct holdings *holdings);

/* NULL for NULL, which holds what it likes. */
struct holder *holdings_join(struct holdings *holdings);
/* When it holds nothing. */
void holdings_leave(struct holder *holder);
bool holdings_has_room(const struct holder *holder, size_t bytes);
/* Whether there is room or not: who asked may know better. */
void holdings_take(struct holder *holder, size_t bytes);
void holdings_give_back(struct holder *holder, size_t bytes);

/* A channel on which a frame comes. Embedded in its owner; zero-initialised but for `resume`. */
struct incoming {
	struct list node;
	struct holder *holder;
	size_t bytes;
	bool stopped;
	void (*resume)(struct incoming *incoming); /* it may be read on */
};

/* So much is there of its frame; 0 when it is whole, and before its owner is freed. */
void holdings_set_incoming(struct incoming *incoming, struct holder *holder, size_t bytes);
/* Whether more of it is read; if not, `resume` is called once it may be, from the loop. */
bool holdings_may_grow(struct incoming *incoming);

#endif
