/* SPDX-License-Identifier: MIT */
/*
 * gate.h - holds the first calls that need a session until it is known how code is confined.
 *
 * Finding out takes some milliseconds and must not happen before somebody needs it, nor may a
 * session begin before. Held calls go on in their order.
 */
#ifndef TOOLS_GATE_H
#define TOOLS_GATE_H

#include <jansson.h>
#include <stddef.h>

#include "event/loop.h"
#include "mcp/server.h"

struct confinement;
struct gate;
struct service;

/* What the gate asks of its service. */
struct gate_hooks {
	/* A session is wanted: NULL lets the call go on, to say why there is none. */
	struct confinement *(*confinement)(struct service *service);
	/* Code is held: what it will need can be prepared. */
	void (*code_waits)(struct service *service, json_t *arguments);
	/* It is known how code is confined; the held calls go on after this. */
	void (*settled)(struct service *service);
};

/*
 * Puts itself before every tool of `features`, whose context is the service: ->tools is replaced by
 * rows that call the gate. `hooks` is borrowed.
 */
struct gate *gate_new(struct loop *loop, struct mcp_features *features,
		      const struct gate_hooks *hooks);
/* What the rows named exec_code and interact say of themselves; borrowed. */
void gate_annotate(struct gate *gate, const char *annotations);
/* No call is held any more. NULL is allowed. */
void gate_free(struct gate *gate);

#endif
