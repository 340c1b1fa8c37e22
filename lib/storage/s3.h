/* SPDX-License-Identifier: MIT */
/*
 * s3.h - S3 and what speaks like it: where a bucket is, and presigned links (signature version 4,
 * "Authenticating Requests: Using Query Parameters" of Amazon's reference).
 */
#ifndef STORAGE_S3_H
#define STORAGE_S3_H

#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/crypto.h"
#include "storage/target.h"

enum { S3_PARTS_MAX = 10000 };

struct s3_bucket {
	char *url; /* without a slash at its end */
	char *region;
};

/*
 * Amazon's buckets have hosts of their own, all others are the first part of a path. ERR_INVALID
 * names the setting that is wrong, and holds nothing of a secret.
 */
int s3_bucket_make(const struct storage_target *target, struct s3_bucket *ret_bucket,
		   struct err *err) MUST_CHECK;
void s3_bucket_release(struct s3_bucket *bucket);
#define cleanup_s3 __attribute__((cleanup(s3_bucket_release)))

/* The URL of an object; the caller frees it. */
char *s3_url(const struct s3_bucket *bucket, const char *name);

/* An object that may be read from `now` on for some seconds. */
struct s3_grant {
	const struct storage_target *target; /* with key and secret */
	const char *name;
	time_t now;
	uint64_t seconds;
};

void s3_canonical_request(const struct s3_bucket *bucket, const struct s3_grant *grant,
			  struct buf *out);
/* The whole URL. The caller frees it. */
char *s3_link(const struct s3_bucket *bucket, const struct storage_crypto *crypto,
	      const struct s3_grant *grant);

#endif
