/* SPDX-License-Identifier: MIT */
/*
 * download.h - downloads one file from a server into the file that is descriptor 3.
 *
 * Request, beside the members of job.h: {"do": "download", "url", "hosts" (net/host_list.h;
 * missing: any), "allow_private", "size_max", "size_name" (the limit's name for users), "raw"
 * (compressed content stays so, as its name says)}. Progress: {"head": {"name", "type", "total"}}
 * once, when the head has arrived, each member where it is known; then {"bytes"} now and then.
 * Result: {"size", "from"}: the final URL, for users. After a failure the content of the file is
 * undefined.
 */
#ifndef FETCH_DOWNLOAD_H
#define FETCH_DOWNLOAD_H

#include <jansson.h>

#include "base/err.h"

/*
 * Runs the request, locks down the process first, and sends the result. Returns -1 and sets *err.
 */
int download_run(const json_t *request, struct err *err) MUST_CHECK;

#endif
