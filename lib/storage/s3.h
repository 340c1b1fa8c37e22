/* SPDX-License-Identifier: MIT */
/*
 * s3.h - S3 and compatible services: the URL of a bucket, and presigned links (signature version 4,
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
	char *url; /* without a final slash */
	char *region;
};

/*
 * Finds the bucket's URL. Amazon's buckets have hosts of their own; elsewhere a bucket is the first
 * part of the path. Returns -1 and sets ERR_INVALID, which names the wrong setting and holds no
 * secret.
 */
int s3_bucket_make(const struct storage_target *target, struct s3_bucket *ret_bucket,
		   struct err *err) MUST_CHECK;
void s3_bucket_release(struct s3_bucket *bucket);
#define cleanup_s3 __attribute__((cleanup(s3_bucket_release)))

/* Returns the URL of an object. The caller frees it. */
char *s3_url(const struct s3_bucket *bucket, const char *name);

/* An object that may be read for some seconds from `now` on. */
struct s3_grant {
	const struct storage_target *target; /* with key and secret */
	const char *name;
	time_t now;
	uint64_t seconds;
};

void s3_canonical_request(const struct s3_bucket *bucket, const struct s3_grant *grant,
			  struct buf *out);
/* Returns the whole URL. The caller frees it. */
char *s3_link(const struct s3_bucket *bucket, const struct storage_crypto *crypto,
	      const struct s3_grant *grant);

#endif
