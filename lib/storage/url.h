/* SPDX-License-Identifier: MIT */
/* url.h - the few operations that a storage's own URLs need. */
#ifndef STORAGE_URL_H
#define STORAGE_URL_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Returns whether it is http or https, a host, an optional port and a path of plain characters,
 * without user, query and fragment.
 */
bool url_base_valid(const char *url);
/* Returns whether it has only characters of a query, at least one. */
bool url_query_valid(const char *query);
/* Cuts off final slashes. */
void url_trim(char *url);
bool url_is_https(const char *url);
/*
 * Return the part from the first slash of the path on, "" if there is none (borrowed), and the host
 * with its port (the caller frees it).
 */
const char *url_path(const char *url);
char *url_host(const char *url);
/* Appends a value of a query. Unlike percent_encode(), it encodes slashes too. */
void url_encode(struct buf *out, const char *value);

#endif
