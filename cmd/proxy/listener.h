/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the proxy of one session: the listening socket, the connections, and what they
 * share.
 */
#ifndef PROXY_LISTENER_H
#define PROXY_LISTENER_H

#include <stdint.h>

#include "base/list.h"
#include "event/loop.h"
#include "request.h"
#include "stats.h"

enum { LISTENER_CONNECTIONS_MAX = 32 }; /* further ones wait in the socket's backlog */

struct listener {
	struct loop *loop;
	const struct request *request;
	struct stats *stats;
	int resolver; /* the resolver's channel */
	struct loop_io answers;
	int fd;
	struct loop_io incoming;
	struct loop_timer pause; /* runs after accept failed */
	struct list connections;
	size_t count;
	uint32_t next_question;
};

/* Starts listening. All arguments are borrowed until listener_release. Returns -1 and sets *err. */
int listener_init(struct listener *listener, struct loop *loop, const struct request *request,
		  int resolver, int listen_fd, struct err *err) MUST_CHECK;
/* Ends all connections and frees the statistics. */
void listener_release(struct listener *listener);
/* Returns a new number for a question to the resolver, never 0. */
uint32_t listener_question(struct listener *listener);
/* Records that a connection, whose `node` has left the list, has ended. */
void listener_forget(struct listener *listener);

#endif
