/* SPDX-License-Identifier: MIT */
/*
 * redirect.h - follows a download from URL to URL and decides whether it may go there.
 *
 * Checked here are the scheme, the list of hosts, and hosts that are written as localhost or as
 * addresses in any notation. The addresses of a name are checked when the socket is made
 * (curl_handle.h).
 */
#ifndef FETCH_REDIRECT_H
#define FETCH_REDIRECT_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/host_list.h"

struct redirect_rules {
	const struct host_list *hosts; /* may be NULL: any */
	bool allow_private;
};

/*
 * Returns a new URL, freed with curl_url_cleanup, or NULL and sets *err. Messages do not repeat the
 * URL: it may hold a secret.
 */
CURLU *redirect_start(const char *url, struct err *err) MUST_CHECK;
/* Moves `url` to the target of a redirect. Returns -1 and sets *err. */
int redirect_follow(CURLU *url, const char *location, struct err *err) MUST_CHECK;
/* Returns -1 and sets *err when the rules forbid `url`. */
int redirect_check(CURLU *url, const struct redirect_rules *rules, struct err *err) MUST_CHECK;
/* Returns the URL without login, query and fragment, for messages. The caller frees the result. */
char *redirect_show(CURLU *url);

#endif
