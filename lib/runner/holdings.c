/* SPDX-License-Identifier: MIT */
/*
 * holdings.c - counts what sessions hold. Above the sum only frames that are smaller than the
 * average grow on: they become complete and give back their memory, so that the sum falls and the
 * others can continue.
 */
#include "runner/holdings.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "event/loop.h"

struct holdings {
	struct loop *loop;
	size_t sum;
	size_t holders;
	struct list incoming; /* those that have received something */
	size_t incoming_sum;
	size_t stopped; /* number of stopped ones */
	struct loop_defer wake;
};

struct holder {
	struct holdings *holdings;
	size_t bytes;
};

struct holdings *holdings_new(struct loop *loop)
{
	struct holdings *h = xcalloc(1, sizeof(*h));

	h->loop = loop;
	list_init(&h->incoming);
	return h;
}

void holdings_free(struct holdings *h)
{
	if (h == NULL)
		return;
	assert(h->holders == 0 && h->sum == 0);
	loop_defer_stop(&h->wake);
	free(h);
}

struct holder *holdings_join(struct holdings *h)
{
	struct holder *holder;

	if (h == NULL)
		return NULL;
	holder = xcalloc(1, sizeof(*holder));
	holder->holdings = h;
	h->holders++;
	return holder;
}

void holdings_leave(struct holder *holder)
{
	if (holder == NULL)
		return;
	assert(holder->bytes == 0);
	holder->holdings->holders--;
	free(holder);
}

bool holdings_has_room(const struct holder *holder, size_t bytes)
{
	if (holder == NULL || holder->bytes + bytes <= HOLDER_SURE_MAX)
		return true;
	return holder->bytes + bytes <= HOLDER_MAX && holder->holdings->sum + bytes <= HOLDINGS_MAX;
}

void holdings_take(struct holder *holder, size_t bytes)
{
	if (holder == NULL)
		return;
	holder->bytes += bytes;
	holder->holdings->sum += bytes;
}

/* ---- frames ---- */

/*
 * Above the sum, frames below the average may grow: they become complete and give back their
 * memory.
 */
static bool may_grow(const struct incoming *in)
{
	const struct holder *holder = in->holder;
	const struct holdings *h = holder->holdings;

	if (in->bytes <= HOLDER_FRAME_SURE_MAX)
		return true;
	if (holder->bytes >= HOLDER_MAX)
		return false;
	return h->sum < HOLDINGS_MAX || in->bytes * list_len(&h->incoming) < h->incoming_sum;
}

static void set_stopped(struct incoming *in, bool stopped)
{
	struct holdings *h = in->holder->holdings;

	if (stopped && !in->stopped)
		h->stopped++;
	if (!stopped && in->stopped)
		h->stopped--;
	in->stopped = stopped;
}

static void on_wake(struct loop_defer *defer)
{
	struct holdings *h = container_of(defer, struct holdings, wake);

	list_for_each (struct incoming, in, &h->incoming, node) {
		if (!in->stopped || !may_grow(in))
			continue;
		set_stopped(in, false);
		in->resume(in);
	}
}

void holdings_give_back(struct holder *holder, size_t bytes)
{
	if (holder == NULL || bytes == 0)
		return;
	assert(bytes <= holder->bytes);
	holder->bytes -= bytes;
	holder->holdings->sum -= bytes;
	if (holder->holdings->stopped > 0)
		loop_defer_start(holder->holdings->loop, &holder->holdings->wake, on_wake);
}

static void leave(struct incoming *in)
{
	if (in->bytes == 0)
		return;
	in->holder->holdings->incoming_sum -= in->bytes;
	holdings_give_back(in->holder, in->bytes);
	in->bytes = 0;
	set_stopped(in, false);
	list_remove(&in->node);
}

void holdings_set_incoming(struct incoming *in, struct holder *holder, size_t bytes)
{
	bool stopped = in->stopped;

	if (in->bytes == bytes && in->holder == holder)
		return;
	leave(in);
	in->holder = holder;
	if (holder == NULL || bytes == 0)
		return;
	in->bytes = bytes;
	list_init(&in->node);
	list_append(&holder->holdings->incoming, &in->node);
	holder->holdings->incoming_sum += bytes;
	holdings_take(holder, bytes);
	set_stopped(in, stopped);
}

bool holdings_may_grow(struct incoming *in)
{
	if (in->bytes == 0)
		return true;
	set_stopped(in, !may_grow(in));
	return !in->stopped;
}
