/* SPDX-License-Identifier: MIT */
/*
 * order.h - what one session may reach, and how: read once, never changed.
 *
 *   {"hosts": "a.example *.b.example:8443", "allow_private": false, "bytes_max": 1073741824,
 *    "https_proxy": "http://...", "http_proxy": "...", "no_proxy": "..."}
 */
#ifndef PROXY_REQUEST_H
#define PROXY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/host_list.h"
#include "net/upstream.h"

struct request_proxy {
	struct upstream at; /* host is "" where there is none */
	bool unusable;      /* one is named that we cannot speak to */
};

struct request {
	struct host_list *hosts;
	bool allow_private;
	uint64_t bytes_max; /* both ways together */
	/* The person's own proxies. */
	struct request_proxy https;
	struct request_proxy http;
	char *no_proxy;
};

/* From standard input. */
int request_take(struct request *ret_order, struct err *err) MUST_CHECK;
void request_release(struct request *order);
/*
 * The proxy through which `host` is reached by tunnels or by plain requests; NULL for none.
 * ERR_UNSUPPORTED when it cannot be used: never is it passed by.
 */
int request_find_upstream(const struct request *order, const char *host, bool tunnel,
			  const struct upstream **ret_upstream, struct err *err) MUST_CHECK;

#endif
