/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "crypto_fixture.h"
#include "storage/s3.h"

static char word_bucket[] = "examplebucket";
static char word_dotted[] = "example.bucket";
static char word_region[] = "eu-west-1";
static char word_endpoint[] = "http://127.0.0.1:4568/";
static char word_token[] = "to/k+n";
static char word_id[] = "AKIAIOSFODNN7EXAMPLE";
static char word_secret[] = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

static const struct storage_target amazon = { .s3_bucket = word_bucket,
					      .s3_key_id = word_id,
					      .s3_secret = word_secret };

static void assert_url(const struct storage_target *target, const char *url)
{
	cleanup_s3 struct s3_bucket bucket = { .url = NULL };
	struct err err = { 0 };

	if (s3_bucket_make(target, &bucket, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(bucket.url, url);
}

static void amazon_s_buckets_have_hosts_and_others_paths(void **state)
{
	struct storage_target target = amazon;

	(void)state;
	assert_url(&target, "https://examplebucket.s3.us-east-1.amazonaws.com");
	target.s3_region = word_region;
	assert_url(&target, "https://examplebucket.s3.eu-west-1.amazonaws.com");
	target.s3_bucket = word_dotted;
	assert_url(&target, "https://s3.eu-west-1.amazonaws.com/example.bucket");
	target.s3_endpoint = word_endpoint;
	assert_url(&target, "http://127.0.0.1:4568/example.bucket");
}

/* The example of "Authenticating Requests: Using Query Parameters". */
static void a_link_is_signed_as_amazon_s_example_says(void **state)
{
	struct s3_bucket bucket = { .url = (char[]){ "https://examplebucket.s3.amazonaws.com" },
				    .region = (char[]){ "us-east-1" } };
	const struct s3_grant grant = {
		.target = &amazon, .name = "test.txt", .now = 1369353600, .seconds = 86400
	};
	cleanup_free char *link = s3_link(&bucket, &fixture_crypto, &grant);

	(void)state;
	assert_string_equal(link,
			    "https://examplebucket.s3.amazonaws.com/test.txt"
			    "?X-Amz-Algorithm=AWS4-HMAC-SHA256"
			    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3"
			    "%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
			    "&X-Amz-SignedHeaders=host&X-Amz-Signature="
			    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

static void what_is_signed_has_port_path_and_token(void **state)
{
	struct storage_target target = amazon;
	cleanup_s3 struct s3_bucket bucket = { .url = NULL };
	struct s3_grant grant = {
		.target = &target, .name = "s 1/\303\251+.png", .now = 1369353600, .seconds = 60
	};
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	(void)state;
	target.s3_endpoint = word_endpoint;
	target.s3_token = word_token;
	assert_int_equal(s3_bucket_make(&target, &bucket, &err), 0);
	s3_canonical_request(&bucket, &grant, &text);
	assert_string_equal(
		buf_str(&text),
		"GET\n/examplebucket/s%201/%C3%A9%2B.png\nX-Amz-Algorithm=AWS4-HMAC-SHA256"
		"&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
		"&X-Amz-Date=20130524T000000Z&X-Amz-Expires=60&X-Amz-Security-Token=to%2Fk%2Bn"
		"&X-Amz-SignedHeaders=host\nhost:127.0.0.1:4568\n\nhost\nUNSIGNED-PAYLOAD");
}

static void assert_refused(const struct storage_target *target, const char *message)
{
	struct s3_bucket bucket;
	struct err err = { 0 };

	assert_int_equal(s3_bucket_make(target, &bucket, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (strstr(err.msg, message) == NULL)
		fail_msg("'%s' is not in: %s", message, err.msg);
	assert_null(strstr(err.msg, "s3cret"));
}

static void a_wrong_setting_is_named_and_no_secret_shown(void **state)
{
	struct storage_target target = amazon;
	char name[] = "Bucket_";
	char url[] = "https://u:s3cret@host";
	char region[] = "eu west";
	char id[] = "s3cret:id";
	char key[] = "s3cret\nkey";

	(void)state;
	target.s3_bucket = name;
	assert_refused(&target, "PTYCELL_S3_BUCKET");
	target = amazon;
	target.s3_endpoint = url;
	assert_refused(&target, "PTYCELL_S3_ENDPOINT");
	target = amazon;
	target.s3_region = region;
	assert_refused(&target, "PTYCELL_S3_REGION");
	target = amazon;
	target.s3_key_id = id;
	assert_refused(&target, "PTYCELL_S3_ACCESS_KEY_ID");
	target = amazon;
	target.s3_secret = key;
	assert_refused(&target, "PTYCELL_S3_SECRET_ACCESS_KEY");
	target = amazon;
	target.s3_token = key;
	assert_refused(&target, "PTYCELL_S3_SESSION_TOKEN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amazon_s_buckets_have_hosts_and_others_paths),
		cmocka_unit_test(a_link_is_signed_as_amazon_s_example_says),
		cmocka_unit_test(what_is_signed_has_port_path_and_token),
		cmocka_unit_test(a_wrong_setting_is_named_and_no_secret_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
