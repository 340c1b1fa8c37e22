/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "redact/redact.h"
#include "redact/redact_json.h"

static struct redact *redact;

static int set_up(void **state)
{
	(void)state;
	redact = redact_new();
	redact_add(redact, "A", "hunter2\"hunter2");
	redact_finish(redact);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	redact_free(redact);
	return 0;
}

static void assert_becomes(const char *text, const char *expected)
{
	struct err err;
	cleanup_json json_t *value = json_parse(text, strlen(text), &err);
	cleanup_free char *out = NULL;

	assert_non_null(value);
	redact_json(value, redact);
	out = json_write_text(value);
	assert_string_equal(out, expected);
}

static void strings_at_any_depth_are_redacted(void **state)
{
	(void)state;
	assert_becomes("{\"a\":[1,{\"b\":\"x hunter2\\\"hunter2\"}],\"c\":\"hunter2\"}",
		       "{\"a\":[1,{\"b\":\"x [secret A]\"}],\"c\":\"hunter2\"}");
	assert_becomes("\"{\\\"k\\\":\\\"hunter2\\\\\\\"hunter2\\\"}\"",
		       "\"{\\\"k\\\":\\\"[secret A]\\\"}\"");
}

static void keys_are_redacted(void **state)
{
	(void)state;
	assert_becomes("{\"hunter2\\\"hunter2\":{\"hunter2\\\"hunter2!\":1},\"b\":2}",
		       "{\"b\":2,\"[secret A]\":{\"[secret A]!\":1}}");
}

static void bytes_in_base64_stay_and_text_beside_them_does_not(void **state)
{
	(void)state;
	assert_becomes(
		"[{\"type\":\"image\",\"data\":\"aHVudGVyMiJodW50ZXIy\",\"mimeType\":\"aHVudGVyMiJodW50ZXIy\"}]",
		"[{\"type\":\"image\",\"data\":\"aHVudGVyMiJodW50ZXIy\",\"mimeType\":\"[secret A]\"}]");
	assert_becomes("{\"uri\":\"s\",\"blob\":\"aHVudGVyMiJodW50ZXIy\"}",
		       "{\"uri\":\"s\",\"blob\":\"aHVudGVyMiJodW50ZXIy\"}");
	assert_becomes("{\"blob\":\"aHVudGVyMiJodW50ZXIy\",\"data\":\"aHVudGVyMiJodW50ZXIy\"}",
		       "{\"blob\":\"[secret A]\",\"data\":\"[secret A]\"}");
}

static void a_value_that_is_no_text_leaves_text_behind(void **state)
{
	struct redact *odd = redact_new();
	cleanup_json json_t *value = json_make_str("\xc3\xa9 hunter2!");

	(void)state;
	redact_add(odd, "B", "\xa9 hunter2!");
	redact_finish(odd);
	redact_json(value, odd);
	assert_string_equal(json_string_value(value), "[secret]");
	redact_free(odd);
}

static void without_secrets_nothing_is_touched(void **state)
{
	cleanup_json json_t *value = json_make_str("hunter2\"hunter2");

	(void)state;
	redact_json(value, NULL);
	redact_json(NULL, redact);
	assert_string_equal(json_string_value(value), "hunter2\"hunter2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_at_any_depth_are_redacted),
		cmocka_unit_test(keys_are_redacted),
		cmocka_unit_test(bytes_in_base64_stay_and_text_beside_them_does_not),
		cmocka_unit_test(a_value_that_is_no_text_leaves_text_behind),
		cmocka_unit_test(without_secrets_nothing_is_touched),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
