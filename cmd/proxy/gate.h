/* SPDX-License-Identifier: MIT */
/*
 * gate.h - the proxy of one session: its listener, its connections, what they share.
 */
#ifndef PROXY_GATE_H
#define PROXY_GATE_H

#include <stdint.h>

#include "base/list.h"
#include "event/loop.h"
#include "order.h"
#include "tally.h"

enum { GATE_CONNECTIONS_MAX = 32 }; /* more wait in the listener's queue */

struct gate {
	struct loop *loop;
	const struct order *order;
	struct tally *tally;
	int resolver; /* its channel */
	struct loop_io answers;
	int listener;
	struct loop_io arrivals;
	struct loop_timer pause; /* after accept failed */
	struct list connections;
	size_t count;
	uint32_t next_question;
};

/* All is borrowed until gate_release. */
int gate_init(struct gate *gate, struct loop *loop, const struct order *order, int resolver,
	      int listener, struct err *err) MUST_CHECK;
void gate_release(struct gate *gate);
/* Never 0. */
uint32_t gate_question(struct gate *gate);
/* A connection, whose `node` is no longer in the list, has ended. */
void gate_forget(struct gate *gate);

#endif
