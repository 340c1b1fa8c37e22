/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "peer.h"

enum { STEP_MS = 50 };

struct peer_timer {
	struct peer *peer;
	struct list node;
	struct loop_timer timer;
	struct mcp_call *call;
	peer_step_fn *step;
	int next;
};

static void free_timer(struct peer_timer *t)
{
	loop_timer_stop(&t->timer);
	list_remove(&t->node);
	free(t);
}

static void on_cancelled(struct mcp_call *call, void *data)
{
	free_timer(data);
	mcp_call_fail(call, "cancelled");
}

static void on_step(struct loop_timer *timer)
{
	struct peer_timer *t = container_of(timer, struct peer_timer, timer);

	if (!t->step(t->call, t->next++)) {
		free_timer(t);
		return;
	}
	loop_timer_start(t->peer->loop, timer, loop_now(t->peer->loop) + STEP_MS, on_step);
}

void peer_steps(struct peer *peer, struct mcp_call *call, peer_step_fn *step)
{
	struct peer_timer *t = xcalloc(1, sizeof(*t));

	t->peer = peer;
	t->call = call;
	t->step = step;
	list_init(&t->node);
	list_append(&peer->timers, &t->node);
	mcp_call_on_cancel(call, on_cancelled, t);
	on_step(&t->timer);
}

void peer_timers_stop(struct peer *peer)
{
	list_for_each (struct peer_timer, t, &peer->timers, node) {
		struct mcp_call *call = t->call;

		free_timer(t);
		mcp_call_fail(call, "the server is ending");
	}
}
