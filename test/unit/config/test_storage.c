/* SPDX-License-Identifier: MIT */
/* test_storage.c - where results are uploaded to, as it is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "config/settings.h"
#include "literals.h"

static void settings_cleanup(struct settings **settings)
{
	settings_free(*settings);
}
#define cleanup_settings __attribute__((cleanup(settings_cleanup)))

static struct settings *load_env(const char *entry)
{
	return settings_load(0, NULL, LIST("HOME=/h", entry));
}

static void assert_contains(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text ? text : "(none)");
}

#define BLOB_KEY "AccountName=acct;AccountKey=czNjcmV0"

static void a_storage_is_set_by_its_connection_string_alone(void **state)
{
	cleanup_settings struct settings *none = load_env("AZURE_BLOB_CONNECTION_STRING=");
	cleanup_settings struct settings *azure =
		load_env("AZURE_BLOB_CONNECTION_STRING=" BLOB_KEY);

	(void)state;
	assert_null(none->problem);
	assert_int_equal(none->storage.kind, STORAGE_NONE);
	assert_null(azure->problem);
	assert_int_equal(azure->storage.kind, STORAGE_AZURE);
	assert_string_equal(azure->storage.azure_container, "code-interpreter-artifacts");
	assert_int_equal(azure->limits.link_hours, 24);
}

static void s3_is_set_by_flags_and_its_secret_by_a_variable(void **state)
{
	char *const *env = LIST("HOME=/h", "PTYCELL_S3_SECRET_ACCESS_KEY=s3cret");
	char *const *argv = LIST("--s3-bucket=box", "--s3-access-key-id=id",
				 "--s3-endpoint=http://127.0.0.1:1", "--s3-region=eu-west-1");
	cleanup_settings struct settings *s = settings_load(4, argv, env);

	(void)state;
	assert_null(s->problem);
	assert_int_equal(s->storage.kind, STORAGE_S3);
	assert_string_equal(s->storage.s3_secret, "s3cret");
	assert_string_equal(s->storage.s3_endpoint, "http://127.0.0.1:1");
}

static void what_is_wrong_with_a_storage_is_said_without_its_secret(void **state)
{
	cleanup_settings struct settings *broken =
		load_env("AZURE_BLOB_CONNECTION_STRING=AccountName=a;AccountKey=s3cret!");
	cleanup_settings struct settings *flag =
		settings_load(2, LIST("--s3-secret-access-key", "s3cret"), LIST("HOME=/h"));

	(void)state;
	assert_contains(broken->problem, "AZURE_BLOB_CONNECTION_STRING: AccountKey");
	assert_null(strstr(broken->problem, "s3cret"));
	assert_contains(flag->problem, "PTYCELL_S3_SECRET_ACCESS_KEY in the environment");
	assert_null(strstr(flag->problem, "s3cret"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storage_is_set_by_its_connection_string_alone),
		cmocka_unit_test(s3_is_set_by_flags_and_its_secret_by_a_variable),
		cmocka_unit_test(what_is_wrong_with_a_storage_is_said_without_its_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
