/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/settings.h"
#include "literals.h"
#include "scratch.h"

static void settings_cleanup(struct settings **settings)
{
	settings_free(*settings);
}
#define cleanup_settings __attribute__((cleanup(settings_cleanup)))

static struct settings *load_env(const char *entry)
{
	char *const *env = LIST("HOME=/h", entry);

	return settings_load(0, NULL, env);
}

static void assert_contains(const char *text, const char *part)
{
	if (text == NULL || strstr(text, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, text != NULL ? text : "(none)");
}

static void assert_passed(const struct settings *s, size_t index, const char *name,
			  const char *value, bool secret)
{
	assert_true(index < s->user_env.count);
	assert_string_equal(s->user_env.items[index].name, name);
	assert_string_equal(s->user_env.items[index].value, value);
	assert_int_equal(s->user_env.items[index].secret, secret);
}

static void variables_for_code_are_taken_once_and_a_secret_stays_one(void **state)
{
	struct scratch scratch;
	cleanup_free char *flag = NULL;
	char *const *env = LIST("HOME=/h", "PTYCELL_ENV_A=1", "PTYCELL_ENV_B=2", "PTYCELL_ENV_C=4",
				"PTYCELL_ENV_D=", "PTYCELL_ENVX=5");
	cleanup_settings struct settings *s = NULL;

	(void)state;
	scratch_init(&scratch);
	scratch_write(scratch.fd, "env", "PTYCELL_SECRET_B=from a file\nPTYCELL_ENV_C=3\n");
	flag = xasprintf("--env-file=%s/env", scratch.path);
	s = settings_load(1, LIST(flag), env);
	scratch_release(&scratch);
	assert_null(s->problem);
	assert_int_equal(s->user_env.count, 3);
	assert_passed(s, 0, "B", "from a file", true);
	assert_passed(s, 1, "C", "4", false);
	assert_passed(s, 2, "A", "1", false);
	assert_non_null(s->redact);
}

static void variables_that_code_cannot_be_given_are_told(void **state)
{
	cleanup_settings struct settings *s = load_env("PTYCELL_ENV_A B=1");
	cleanup_settings struct settings *ours = load_env("PTYCELL_SECRET_PTYCELL_X=123456789");
	cleanup_settings struct settings *brief = load_env("PTYCELL_SECRET_A=1234567");

	(void)state;
	assert_contains(s->notices, "PTYCELL_ENV_A B has no effect");
	assert_contains(ours->notices, "PTYCELL_SECRET_PTYCELL_X has no effect");
	assert_contains(brief->notices, "PTYCELL_SECRET_A is shorter than 8 characters");
	assert_int_equal(s->user_env.count + ours->user_env.count, 0);
	assert_int_equal(brief->user_env.count, 1);
	assert_true(s->redact == NULL && ours->redact == NULL && brief->redact == NULL);
}

static void a_locale_of_another_encoding_is_told_and_not_passed(void **state)
{
	static const char *const others[] = { "LC_ALL=ja_JP.EUC-JP", "LC_CTYPE=de_DE.ISO-8859-1",
					      "LC_ALL=ja_JP", "LC_ALL=C" };
	static const char *const ours[] = { "LC_ALL=ja_JP.UTF-8", "LC_CTYPE=de_DE.utf8@euro",
					    "LANG=C", "LC_TIME=de_DE" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_free char *variable = xasprintf("PTYCELL_ENV_%s", others[i]);
		cleanup_settings struct settings *s = load_env(variable);

		assert_int_equal(s->user_env.count, 0);
		assert_contains(s->notices, "is no locale of UTF-8");
	}
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		cleanup_free char *variable = xasprintf("PTYCELL_ENV_%s", ours[i]);
		cleanup_settings struct settings *s = load_env(variable);

		assert_int_equal(s->user_env.count, 1);
		assert_null(s->notices);
	}
}

static void too_much_for_code_is_a_problem(void **state)
{
	cleanup_free char *big = xcalloc(1, USER_ENV_BYTES_MAX + 32);
	cleanup_free char *variable = NULL;
	cleanup_settings struct settings *s = NULL;

	(void)state;
	memset(big, 'x', USER_ENV_BYTES_MAX);
	variable = xasprintf("PTYCELL_ENV_A=%s", big);
	s = load_env(variable);
	assert_contains(s->problem, "hold more than 98304 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_for_code_are_taken_once_and_a_secret_stays_one),
		cmocka_unit_test(variables_that_code_cannot_be_given_are_told),
		cmocka_unit_test(a_locale_of_another_encoding_is_told_and_not_passed),
		cmocka_unit_test(too_much_for_code_is_a_problem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
