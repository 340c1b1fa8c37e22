/* SPDX-License-Identifier: MIT */
/* test_install_result.c - what an installation brought and what was there, as sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer/install_result.h"
#include "base/mem.h"
#include "json/make.h"

static void a_second_version_is_told_as_installed(void **state)
{
	cleanup_json json_t *result = json_pack(
		"{s:[{s:s, s:s}, {s:s, s:s}], s:[{s:s, s:s}], s:[], s:i, s:i}", "arrived", "name",
		"outer", "version", "1.0", "name", "lodash", "version", "3.0", "unchanged", "name",
		"lodash", "version", "4.0", "replaced", "bytes", 1000, "ms", 1500);
	cleanup_free char *text = install_result_sentence(result);

	(void)state;
	assert_string_equal(text, "Installed: outer 1.0, lodash 3.0 (1.5 s). The next import finds "
				  "them; no restart is needed. There already: lodash 4.0.");
}

static void what_was_there_is_all_that_is_told(void **state)
{
	cleanup_json json_t *result = json_pack("{s:[], s:[{s:s, s:s}]}", "arrived", "unchanged",
						"name", "a", "version", "1.0");
	cleanup_free char *text = install_result_sentence(result);

	(void)state;
	assert_string_equal(text, "There already: a 1.0.");
}

static void what_is_no_longer_there_is_told(void **state)
{
	cleanup_json json_t *result =
		json_pack("{s:[{s:s, s:s}], s:[], s:[{s:s, s:s}]}", "arrived", "name", "a",
			  "version", "2.0", "replaced", "removed", "name", "b", "version", "1.0");
	cleanup_free char *text = install_result_sentence(result);
	cleanup_free char *dry = NULL;

	(void)state;
	assert_string_equal(text, "Installed: a 2.0. The next import finds them; no restart is "
				  "needed. No longer there: b 1.0.");
	json_put_bool(result, "dry", true);
	dry = install_result_sentence(result);
	assert_string_equal(dry, "Would install: a 2.0. Nothing was installed. Would go: b 1.0.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_version_is_told_as_installed),
		cmocka_unit_test(what_was_there_is_all_that_is_told),
		cmocka_unit_test(what_is_no_longer_there_is_told),
	};

	return cmocka_run_group_tests_name("answer/install_result", tests, NULL, NULL);
}
