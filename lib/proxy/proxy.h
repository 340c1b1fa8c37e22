/* SPDX-License-Identifier: MIT */
/*
 * proxy.h - the server's side of ptycell-proxy: which hosts one session may reach, and did.
 *
 * Takes the listener that was made inside the session's network. The program starts with the
 * first connection and lives as long as this object; what it may do is fixed when the object is
 * made. One that fails is not started again: the session is then without network, and
 * proxy_problem tells why. What it reports is data of a program that reads hostile bytes.
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"
#include "net/host.h"
#include "net/verdict.h"

struct proxy;

enum { PROXY_ROWS_MAX = 65 };

struct proxy_spec {
	const char *helper; /* path of ptycell-proxy */
	const char *hosts;  /* as net/host_list.h reads it */
	bool allow_private;
	uint64_t bytes_max;
	char *const *environment; /* the person's: https_proxy and its kin */
};

/* What became of requests for one host and port. */
struct proxy_row {
	char host[HOST_MAX + 1]; /* canonical; "" together for requests that named none */
	uint16_t port;           /* 0 then */
	uint64_t allowed;
	uint64_t refused;
	uint64_t failed; /* allowed, but the host was not reached */
	uint64_t sent;   /* bytes */
	uint64_t received;
	enum verdict last;
};

/* `spec` is borrowed for the call. The listener is taken. */
struct proxy *proxy_new(struct loop *loop, const struct proxy_spec *spec, int listener_own);
/* Ends the program. NULL is allowed. */
void proxy_free(struct proxy *proxy);
/* As last reported, at most a second late; NULL past the end. */
const struct proxy_row *proxy_row(const struct proxy *proxy, size_t index);
/* Why there is no network any more, or NULL. */
const char *proxy_problem(const struct proxy *proxy);

#endif
