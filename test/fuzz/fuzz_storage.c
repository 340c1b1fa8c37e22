/* SPDX-License-Identifier: MIT */
/* layers: storage */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/azure.h"
#include "storage/object_name.h"
#include "storage/s3.h"
#include "storage/url.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What comes of a string goes into a URL and into headers: it must not end them. */
static void check_account(const char *text)
{
	struct azure_account account;
	struct err err;

	if (azure_account_parse(text, &account, &err) < 0)
		return;
	if (!url_base_valid(account.endpoint) || (account.key == NULL) == (account.sas == NULL) ||
	    strpbrk(account.name, "/:\r\n ") != NULL ||
	    (account.sas != NULL && !url_query_valid(account.sas)))
		abort();
	azure_account_release(&account);
}

static void check_bucket(const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	const struct storage_target target = { .s3_bucket = copy,
					       .s3_endpoint = copy,
					       .s3_region = copy,
					       .s3_key_id = copy,
					       .s3_secret = copy };
	struct s3_bucket bucket;
	struct err err;

	if (s3_bucket_make(&target, &bucket, &err) < 0)
		return;
	if (!url_base_valid(bucket.url))
		abort();
	s3_bucket_release(&bucket);
}

/* A header's value is one line of ASCII, and a name is text. */
static void check_name(const char *path)
{
	struct err err;
	cleanup_free char *name = storage_name("s", path, &err);
	cleanup_free char *disposition = name != NULL ? storage_disposition(name) : NULL;

	if (name == NULL)
		return;
	if (!utf8_valid(name, strlen(name)) || strlen(name) > STORAGE_NAME_MAX)
		abort();
	for (const char *c = disposition; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);

	check_account(text);
	check_bucket(text);
	check_name(text);
	return 0;
}
