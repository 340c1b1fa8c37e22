/* SPDX-License-Identifier: MIT */
/*
 * target.c - decides between the two kinds of storage. Both at once is an error, because the user
 * would not know where a result went; a setting that is incomplete is an error for the same reason.
 */
#include "storage/target.h"

#include <string.h>

#include "base/mem.h"
#include "storage/azure.h"
#include "storage/s3.h"

static void wipe_string(char **secret)
{
	if (*secret != NULL)
		explicit_bzero(*secret, strlen(*secret));
	mem_cleanup(secret);
}

void storage_target_release(struct storage_target *target)
{
	wipe_string(&target->azure_connection);
	wipe_string(&target->s3_secret);
	wipe_string(&target->s3_token);
	mem_cleanup(&target->azure_container);
	mem_cleanup(&target->s3_bucket);
	mem_cleanup(&target->s3_endpoint);
	mem_cleanup(&target->s3_region);
	mem_cleanup(&target->s3_key_id);
	target->kind = STORAGE_NONE;
}

static int settle_azure(const struct storage_target *target, struct err *err)
{
	cleanup_azure struct azure_account account = { .name = NULL };

	if (target->azure_container == NULL || !azure_container_valid(target->azure_container))
		return err_set(err, ERR_INVALID,
			       "AZURE_BLOB_CONTAINER_NAME must have 3 to 63 of a-z, 0-9 and single "
			       "hyphens between them");
	if (azure_account_parse(target->azure_connection, &account, err) < 0)
		return err_wrap(err, "AZURE_BLOB_CONNECTION_STRING");
	return 0;
}

static int settle_s3(const struct storage_target *target, struct err *err)
{
	cleanup_s3 struct s3_bucket bucket = { .url = NULL };

	if (target->s3_key_id == NULL || target->s3_secret == NULL)
		return err_set(err, ERR_INVALID,
			       "PTYCELL_S3_BUCKET needs PTYCELL_S3_ACCESS_KEY_ID and "
			       "PTYCELL_S3_SECRET_ACCESS_KEY too");
	return s3_bucket_make(target, &bucket, err);
}

int storage_target_settle(struct storage_target *target, struct err *err)
{
	enum storage_kind kind = STORAGE_NONE;

	if (target->azure_connection != NULL && target->s3_bucket != NULL)
		return err_set(err, ERR_INVALID,
			       "AZURE_BLOB_CONNECTION_STRING and PTYCELL_S3_BUCKET are both set; "
			       "results go to one of them: leave out the other");
	if (target->azure_connection != NULL)
		kind = STORAGE_AZURE;
	else if (target->s3_bucket != NULL)
		kind = STORAGE_S3;
	if (kind == STORAGE_AZURE && settle_azure(target, err) < 0)
		return -1;
	if (kind == STORAGE_S3 && settle_s3(target, err) < 0)
		return -1;
	target->kind = kind;
	return 0;
}

const char *storage_target_container(const struct storage_target *target)
{
	const char *name = target->kind == STORAGE_S3 ? target->s3_bucket : target->azure_container;

	return target->kind == STORAGE_NONE || name == NULL ? "" : name;
}

void storage_target_endpoint(const struct storage_target *target, struct buf *out)
{
	cleanup_azure struct azure_account account = { .name = NULL };
	cleanup_s3 struct s3_bucket bucket = { .url = NULL };
	struct err err;

	if (target->kind == STORAGE_AZURE &&
	    azure_account_parse(target->azure_connection, &account, &err) == 0)
		buf_puts(out, account.endpoint);
	if (target->kind == STORAGE_S3 && s3_bucket_make(target, &bucket, &err) == 0)
		buf_puts(out, bucket.url);
}

uint64_t storage_target_hours(const struct storage_target *target, uint64_t hours)
{
	if (target->kind == STORAGE_S3 && hours > STORAGE_S3_HOURS_MAX)
		return STORAGE_S3_HOURS_MAX;
	return hours;
}
