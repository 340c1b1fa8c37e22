/* SPDX-License-Identifier: MIT */
/*
 * curl_handle.h - a libcurl handle with the limits that all transfers have.
 *
 * It speaks HTTP and HTTPS only and checks certificates. The caller follows redirects. It reads
 * nothing of the environment, no .netrc and no configuration: proxies come from the request. Every
 * address is judged when its socket is made, so a name server cannot change its answer between the
 * check and the connection. Where a proxy carries the request, the connection goes to the proxy,
 * which resolves the name. The caller can then judge only hosts that are written as addresses.
 */
#ifndef FETCH_CURL_HANDLE_H
#define FETCH_CURL_HANDLE_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "job.h"

enum { CURL_HANDLE_HOST_MAX = 255 };

/* The addresses that a transfer may connect to. */
enum curl_handle_reach {
	CURL_HANDLE_WORLD,   /* global ones */
	CURL_HANDLE_PRIVATE, /* also this machine and its networks */
	CURL_HANDLE_ANY,     /* all: the user named the host */
};

struct curl_handle {
	CURL *curl; /* for further options; ERRORBUFFER and OPENSOCKET belong to this module */
	const struct job *job;
	enum curl_handle_reach reach;
	char host[CURL_HANDLE_HOST_MAX + 1]; /* of the last curl_handle_aim */
	bool proxied;
	const char *refused; /* the kind of address that was refused; static, may be NULL */
	char message[CURL_ERROR_SIZE];
};

/* Returns a handle, or NULL and sets *err. `job` is borrowed until free. */
struct curl_handle *curl_handle_new(const struct job *job, enum curl_handle_reach reach,
				    struct err *err) MUST_CHECK;
/* Frees the handle, which may be NULL. */
void curl_handle_free(struct curl_handle *handle);
/* Sets URL, proxy and the rest of the deadline for the next transfer. Returns -1 and sets *err. */
int curl_handle_aim(struct curl_handle *handle, CURLU *url, struct err *err) MUST_CHECK;
/*
 * Sets *err to a sentence on why a transfer failed, which names the host and not the URL. Always
 * returns -1.
 */
int curl_handle_explain(const struct curl_handle *handle, CURLcode code, struct err *err);
/*
 * Returns a part of `url`, as curl_url_get with `flags`. The caller frees it with curl_free.
 * Returns NULL when the URL has no such part.
 */
char *curl_handle_part(CURLU *url, CURLUPart part, unsigned int flags);

#endif
