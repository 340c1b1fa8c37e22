/* SPDX-License-Identifier: MIT */
/*
 * store.h - files of the folder that is descriptor 3, uploaded to an Azure Blob container or an
 * S3 bucket.
 *
 * Order, beside what order.h says: {"do": "store", "azure": {"connection", "container"} or "s3":
 * {"bucket", "endpoint", "region", "key_id", "secret", "token"}, "link_seconds", "files": [{"path"
 * (percent-encoded), "name" (the object's), "size_max"}]}. Progress, once a file: {"file": INDEX,
 * "size", "url", "expires" (seconds since 1970), "no_link" (why there is no URL)} or {"file",
 * "problem"}; a problem is "limit" for size_max. Result: {"stored": COUNT}.
 *
 * {"do": "link"} has the same order, of whose files only "name" counts, needs no descriptor 3, and
 * says {"file", "url", "expires", "no_link"} of each: it signs and speaks to nobody.
 */
#ifndef FETCH_STORE_H
#define FETCH_STORE_H

#include <jansson.h>

#include "base/err.h"

int store_run(const json_t *order, struct err *err) MUST_CHECK;
int store_link(const json_t *order, struct err *err) MUST_CHECK;

#endif
