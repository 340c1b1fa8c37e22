/* SPDX-License-Identifier: MIT */
/*
 * route.h - where a download goes, hop by hop, and whether it may.
 *
 * Judged here: the scheme, the list of hosts, and hosts that are written as addresses in whatever
 * notation, or as localhost. What a name leads to is judged when its socket is made (handle.h).
 */
#ifndef FETCH_REDIRECT_H
#define FETCH_REDIRECT_H

#include <curl/curl.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/host_list.h"

struct redirect_rules {
	const struct host_list *hosts; /* NULL: any */
	bool allow_private;
};

/* A new URL that curl_url_cleanup frees, or NULL. Messages do not repeat it: it may hold a secret.
 */
CURLU *redirect_start(const char *url, struct err *err) MUST_CHECK;
/* Moves `url` to what a redirect from it says. */
int redirect_follow(CURLU *url, const char *location, struct err *err) MUST_CHECK;
int redirect_check(CURLU *url, const struct redirect_rules *rules, struct err *err) MUST_CHECK;
/* The URL without login, query and fragment, for people: freed by the caller. */
char *redirect_show(CURLU *url);

#endif
