/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "install/progress.h"

static void a_line_says_package_and_bytes(void **state)
{
	static const struct {
		const char *line;
		const char *text;
	} rows[] = {
		{ "{\"progress\": {\"name\": \"pandas\", \"done\": 11200000, \"total\": 12900000}}",
		  "installing pandas: 11.2 of 12.9 MB" },
		{ "{\"progress\": {\"name\": \"pandas\", \"done\": 11200000}}",
		  "installing pandas: 11.2 MB" },
		{ "{\"progress\": {\"name\": \"pandas\"}}", "installing pandas" },
		{ "{\"progress\": {\"name\": \"a\\n\\u001b\\u00e9b\", \"done\": -1, \"total\": \"x\"}}",
		  "installing a????b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct progress progress = { .done = 7, .total = 8 };
		cleanup_free char *text = NULL;

		assert_true(progress_read(rows[i].line, strlen(rows[i].line), &progress));
		text = progress_text(&progress, "installing");
		assert_string_equal(text, rows[i].text);
	}
}

static void what_is_no_line_of_progress_changes_nothing(void **state)
{
	static const char *const lines[] = { "",
					     "{}",
					     "{\"ok\": true}",
					     "{\"progress\": {}}",
					     "{\"progress\": {\"name\": 7}}",
					     "{\"progress\": \"pandas\"}",
					     "{\"progress\": {\"name\": \"x\"}" };
	struct progress progress = { .done = 7, .name = "it" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(progress_read(lines[i], strlen(lines[i]), &progress));
	assert_string_equal(progress.name, "it");
	assert_int_equal(progress.done, 7);
}

static void a_long_name_is_cut_and_a_long_line_is_none(void **state)
{
	struct progress progress = { .done = 0 };
	cleanup_free char *name = NULL;
	cleanup_free char *line = NULL;

	(void)state;
	name = xasprintf("%0*d", PROGRESS_LINE_MAX - (int)strlen("{\"progress\":{\"name\":\"\"}}"),
			 0);
	line = xasprintf("{\"progress\":{\"name\":\"%s\"}}", name);
	assert_true(progress_read(line, strlen(line), &progress));
	assert_int_equal(strlen(progress.name), PROGRESS_NAME_MAX);
	free(line);
	line = xasprintf("{\"progress\":{\"name\":\"%s0\"}}", name);
	assert_false(progress_read(line, strlen(line), &progress));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_package_and_bytes),
		cmocka_unit_test(what_is_no_line_of_progress_changes_nothing),
		cmocka_unit_test(a_long_name_is_cut_and_a_long_line_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
