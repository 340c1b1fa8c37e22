/* SPDX-License-Identifier: MIT */
/*
 * trim.h - keeps the cache of packages (install/cache.h) within its size, and clean.
 *
 *   {"op": "trim", "bytes_max": N}
 *
 * Descriptor 3 is the cache's folder. Removed are, in this order: what killed installers left under
 * hidden names; entries, those whose last use is longest ago first, until the others come to N
 * bytes; records without an entry, and the oldest beyond TRIM_RECORDS_MAX. An entry stays that a
 * session still has files of, that somebody links, or that was used in the last TRIM_FRESH_S.
 *
 * Result {"removed": N, "bytes": N}: entries that went, bytes that stay.
 */
#ifndef FILES_TRIM_H
#define FILES_TRIM_H

#include <jansson.h>

#include "base/err.h"

enum { TRIM_RECORDS_MAX = 4096, TRIM_FRESH_S = 30 };

int trim_run(int cache_fd, const json_t *order, struct err *err) MUST_CHECK;

#endif
