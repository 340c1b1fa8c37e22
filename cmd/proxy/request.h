/* SPDX-License-Identifier: MIT */
/*
 * request.h - what one session may reach, and how. It is read once and never changes.
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
	struct upstream at; /* host is "" for none */
	bool unusable;      /* the setting names a kind of proxy that is not supported */
};

struct request {
	struct host_list *hosts;
	bool allow_private;
	uint64_t bytes_max; /* sum of both directions */
	/* The user's own proxies. */
	struct request_proxy https;
	struct request_proxy http;
	char *no_proxy;
};

/* Reads the request from standard input. Returns -1 and sets *err. */
int request_take(struct request *ret_request, struct err *err) MUST_CHECK;
void request_release(struct request *request);
/*
 * Sets *ret_upstream to the proxy through which `host` is reached, by a tunnel or by plain
 * requests, or to NULL for none. Returns -1 and sets *err: ERR_UNSUPPORTED when the proxy cannot be
 * used. It is never bypassed.
 */
int request_find_upstream(const struct request *request, const char *host, bool tunnel,
			  const struct upstream **ret_upstream, struct err *err) MUST_CHECK;

#endif
