/* SPDX-License-Identifier: MIT */
/*
 * upstream.h - the proxy through which the user's environment reaches the world.
 *
 * It reads https_proxy, http_proxy, all_proxy and no_proxy as curl does. HTTP_PROXY in upper case
 * is ignored, because CGI sets it from a request. Only plain http:// proxies are supported.
 */
#ifndef NET_UPSTREAM_H
#define NET_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { UPSTREAM_HOST_MAX = 255, UPSTREAM_USER_MAX = 512 };

struct upstream {
	char host[UPSTREAM_HOST_MAX + 1]; /* a name, or an address without brackets; "" for none */
	uint16_t port;
	char user[UPSTREAM_USER_MAX + 1]; /* "name:password", percent-decoded; "" for none */
};

/* Variables of the environment, borrowed from it. NULL if not set. */
struct upstream_variables {
	const char *https_proxy;
	const char *http_proxy;
	const char *no_proxy;
	const char *authorities; /* a file of certificates that replaces the system's */
};

void upstream_find(char *const *environment, struct upstream_variables *ret_variables);
/*
 * Parses `http://[user[:password]@]host[:port][/]`; the scheme is optional. Returns -1 and sets
 * *err: ERR_UNSUPPORTED for another kind of proxy. Messages never repeat text that may hold a
 * password.
 */
int upstream_parse(const char *url, struct upstream *ret_upstream, struct err *err) MUST_CHECK;
/*
 * Returns whether `no_proxy` ("*", names and suffixes, separated by commas or blanks) names
 * canonical `host`.
 */
bool upstream_excepted(const char *no_proxy, const char *host);

#endif
