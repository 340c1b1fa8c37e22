/* SPDX-License-Identifier: MIT */
/*
 * link.h - packages of the cache for one session, without copying them.
 *
 *   {"op": "link", "entry": NAME, "to": NAME, "copy": BOOL}
 *
 * The entry lies in descriptor 3; each of its files is compared with its line of the manifest and
 * gets a second name below `to`, which replaces a folder of that name in descriptor 4. Where that
 * cannot be, or with `copy`, for sessions that nothing keeps from writing, files are copied. An
 * entry that is not as its manifest says is ERR_INVALID, one that is gone ERR_NOT_FOUND, and
 * nothing has changed.
 */
#ifndef FILES_LINK_H
#define FILES_LINK_H

#include <jansson.h>

#include "base/err.h"

int link_run(int cache_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
