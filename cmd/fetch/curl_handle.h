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
#ifndef FETCH_CURL_HANDLE_H
#define FETCH_CURL_HANDLE_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "job.h"

enum { CURL_HANDLE_HOST_MAX = 255 };

/* Which addresses a transfer may go to. */
enum curl_handle_reach {
	CURL_HANDLE_WORLD,   /* global ones */
	CURL_HANDLE_PRIVATE, /* also this machine and its networks */
	CURL_HANDLE_ANY,     /* the person named the host */
};

struct curl_handle {
	CURL *curl; /* for further options; ERRORBUFFER and OPENSOCKET are this module's */
	const struct job *order;
	enum curl_handle_reach reach;
	char host[CURL_HANDLE_HOST_MAX + 1]; /* of the last curl_handle_aim */
	bool proxied;
	const char *refused; /* what an address was that was not connected to; static, or NULL */
	char said[CURL_ERROR_SIZE];
};

/* `order` is borrowed until free. */
struct curl_handle *curl_handle_new(const struct job *order, enum curl_handle_reach reach,
				    struct err *err) MUST_CHECK;
/* NULL is allowed. */
void curl_handle_free(struct curl_handle *handle);
/* The next transfer goes there; sets URL, proxy and what is left of the deadline. */
int curl_handle_aim(struct curl_handle *handle, CURLU *url, struct err *err) MUST_CHECK;
/* Would `host` of `scheme` be reached by way of a proxy? */
bool curl_handle_proxied(const struct job *order, const char *scheme, const char *host);
/* Why a transfer failed, as a sentence that names the host and no URL. Always -1. */
int curl_handle_explain(const struct curl_handle *handle, CURLcode code, struct err *err);
/* A part of `url`, as curl_url_get with `flags`: freed with curl_free; NULL when it has none. */
char *curl_handle_part(CURLU *url, CURLUPart part, unsigned int flags);

#endif
