/* SPDX-License-Identifier: MIT */
/*
 * order.h - what one session may reach, and how: read once, never changed.
 *
 *   {"hosts": "a.example *.b.example:8443", "allow_private": false, "bytes_max": 1073741824,
 *    "https_proxy": "http://...", "http_proxy": "...", "no_proxy": "..."}
 */
#ifndef PROXY_ORDER_H
#define PROXY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/hosts.h"
#include "net/upstream.h"

struct order_proxy {
	struct upstream at; /* host is "" where there is none */
	bool unusable;      /* one is named that we cannot speak to */
};

struct order {
	struct hosts *hosts;
	bool allow_private;
	uint64_t bytes_max; /* both ways together */
	/* The person's own proxies. */
	struct order_proxy https;
	struct order_proxy http;
	char *no_proxy;
};

/* From standard input. */
int order_take(struct order *ret_order, struct err *err) MUST_CHECK;
void order_release(struct order *order);
/*
 * The proxy through which `host` is reached by tunnels or by plain requests; NULL for none.
 * ERR_UNSUPPORTED when it cannot be used: never is it passed by.
 */
int order_find_upstream(const struct order *order, const char *host, bool tunnel,
			const struct upstream **ret_upstream, struct err *err) MUST_CHECK;

#endif
