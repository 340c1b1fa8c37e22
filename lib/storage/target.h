/* SPDX-License-Identifier: MIT */
/*
 * target.h - where results are uploaded to, as the person set it: an Azure Blob container or a
 * bucket of an S3-compatible store.
 */
#ifndef STORAGE_TARGET_H
#define STORAGE_TARGET_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum storage_kind { STORAGE_NONE, STORAGE_AZURE, STORAGE_S3 };

enum { STORAGE_S3_HOURS_MAX = 7 * 24 /* no presigned link is valid for longer */ };

/* What is not set is NULL. Nothing here but container, bucket, endpoint and region may be shown. */
struct storage_target {
	enum storage_kind kind;
	char *azure_connection; /* a connection string, see azure.h */
	char *azure_container;
	char *s3_bucket;
	char *s3_endpoint; /* NULL: Amazon's of the region */
	char *s3_region;
	char *s3_key_id;
	char *s3_secret;
	char *s3_token;
};

/* Overwrites what is secret. */
void storage_target_release(struct storage_target *target);
/*
 * Sets `kind` by what is there, and checks it. ERR_INVALID with a sentence that names the settings
 * and holds nothing of a secret.
 */
int storage_target_settle(struct storage_target *target, struct err *err) MUST_CHECK;
/* The container or bucket; "" when there is none. */
const char *storage_target_container(const struct storage_target *target);
/* Appends the URL that the container is below, or the bucket itself. For a settled target. */
void storage_target_endpoint(const struct storage_target *target, struct buf *out);
/* How long a link may be valid of the hours that are asked for. */
uint64_t storage_target_hours(const struct storage_target *target, uint64_t hours);

#endif
