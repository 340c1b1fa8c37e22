/* SPDX-License-Identifier: MIT */
/*
 * gate.h - holds the first calls that need a session until it is known how code is confined.
 *
 * Finding out takes some milliseconds and must not happen before somebody needs it, nor may a
 * session begin before. Code for which something better is about to be there is held, too, for as
 * long as its service says. Held calls go on in their order.
 */
#ifndef TOOLS_ADMISSION_H
#define TOOLS_ADMISSION_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "mcp/server.h"

struct confinement;
struct admission;
struct service;

/* What the gate asks of its service. */
struct admission_hooks {
	/* A tool is called. */
	void (*called)(struct service *service, const struct mcp_call *call);
	/* A session is wanted: NULL lets the call go on, to say why there is none. */
	struct confinement *(*confinement)(struct service *service);
	/* Code is held: what it will need can be prepared. */
	void (*code_waits)(struct service *service, json_t *arguments);
	/* It is known how code is confined; the held calls go on after this. */
	void (*settled)(struct service *service);
	/* For how many milliseconds code that could run had better wait for admission_release. */
	uint64_t (*wait_ms)(struct service *service, json_t *arguments);
};

/*
 * Puts itself before every tool of `features`, whose context is the service: ->tools is replaced by
 * rows that call the gate. `hooks` is borrowed.
 */
struct admission *admission_new(struct loop *loop, struct mcp_features *features,
				const struct admission_hooks *hooks);
/* What calls were held for by `wait_ms` is there, or will not come. */
void admission_release(struct admission *gate);
/* No call is held any more. NULL is allowed. */
void admission_free(struct admission *gate);

#endif
