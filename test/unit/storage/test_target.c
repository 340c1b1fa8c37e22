/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "storage/target.h"

#define CONNECTION "AccountName=acct;AccountKey=AAECAw=="

static struct storage_target azure_target(void)
{
	return (struct storage_target){ .azure_connection = xstrdup(CONNECTION),
					.azure_container = xstrdup("box") };
}

static struct storage_target s3_target(void)
{
	return (struct storage_target){ .s3_bucket = xstrdup("box"),
					.s3_key_id = xstrdup("id"),
					.s3_secret = xstrdup("s3cret") };
}

static void the_kind_follows_from_what_is_set(void **state)
{
	struct storage_target none = { .azure_container = xstrdup("box") };
	struct storage_target azure = azure_target();
	struct storage_target s3 = s3_target();
	cleanup_buf struct buf url = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	(void)state;
	assert_int_equal(storage_target_settle(&none, &err), 0);
	assert_int_equal(none.kind, STORAGE_NONE);
	assert_string_equal(storage_target_container(&none), "");
	assert_int_equal(storage_target_settle(&azure, &err), 0);
	assert_int_equal(azure.kind, STORAGE_AZURE);
	assert_string_equal(storage_target_container(&azure), "box");
	storage_target_endpoint(&azure, &url);
	assert_string_equal(buf_str(&url), "https://acct.blob.core.windows.net");
	buf_clear(&url);
	assert_int_equal(storage_target_settle(&s3, &err), 0);
	assert_int_equal(s3.kind, STORAGE_S3);
	storage_target_endpoint(&s3, &url);
	assert_string_equal(buf_str(&url), "https://box.s3.us-east-1.amazonaws.com");
	storage_target_release(&none);
	storage_target_release(&azure);
	storage_target_release(&s3);
}

static void assert_refused(struct storage_target *target, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(storage_target_settle(target, &err), -1);
	assert_int_equal(target->kind, STORAGE_NONE);
	if (strstr(err.msg, message) == NULL)
		fail_msg("'%s' is not in: %s", message, err.msg);
	assert_null(strstr(err.msg, "s3cret"));
	storage_target_release(target);
}

static void what_does_not_go_together_is_refused(void **state)
{
	struct storage_target both = azure_target();
	struct storage_target container = azure_target();
	struct storage_target connection = azure_target();
	struct storage_target secret = s3_target();

	(void)state;
	both.s3_bucket = xstrdup("box");
	assert_refused(&both, "both set");
	mem_cleanup(&container.azure_container);
	container.azure_container = xstrdup("No");
	assert_refused(&container, "AZURE_BLOB_CONTAINER_NAME");
	mem_cleanup(&connection.azure_connection);
	connection.azure_connection = xstrdup("AccountName=a;AccountKey=s3cret!");
	assert_refused(&connection, "AZURE_BLOB_CONNECTION_STRING: AccountKey");
	mem_cleanup(&secret.s3_secret);
	assert_refused(&secret, "PTYCELL_S3_SECRET_ACCESS_KEY");
}

static void links_of_s3_last_a_week_at_most(void **state)
{
	struct storage_target target = { .kind = STORAGE_S3 };

	(void)state;
	assert_int_equal(storage_target_hours(&target, 24), 24);
	assert_int_equal(storage_target_hours(&target, 1000), STORAGE_S3_HOURS_MAX);
	target.kind = STORAGE_AZURE;
	assert_int_equal(storage_target_hours(&target, 1000), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kind_follows_from_what_is_set),
		cmocka_unit_test(what_does_not_go_together_is_refused),
		cmocka_unit_test(links_of_s3_last_a_week_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
