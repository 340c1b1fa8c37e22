/* SPDX-License-Identifier: MIT */
/*
 * proxy.h - the server's side of ptycell-proxy: the hosts that one session may reach, and did
 * reach.
 *
 * It takes over the listener that was made within the session's network. The program starts with
 * the first connection and lives as long as this object; its rights are fixed when the object is
 * made. A program that fails is not started again: the session has no network from then on, and
 * proxy_problem says why. Its reports are data of a program that reads hostile bytes.
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "net/host.h"
#include "net/verdict.h"

struct proxy;

enum { PROXY_ROWS_MAX = 65 };

struct proxy_spec {
	const char *helper; /* path of ptycell-proxy */
	const char *hosts;  /* in the form that net/host_list.h reads */
	bool allow_private;
	uint64_t bytes_max;
	char *const *environment; /* the user's, with https_proxy and similar variables */
};

/* Counts of the requests for one host and port. */
struct proxy_row {
	char host[HOST_MAX + 1]; /* canonical; "" for all requests that named no host */
	uint16_t port;           /* 0 if the request named none */
	uint64_t allowed;
	uint64_t refused;
	uint64_t failed; /* allowed, but the host was not reached */
	uint64_t sent;   /* bytes */
	uint64_t received;
	enum verdict last;
};

/*
 * Makes the session's proxy. `spec` is borrowed for the call; takes ownership of the listener.
 * Never fails: proxy_problem reports errors.
 */
struct proxy *proxy_new(struct loop *loop, const struct proxy_spec *spec, int listener_own);
/* Ends the program and frees the object. May be NULL. */
void proxy_free(struct proxy *proxy);
/* Returns row `index` of the last report, which is at most a second old; NULL past the end. */
const struct proxy_row *proxy_row(const struct proxy *proxy, size_t index);
/* Returns why the session has no network any more, or NULL. Borrowed until proxy_free. */
const char *proxy_problem(const struct proxy *proxy);

#endif
