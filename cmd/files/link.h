/* SPDX-License-Identifier: MIT */
/*
 * link.h - links packages of the cache into one session without copying them.
 *
 *   {"op": "link", "entry": NAME, "to": NAME, "copy": BOOL}
 *
 * The entry is in descriptor 3. Each of its files is compared with its line of the manifest and
 * gets a second name below `to`, which replaces a folder of that name in descriptor 4. Files are
 * copied where a link is impossible, and with `copy`: then nothing keeps the session from writing
 * to them. Returns ERR_INVALID for an entry that differs from its manifest and ERR_NOT_FOUND for a
 * missing one; nothing has changed then.
 */
#ifndef FILES_LINK_H
#define FILES_LINK_H

#include <jansson.h>

#include "base/err.h"

/* Runs the request and sends the result. Returns -1 and sets *err. */
int link_run(int cache_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
