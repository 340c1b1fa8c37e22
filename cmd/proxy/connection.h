/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one connection of a program in the session, from its request to its end.
 *
 * A connection carries one request. After a tunnel or a response it is closed, so the next request
 * needs a new connection and a new verdict.
 */
#ifndef PROXY_CONNECTION_H
#define PROXY_CONNECTION_H

#include "base/list.h"
#include "listener.h"
#include "resolver.h"

struct connection;

/*
 * Starts a connection on `fd_own`, which it owns. It frees itself at its end and calls
 * listener_forget().
 */
void connection_start(struct listener *listener, int fd_own);
/* Returns the connection of a node in listener->connections. */
struct connection *connection_of(struct list *node);
/* Ends the connection at once and frees it. */
void connection_free(struct connection *connection);
/* Delivers a resolver's answer. Returns true when this connection had asked the question. */
bool connection_answer(struct connection *connection, const struct resolver_answer *answer);

#endif
