/* SPDX-License-Identifier: MIT */
/*
 * dial.h - connects a socket to a name: one lookup, a verdict on every address, and a connection to
 * one of exactly these addresses.
 */
#ifndef PROXY_DIAL_H
#define PROXY_DIAL_H

#include <stdint.h>

#include "event/loop.h"
#include "net/verdict.h"
#include "resolver.h"

enum {
	DIAL_TRIES_MAX = 4, /* addresses */
	DIAL_SECONDS = 10,  /* for each address */
};

enum dial_trust {
	DIAL_GLOBAL,  /* global addresses only */
	DIAL_PRIVATE, /* also private networks and this machine */
	DIAL_ANY,     /* any: a proxy that the user configured */
};

struct dial {
	struct loop *loop;
	struct loop_io io;
	struct loop_timer timer;
	int fd; /* connected, when done; the owner takes it with fd_steal */
	enum dial_trust trust;
	uint32_t question; /* the resolver's question that is open; 0 for none */
	struct resolver_answer answer;
	uint32_t next; /* index of the address to try */
	/* Called once, from the loop, with VERDICT_ALLOWED or the reason. `detail` may be NULL. */
	void (*done)(struct dial *dial, enum verdict verdict, const char *detail);
};

/* Starts a dial. `channel` is the resolver's; `question` must not be 0 or equal to an open one. */
void dial_start(struct dial *dial, int channel, uint32_t question, const char *host, uint16_t port);
/* Delivers the answer to dial->question. May call `done` at once. */
void dial_answer(struct dial *dial, const struct resolver_answer *answer);
/* Stops the dial and closes its socket. `done` is not called. */
void dial_release(struct dial *dial);

#endif
