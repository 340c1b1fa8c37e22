/* SPDX-License-Identifier: MIT */
/*
 * handle.h - a libcurl handle that has the limits of all our transfers.
 *
 * HTTP and HTTPS only; certificates are checked; redirects are the caller's to follow; nothing
 * of the environment, no .netrc, no configuration is read: proxies come from the order. Every
 * address is judged when its socket is made, so that a name server cannot change its mind between
 * a look and the connection. Where a proxy carries the request, the connection is to the proxy
 * and the name is the proxy's to resolve: then only hosts that are written as addresses can be
 * judged, by the caller.
 */
#ifndef FETCH_HANDLE_H
#define FETCH_HANDLE_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "order.h"

enum { HANDLE_HOST_MAX = 255 };

/* Which addresses a transfer may go to. */
enum handle_reach {
	HANDLE_WORLD,   /* global ones */
	HANDLE_PRIVATE, /* also this machine and its networks */
	HANDLE_ANY,     /* the person named the host */
};

struct handle {
	CURL *curl; /* for further options; ERRORBUFFER and OPENSOCKET are this module's */
	const struct order *order;
	enum handle_reach reach;
	char host[HANDLE_HOST_MAX + 1]; /* of the last handle_aim */
	bool proxied;
	const char *refused; /* what an address was that was not connected to; static, or NULL */
	char said[CURL_ERROR_SIZE];
};

/* `order` is borrowed until free. */
struct handle *handle_new(const struct order *order, enum handle_reach reach,
			  struct err *err) MUST_CHECK;
/* NULL is allowed. */
void handle_free(struct handle *handle);
/* The next transfer goes there; sets URL, proxy and what is left of the deadline. */
int handle_aim(struct handle *handle, CURLU *url, struct err *err) MUST_CHECK;
/* Would `host` of `scheme` be reached by way of a proxy? */
bool handle_proxied(const struct order *order, const char *scheme, const char *host);
/* Why a transfer failed, as a sentence that names the host and no URL. Always -1. */
int handle_explain(const struct handle *handle, CURLcode code, struct err *err);
/* A part of `url`, as curl_url_get with `flags`: freed with curl_free; NULL when it has none. */
char *handle_part(CURLU *url, CURLUPart part, unsigned int flags);

#endif
