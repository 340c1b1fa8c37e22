/* SPDX-License-Identifier: MIT */
/*
 * target.h - where results are uploaded to, as the user set it: an Azure Blob container or a bucket
 * of an S3-compatible service.
 */
#ifndef STORAGE_TARGET_H
#define STORAGE_TARGET_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum storage_kind { STORAGE_NONE, STORAGE_AZURE, STORAGE_S3 };

enum { STORAGE_S3_HOURS_MAX = 7 * 24 /* no presigned link may be valid for longer */ };

/* Settings that are not set are NULL. Only container, bucket, endpoint and region may be shown. */
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

/* Wipes the secrets and frees all members. */
void storage_target_release(struct storage_target *target);
/*
 * Sets `kind` by the settings that are there, and checks them. Returns -1 and sets ERR_INVALID, a
 * sentence that names the settings and holds no secret.
 */
int storage_target_settle(struct storage_target *target, struct err *err) MUST_CHECK;
/* Returns the container or bucket, "" if there is none. Borrowed from `target`. */
const char *storage_target_container(const struct storage_target *target);
/* Appends the URL that contains the container, or the bucket's own. The target must be settled. */
void storage_target_endpoint(const struct storage_target *target, struct buf *out);
/* Returns how many of the requested hours a link may be valid. */
uint64_t storage_target_hours(const struct storage_target *target, uint64_t hours);

#endif
