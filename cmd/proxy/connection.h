/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one connection of a program in the session, from its request to its end.
 *
 * One request each: after a tunnel or an answer it is closed, so that whatever follows needs a
 * connection, and a verdict, of its own.
 */
#ifndef PROXY_CONNECTION_H
#define PROXY_CONNECTION_H

#include "base/list.h"
#include "listener.h"
#include "resolver.h"

struct connection;

/* Frees itself at its end, which listener_forget() is told. */
void connection_start(struct listener *gate, int fd_own);
/* Of a node of gate->connections. */
struct connection *connection_of(struct list *node);
/* Ends it now. */
void connection_free(struct connection *connection);
/* True when it had asked this question. */
bool connection_answer(struct connection *connection, const struct resolver_answer *answer);

#endif
