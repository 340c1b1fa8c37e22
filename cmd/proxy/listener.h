/* SPDX-License-Identifier: MIT */
/*
 * gate.h - the proxy of one session: its listener, its connections, what they share.
 */
#ifndef PROXY_LISTENER_H
#define PROXY_LISTENER_H

#include <stdint.h>

#include "base/list.h"
#include "event/loop.h"
#include "request.h"
#include "stats.h"

enum { LISTENER_CONNECTIONS_MAX = 32 }; /* more wait in the listener's queue */

struct listener {
	struct loop *loop;
	const struct request *order;
	struct stats *tally;
	int resolver; /* its channel */
	struct loop_io answers;
	int listener;
	struct loop_io arrivals;
	struct loop_timer pause; /* after accept failed */
	struct list connections;
	size_t count;
	uint32_t next_question;
};

/* All is borrowed until listener_release. */
int listener_init(struct listener *gate, struct loop *loop, const struct request *order,
		  int resolver, int listener, struct err *err) MUST_CHECK;
void listener_release(struct listener *gate);
/* Never 0. */
uint32_t listener_question(struct listener *gate);
/* A connection, whose `node` is no longer in the list, has ended. */
void listener_forget(struct listener *gate);

#endif
