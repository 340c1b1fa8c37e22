/* SPDX-License-Identifier: MIT */
/*
 * listener.h - a server's end of its socket: takes requests, sends replies, from the event loop.
 *
 * A connection carries one request, a line of JSON, and the lines of its reply. A peer may be slow
 * or hostile: the number of connections, the length of a request, the time for it and what waits to
 * be read are limited, and nothing here blocks.
 *
 *   request   {"ptycell": 1, "command": WORD, ...}
 *   reply     {"ok": true, ...}, or {"ok": false, "code": WORD, "error": SENTENCE}; a command may
 *             send further lines
 *
 * Peers of another user are turned away without a word.
 */
#ifndef CONTROL_LISTENER_H
#define CONTROL_LISTENER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "event/loop.h"

struct listener;
struct peer;

/* The version of requests and replies. */
#define LISTENER_PROTOCOL 1

enum {
	LISTENER_PEERS_MAX = 16,  /* connections at a time; further ones wait in the kernel */
	LISTENER_STREAMS_MAX = 8, /* of them, those that listener_stream() keeps open */
	LISTENER_REQUEST_MAX = 64 << 10,
	LISTENER_REQUEST_MS = 5000,       /* from the connection to the whole request */
	LISTENER_REPLY_MS = 10000,        /* from the reply until the peer has read it */
	LISTENER_PENDING_MAX = 256 << 10, /* of a stream: bytes that the peer has not read */
};

struct listener_handlers {
	/*
	 * A request has arrived. It must be answered by listener_answer, listener_refuse,
	 * listener_stream or listener_give_away before the function returns. `request` is borrowed
	 * for the call.
	 */
	void (*request)(struct peer *peer, const json_t *request, void *data);
	/*
	 * A peer whose stream was open is gone, and freed after the call. Comes from the loop, in
	 * a turn of its own.
	 */
	void (*gone)(struct peer *peer, void *data);
};

/*
 * Makes a socket in the folder SOCKETS_FOLDER of `home_fd`, which is borrowed for the call, and
 * removes the sockets of dead servers. Returns NULL and sets *err.
 */
struct listener *listener_new(struct loop *loop, int home_fd,
			      const struct listener_handlers *handlers, void *data,
			      struct err *err) MUST_CHECK;
/* Removes the socket and ends all connections, without `gone`. May be NULL. */
void listener_free(struct listener *listener);
/* Returns whether the socket still has its name: users remove caches while servers run. */
bool listener_is_reachable(const struct listener *listener);
/* Returns how many connections are open. */
size_t listener_peers(const struct listener *listener);

/* Sends the reply and ends the connection once it was read. Adds "ok" to the object. */
void listener_answer(struct peer *peer, json_t *reply_own);
/* Sends an error as the reply. */
void listener_refuse(struct peer *peer, const struct err *err);
/*
 * Sends the first line of a reply and keeps the connection open for further ones. Returns false if
 * there are as many as there may be; the peer was refused then.
 */
bool listener_stream(struct peer *peer, json_t *reply_own);
/*
 * Sends a further line. Returns false if the peer has not read enough of the earlier ones: the line
 * is dropped.
 */
bool listener_send(struct peer *peer, const json_t *line);
/*
 * Sends the reply and gives the connection to the caller, which owns the descriptor. Returns -1 if
 * the peer is gone or does not read. `peer` must not be used any more.
 */
int listener_give_away(struct peer *peer, json_t *reply_own);
/* Ends a stream once the peer has read it. `gone` is not called. */
void listener_end(struct peer *peer);

#endif
