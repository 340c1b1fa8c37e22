/* SPDX-License-Identifier: MIT */
/* url.h - the little that a storage's own URLs need. */
#ifndef STORAGE_URL_H
#define STORAGE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* http or https, a host, perhaps a port and a path of plain characters; no user, query, fragment.
 */
bool url_base_valid(const char *url);
/* A query's characters; not empty. */
bool url_query_valid(const char *query);
/* Cuts off slashes at the end. */
void url_trim(char *url);
bool url_is_https(const char *url);
/* The part from its first slash on, "" when there is none; and the host with its port. */
const char *url_path(const char *url);
char *url_host(const char *url);
/* Appends a value of a query: unlike percent_encode(), a slash is encoded as well. */
void url_encode(struct buf *out, const char *value);

#endif
