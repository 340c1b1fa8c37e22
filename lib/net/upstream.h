/* SPDX-License-Identifier: MIT */
/*
 * upstream.h - the proxy that a person's environment names for reaching the world.
 *
 * https_proxy, http_proxy (lower case only: the other is set by CGI from a request), all_proxy
 * and no_proxy, as curl reads them. Only plain http:// proxies are spoken to.
 */
#ifndef NET_UPSTREAM_H
#define NET_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { UPSTREAM_HOST_MAX = 255, UPSTREAM_USER_MAX = 512 };

struct upstream {
	char host[UPSTREAM_HOST_MAX + 1]; /* a name or an address without brackets; "" is none */
	uint16_t port;
	char user[UPSTREAM_USER_MAX + 1]; /* "name:password", percent-decoded; "" is none */
};

/* What the environment says; borrowed from it. NULL when it says nothing. */
struct upstream_variables {
	const char *https_proxy;
	const char *http_proxy;
	const char *no_proxy;
	const char *authorities; /* a file of certificates in place of the system's */
};

void upstream_find(char *const *environment, struct upstream_variables *ret_variables);
/*
 * From `http://[user[:password]@]host[:port][/]`; the scheme may be missing. ERR_UNSUPPORTED for
 * another kind of proxy. Messages do not repeat what may hold a password.
 */
int upstream_parse(const char *url, struct upstream *ret_upstream, struct err *err) MUST_CHECK;
/* Does `no_proxy` ("*", names and suffixes separated by commas or blanks) name canonical `host`? */
bool upstream_excepted(const char *no_proxy, const char *host);

#endif
