/* SPDX-License-Identifier: MIT */
/*
 * download.h - one file from a server into the file that is descriptor 3.
 *
 * Order, beside what order.h says: {"do": "download", "url", "hosts" (net/host_list.h; missing:
 * any), "allow_private", "size_max" and "size_name", what that limit is called, "raw" (what is
 * compressed stays so: its name says it is)}. Progress: {"head": {"name", "type", "total"}} once,
 * when it is known what comes, each where it is known; then {"bytes"} now and then. Result:
 * {"size", "from"}: the URL that gave it, for people. On failure the file holds anything.
 */
#ifndef FETCH_DOWNLOAD_H
#define FETCH_DOWNLOAD_H

#include <jansson.h>

#include "base/err.h"

int download_run(const json_t *order, struct err *err) MUST_CHECK;

#endif
