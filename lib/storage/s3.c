/* SPDX-License-Identifier: MIT */
/*
 * s3.c - presigned URLs. The query must be sorted by the names of its members, and the signing key
 * is derived in four steps from date, region and service, so a leaked one is valid for a day only.
 */
#include "storage/s3.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "storage/url.h"
#include "text/percent.h"

#define DEFAULT_REGION "us-east-1"
#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define ALGORITHM "AWS4-HMAC-SHA256"

enum { BUCKET_MIN = 3, BUCKET_MAX = 63, REGION_MAX = 40, STAMP_LEN = 16, DATE_LEN = 8 };

void s3_bucket_release(struct s3_bucket *bucket)
{
	mem_cleanup(&bucket->url);
	mem_cleanup(&bucket->region);
}

static bool consists_of(const char *text, const char *characters, size_t min, size_t max)
{
	size_t len = strspn(text, characters);

	return text[len] == '\0' && len >= min && len <= max;
}

static bool is_printable(const char *text)
{
	const char *c = text;

	while (*c > ' ' && *c <= '~')
		c++;
	return *c == '\0' && c > text;
}

static int check_settings(const struct storage_target *target, const char *region, struct err *err)
{
	if (!consists_of(target->s3_bucket, LOWER ".-", BUCKET_MIN, BUCKET_MAX))
		return err_set(err, ERR_INVALID,
			       "PTYCELL_S3_BUCKET must have 3 to 63 of a-z, 0-9, . and -");
	if (!consists_of(region, LOWER "-", 1, REGION_MAX))
		return err_set(err, ERR_INVALID,
			       "PTYCELL_S3_REGION must be a region's name like eu-west-1");
	if (target->s3_endpoint != NULL && !url_base_valid(target->s3_endpoint))
		return err_set(err, ERR_INVALID,
			       "PTYCELL_S3_ENDPOINT must be a URL like https://s3.example.com");
	if (target->s3_key_id != NULL &&
	    (!is_printable(target->s3_key_id) || strchr(target->s3_key_id, ':') != NULL))
		return err_set(err, ERR_INVALID, "PTYCELL_S3_ACCESS_KEY_ID is no key's id");
	if (target->s3_secret != NULL && !is_printable(target->s3_secret))
		return err_set(err, ERR_INVALID, "PTYCELL_S3_SECRET_ACCESS_KEY is no key");
	if (target->s3_token != NULL && !is_printable(target->s3_token))
		return err_set(err, ERR_INVALID, "PTYCELL_S3_SESSION_TOKEN is no token");
	return 0;
}

int s3_bucket_make(const struct storage_target *target, struct s3_bucket *ret_bucket,
		   struct err *err)
{
	const char *region = target->s3_region != NULL ? target->s3_region : DEFAULT_REGION;
	cleanup_free char *endpoint = NULL;

	if (check_settings(target, region, err) < 0)
		return -1;
	endpoint = target->s3_endpoint != NULL ? xstrdup(target->s3_endpoint)
					       : xasprintf("https://s3.%s.amazonaws.com", region);
	url_trim(endpoint);
	ret_bucket->region = xstrdup(region);
	/*
	 * Amazon's certificate covers one label before "s3", so a bucket with dots goes into the
	 * path.
	 */
	if (target->s3_endpoint == NULL && strchr(target->s3_bucket, '.') == NULL)
		ret_bucket->url =
			xasprintf("https://%s.s3.%s.amazonaws.com", target->s3_bucket, region);
	else
		ret_bucket->url = xasprintf("%s/%s", endpoint, target->s3_bucket);
	return 0;
}

char *s3_url(const struct s3_bucket *bucket, const char *name)
{
	cleanup_free char *encoded = percent_encode(name);

	return xasprintf("%s/%s", bucket->url, encoded);
}

/* ---- presigned links ---- */

/* Writes "20130524T000000Z". */
static void put_stamp(time_t now, char stamp[STAMP_LEN + 1])
{
	struct tm utc;

	stamp[0] = '\0';
	if (gmtime_r(&now, &utc) != NULL)
		(void)strftime(stamp, STAMP_LEN + 1, "%Y%m%dT%H%M%SZ", &utc);
}

/* Returns "20130524/us-east-1/s3/aws4_request". The caller frees it. */
static char *scope_of(const struct s3_bucket *bucket, const char *stamp)
{
	return xasprintf("%.*s/%s/s3/aws4_request", DATE_LEN, stamp, bucket->region);
}

/* Appends the members sorted by name. */
static void put_link_query(const struct s3_bucket *bucket, const struct s3_grant *grant,
			   struct buf *out)
{
	char stamp[STAMP_LEN + 1];
	cleanup_free char *scope = NULL;

	put_stamp(grant->now, stamp);
	scope = scope_of(bucket, stamp);
	buf_puts(out, "X-Amz-Algorithm=" ALGORITHM "&X-Amz-Credential=");
	url_encode(out, grant->target->s3_key_id);
	buf_puts(out, "%2F");
	url_encode(out, scope);
	buf_putf(out, "&X-Amz-Date=%s&X-Amz-Expires=%" PRIu64, stamp, grant->seconds);
	if (grant->target->s3_token != NULL) {
		buf_puts(out, "&X-Amz-Security-Token=");
		url_encode(out, grant->target->s3_token);
	}
	buf_puts(out, "&X-Amz-SignedHeaders=host");
}

void s3_canonical_request(const struct s3_bucket *bucket, const struct s3_grant *grant,
			  struct buf *out)
{
	cleanup_free char *url = s3_url(bucket, grant->name);
	cleanup_free char *host = url_host(url);

	buf_putf(out, "GET\n%s\n", url_path(url));
	put_link_query(bucket, grant, out);
	buf_putf(out, "\nhost:%s\n\nhost\nUNSIGNED-PAYLOAD", host);
}

static void put_hex(struct buf *out, const unsigned char hash[STORAGE_HASH_LEN])
{
	for (size_t i = 0; i < STORAGE_HASH_LEN; i++)
		buf_putf(out, "%02x", hash[i]);
}

/* Signs the text. The derived key is valid for one day, region and service. */
static void sign_text(const struct s3_bucket *bucket, const struct storage_crypto *crypto,
		      const struct s3_grant *grant, const struct buf *text, struct buf *out)
{
	cleanup_free char *secret = xasprintf("AWS4%s", grant->target->s3_secret);
	unsigned char hash[STORAGE_HASH_LEN];
	char stamp[STAMP_LEN + 1];
	const char *const steps[] = { bucket->region, "s3", "aws4_request" };

	put_stamp(grant->now, stamp);
	crypto->hmac_sha256(secret, strlen(secret), stamp, DATE_LEN, hash);
	explicit_bzero(secret, strlen(secret));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		unsigned char key[STORAGE_HASH_LEN];

		memcpy(key, hash, sizeof(key));
		crypto->hmac_sha256(key, sizeof(key), steps[i], strlen(steps[i]), hash);
		explicit_bzero(key, sizeof(key));
	}
	{
		unsigned char signature[STORAGE_HASH_LEN];

		crypto->hmac_sha256(hash, sizeof(hash), buf_str(text), text->len, signature);
		put_hex(out, signature);
	}
	explicit_bzero(hash, sizeof(hash));
}

char *s3_link(const struct s3_bucket *bucket, const struct storage_crypto *crypto,
	      const struct s3_grant *grant)
{
	cleanup_buf struct buf request = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf link = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *url = s3_url(bucket, grant->name);
	cleanup_free char *scope = NULL;
	unsigned char hash[STORAGE_HASH_LEN];
	char stamp[STAMP_LEN + 1];

	put_stamp(grant->now, stamp);
	scope = scope_of(bucket, stamp);
	s3_canonical_request(bucket, grant, &request);
	crypto->sha256(buf_str(&request), request.len, hash);
	buf_putf(&text, ALGORITHM "\n%s\n%s\n", stamp, scope);
	put_hex(&text, hash);
	buf_putf(&link, "%s?", url);
	put_link_query(bucket, grant, &link);
	buf_puts(&link, "&X-Amz-Signature=");
	sign_text(bucket, crypto, grant, &text, &link);
	return buf_steal(&link);
}
