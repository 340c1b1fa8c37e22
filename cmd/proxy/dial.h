/* SPDX-License-Identifier: MIT */
/*
 * dial.h - from a name to a connected socket: one lookup, every address judged, and a connection
 * to one of exactly these addresses.
 */
#ifndef PROXY_DIAL_H
#define PROXY_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "event/loop.h"
#include "net/verdict.h"
#include "resolver.h"

enum {
	DIAL_TRIES_MAX = 4, /* addresses */
	DIAL_SECONDS = 10,  /* for each */
};

enum dial_trust {
	DIAL_GLOBAL,  /* addresses of the world only */
	DIAL_PRIVATE, /* and of private networks and this machine */
	DIAL_ANY,     /* an endpoint of the person's own */
};

struct dial {
	struct loop *loop;
	struct loop_io io;
	struct loop_timer timer;
	int fd; /* connected, once it is done; to be taken with fd_steal */
	enum dial_trust trust;
	uint32_t question; /* whose answer it waits for; 0 for none */
	struct resolver_answer answer;
	uint32_t next; /* address to try */
	/* Once, from the loop. VERDICT_ALLOWED, or why not, with a clause or NULL. */
	void (*done)(struct dial *dial, enum verdict verdict, const char *detail);
};

/* `channel` is the resolver's; `question` not 0 and different from all that are open. */
void dial_start(struct dial *dial, int channel, uint32_t question, const char *host, uint16_t port);
void dial_answer(struct dial *dial, const struct resolver_answer *answer);
void dial_release(struct dial *dial);

#endif
