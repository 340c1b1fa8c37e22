/* SPDX-License-Identifier: MIT */
/*
 * store.h - uploads files of the folder that is descriptor 3 to an Azure Blob container or an S3
 * bucket.
 *
 * Request, beside the members of job.h: {"do": "store", "azure": {"connection", "container"} or
 * "s3": {"bucket", "endpoint", "region", "key_id", "secret", "token"}, "link_seconds", "files":
 * [{"path" (percent-encoded), "name" (the object's), "size_max"}]}. Progress, once for each file:
 * {"file": INDEX, "size", "url", "expires" (seconds since 1970), "no_link" (why there is no URL)}
 * or {"file", "problem"}; the problem is "limit" beyond size_max. Result: {"stored": COUNT}.
 *
 * {"do": "link"} is the same request, of whose files only "name" counts. It needs no descriptor 3
 * and reports {"file", "url", "expires", "no_link"} for each. It signs only and uses no network.
 */
#ifndef FETCH_STORE_H
#define FETCH_STORE_H

#include <jansson.h>

#include "base/err.h"

/*
 * Runs the request, locks down the process first, and sends the result. Returns -1 and sets *err.
 */
int store_run(const json_t *request, struct err *err) MUST_CHECK;
int store_link(const json_t *request, struct err *err) MUST_CHECK;

#endif
