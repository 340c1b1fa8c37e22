/* SPDX-License-Identifier: MIT */
/* test_alias.c - a setting's variable is heard by its older or expected name, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "config/schema.h"
#include "config/settings.h"

static void settings_cleanup(struct settings **settings)
{
	settings_free(*settings);
}

#define cleanup_settings __attribute__((cleanup(settings_cleanup)))

static struct settings *load(const char *first, const char *second)
{
	char *const env[] = { (char[]){ "HOME=/h" }, (char *)(uintptr_t)first,
			      (char *)(uintptr_t)second, NULL };

	return settings_load(0, NULL, env);
}

static void a_variable_is_heard_by_its_alias(void **state)
{
	cleanup_settings struct settings *old = load("SESSION_TTL=50", NULL);
	cleanup_settings struct settings *name = load("PTYCELL_SESSION_TTL=60", NULL);
	cleanup_settings struct settings *expected =
		load("PTYCELL_AZURE_BLOB_CONTAINER_NAME=results", NULL);
	cleanup_settings struct settings *wrong = load("EXEC_TIMEOUT=soon", NULL);

	(void)state;
	assert_int_equal(old->limits.session_ttl, 50);
	assert_int_equal(name->limits.session_ttl, 60);
	assert_null(strstr(expected->notices != NULL ? expected->notices : "", "no effect"));
	assert_non_null(strstr(wrong->problem, "The setting EXEC_TIMEOUT has the value 'soon'"));
}

static void the_name_wins_over_the_alias_in_any_order(void **state)
{
	static const struct {
		const char *first;
		const char *second;
		uint64_t seconds;
	} rows[] = {
		{ "PTYCELL_IDLE_TIMEOUT=70", "IDLE_TIMEOUT=80", 70 },
		{ "IDLE_TIMEOUT=80", "PTYCELL_IDLE_TIMEOUT=70", 70 },
		{ "PTYCELL_IDLE_TIMEOUT=", "IDLE_TIMEOUT=80", 80 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_settings struct settings *s = load(rows[i].first, rows[i].second);

		assert_int_equal(s->limits.idle_timeout, rows[i].seconds);
	}
}

/* A name in small letters, or copied with a blank that is not shown, is not passed over. */
static void a_name_that_only_looks_like_ours_is_told(void **state)
{
	cleanup_settings struct settings *small = load("ptycell_floor=namespaces", NULL);
	cleanup_settings struct settings *copied = load("\u200bPTYCELL_FLOOR=namespaces", NULL);
	cleanup_settings struct settings *foreign = load("XPTYCELL_FLOOR=namespaces", NULL);

	(void)state;
	assert_string_equal(small->notices,
			    "ptycell_floor has no effect: did you mean PTYCELL_FLOOR?\n");
	assert_string_equal(copied->notices,
			    "<U+200B>PTYCELL_FLOOR has no effect: did you mean PTYCELL_FLOOR?\n");
	assert_null(foreign->notices);
}

/* Users who know one name know them all. */
static void each_variable_is_named_as_its_flag(void **state)
{
	(void)state;
	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);
		char name[64] = "PTYCELL_";
		size_t len = strlen(name);

		if (row->name[0] == '\0')
			continue;
		for (const char *c = row->flag; *c != '\0'; c++)
			name[len++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
		name[len] = '\0';
		if (schema_find(name) != row)
			fail_msg("%s is not %s", row->name, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_is_heard_by_its_alias),
		cmocka_unit_test(the_name_wins_over_the_alias_in_any_order),
		cmocka_unit_test(a_name_that_only_looks_like_ours_is_told),
		cmocka_unit_test(each_variable_is_named_as_its_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
