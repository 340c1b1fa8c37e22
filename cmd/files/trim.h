/* SPDX-License-Identifier: MIT */
/*
 * trim.h - keeps the cache of packages (install/cache.h) within its size, and clean.
 *
 *   {"op": "trim", "bytes_max": N}
 *
 * Descriptor 3 is the cache's folder. These are removed, in this order:
 *   - what killed installers left under hidden names
 *   - the least recently used entries, until the others have at most N bytes
 *   - records without an entry, and the oldest beyond TRIM_RECORDS_MAX
 *
 * An entry stays while a session has files of it, while it is being linked, and for TRIM_FRESH_S
 * after its last use. Result {"removed": N, "bytes": N}: the entries that were removed, and the
 * bytes that stay.
 */
#ifndef FILES_TRIM_H
#define FILES_TRIM_H

#include <jansson.h>

#include "base/err.h"

enum { TRIM_RECORDS_MAX = 4096, TRIM_FRESH_S = 30 };

/* Runs the request and sends the result. Returns -1 and sets *err. */
int trim_run(int cache_fd, const json_t *request, struct err *err) MUST_CHECK;

#endif
