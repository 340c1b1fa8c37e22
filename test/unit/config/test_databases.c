/* SPDX-License-Identifier: MIT */
/* test_databases.c - settings that name databases, and pairs of settings that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "config/settings.h"
#include "config/sources.h"
#include "literals.h"
#include "redact/redact.h"

static const char *string_of(const struct settings *s, const char *name)
{
	for (size_t i = 0; i < s->database_count; i++)
		if (str_eq(s->databases[i].name, name))
			return s->databases[i].string;
	return NULL;
}

static void assert_refused(struct settings *s, const char *part)
{
	if (s->problem == NULL || strstr(s->problem, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, s->problem ? s->problem : "(none)");
	settings_free(s);
}

static void a_database_has_the_name_of_its_variable_in_small_letters(void **state)
{
	char *const *env = LIST("HOME=/h", "PTYCELL_SQL_SALES=Driver=a", "PTYCELL_SQL_Ops=Driver=b",
				"PTYCELL_SQL_EMPTY=");
	struct settings *s = settings_load(0, NULL, env);

	(void)state;
	assert_null(s->problem);
	assert_int_equal(s->database_count, 2);
	assert_string_equal(string_of(s, "sales"), "Driver=a");
	assert_string_equal(string_of(s, "ops"), "Driver=b");
	assert_null(s->database_password);
	settings_free(s);
}

static void the_string_of_azure_is_the_default_database(void **state)
{
	char *const *env =
		LIST("HOME=/h", SOURCES_AZURE_STRING "=Server=tcp:x", SOURCES_AZURE_PASSWORD "=p");
	struct settings *s = settings_load(0, NULL, env);

	(void)state;
	assert_null(s->problem);
	assert_string_equal(string_of(s, "default"), "Server=tcp:x");
	assert_string_equal(s->database_password, "p");
	settings_free(s);
}

static void a_default_of_ones_own_wins_over_azures(void **state)
{
	char *const *env = LIST("HOME=/h", SOURCES_AZURE_STRING "=Server=tcp:x",
				"PTYCELL_SQL_default=Driver=mine");
	struct settings *s = settings_load(0, NULL, env);

	(void)state;
	assert_int_equal(s->database_count, 1);
	assert_string_equal(string_of(s, "default"), "Driver=mine");
	settings_free(s);
}

static void no_database_is_called_files_or_nothing(void **state)
{
	char *const *files = LIST("HOME=/h", "PTYCELL_SQL_FILES=Driver=a");
	char *const *nothing = LIST("HOME=/h", "PTYCELL_SQL_=Driver=a");

	(void)state;
	assert_refused(settings_load(0, NULL, files),
		       "PTYCELL_SQL_FILES is no name for a database");
	assert_refused(settings_load(0, NULL, nothing), "PTYCELL_SQL_ is no name for a database");
}

static void a_floor_and_unconfined_contradict_each_other(void **state)
{
	char *const *argv = LIST("--unconfined");
	char *const *env = LIST("HOME=/h", "PTYCELL_FLOOR=landlock");

	(void)state;
	assert_refused(settings_load(1, argv, env), "--unconfined contradicts PTYCELL_FLOOR");
}

static void a_secret_that_is_too_long_is_refused_by_name(void **state)
{
	size_t len = REDACT_BYTES_MAX + sizeof("PTYCELL_SECRET_KEY=");
	cleanup_free char *entry = xcalloc(1, len + 1);
	char *const *env;

	(void)state;
	memset(entry, 'x', len);
	memcpy(entry, "PTYCELL_SECRET_KEY=", sizeof("PTYCELL_SECRET_KEY=") - 1);
	env = LIST("HOME=/h", entry);
	assert_refused(settings_load(0, NULL, env), "PTYCELL_SECRET_KEY is longer than ");
}

static void a_placeholder_uploads_nothing_and_is_told(void **state)
{
	char *const *env = LIST("HOME=/h", "AZURE_BLOB_CONNECTION_STRING=<your-connection-string>");
	struct settings *s = settings_load(0, NULL, env);

	(void)state;
	assert_null(s->problem);
	assert_null(s->storage.azure_connection);
	assert_non_null(strstr(s->notices, "AZURE_BLOB_CONNECTION_STRING is still a placeholder"));
	settings_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_has_the_name_of_its_variable_in_small_letters),
		cmocka_unit_test(the_string_of_azure_is_the_default_database),
		cmocka_unit_test(a_default_of_ones_own_wins_over_azures),
		cmocka_unit_test(no_database_is_called_files_or_nothing),
		cmocka_unit_test(a_floor_and_unconfined_contradict_each_other),
		cmocka_unit_test(a_secret_that_is_too_long_is_refused_by_name),
		cmocka_unit_test(a_placeholder_uploads_nothing_and_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
