/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "scratch.h"

struct fixture {
	json_t *object;
	struct err err;
};

static int setup(void **state)
{
	static struct fixture f;

	f.object =
		json_parse_const("{\"text\":\"abc\",\"nul\":\"a\\u0000b\",\"yes\":true,\"five\":5,"
				 "\"real\":5.0,\"half\":0.5,\"huge\":1e300,\"nothing\":null,"
				 "\"object\":{\"a\":1},\"texts\":[\"a\",\"b\"],\"mixed\":[\"a\",5],"
				 "\"nuls\":[\"a\\u0000\"]}");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	json_decref(f->object);
	return 0;
}

static void what_is_there_is_returned(void **state)
{
	struct fixture *f = *state;
	json_t *o = f->object;
	const char *text = NULL;
	size_t len = 0;
	bool yes = false;
	json_int_t five = 0;
	double half = 0;
	json_t *object = NULL;
	json_t *texts = NULL;

	assert_int_equal(json_get_text(o, "o", "text", &text, NULL, &f->err), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(json_get_text(o, "o", "nul", &text, &len, &f->err), 0);
	assert_int_equal(len, 3);
	assert_int_equal(json_get_bool(o, "o", "yes", &yes, &f->err), 0);
	assert_true(yes);
	assert_int_equal(json_get_int(o, "o", "five", &five, &f->err), 0);
	assert_int_equal(five, 5);
	five = 0;
	assert_int_equal(json_get_int(o, "o", "real", &five, &f->err), 0);
	assert_int_equal(five, 5);
	assert_int_equal(json_get_number(o, "o", "half", &half, &f->err), 0);
	assert_true(half == 0.5);
	assert_int_equal(json_get_object(o, "o", "object", &object, &f->err), 0);
	assert_int_equal(json_object_size(object), 1);
	assert_int_equal(json_get_texts(o, "o", "texts", &texts, &f->err), 0);
	assert_int_equal(json_array_size(texts), 2);
}

static void what_is_absent_or_null_keeps_the_default(void **state)
{
	static const char *const keys[] = { "absent", "nothing" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = "default";
		json_int_t number = 7;

		assert_int_equal(json_get_text(f->object, "o", keys[i], &text, NULL, &f->err), 0);
		assert_string_equal(text, "default");
		assert_int_equal(json_get_int(f->object, "o", keys[i], &number, &f->err), 0);
		assert_int_equal(number, 7);
		assert_int_equal(json_get_required(f->object, "o", keys[i], &f->err), -1);
		assert_non_null(strstr(f->err.msg, " is missing"));
	}
}

static void a_wrong_type_is_named_with_its_path(void **state)
{
	struct fixture *f = *state;
	json_t *o = f->object;
	const char *text;
	size_t len;
	bool flag;
	json_int_t number;
	double real;
	json_t *value;

	assert_int_equal(json_get_number(o, "arguments", "text", &real, &f->err), -1);
	assert_int_equal(f->err.code, ERR_INVALID);
	assert_string_equal(f->err.msg, "arguments.text must be a number, not a string");
	assert_int_equal(json_get_text(o, "o", "five", &text, &len, &f->err), -1);
	assert_string_equal(f->err.msg, "o.five must be a string, not an integer");
	assert_int_equal(json_get_text(o, "o", "nul", &text, NULL, &f->err), -1);
	assert_string_equal(f->err.msg, "o.nul holds a NUL character");
	assert_int_equal(json_get_bool(o, "o", "five", &flag, &f->err), -1);
	assert_string_equal(f->err.msg, "o.five must be true or false, not an integer");
	assert_int_equal(json_get_int(o, "o", "half", &number, &f->err), -1);
	assert_string_equal(f->err.msg, "o.half must be an integer, not a number");
	assert_int_equal(json_get_int(o, "o", "huge", &number, &f->err), -1);
	assert_int_equal(json_get_object(o, "o", "texts", &value, &f->err), -1);
	assert_string_equal(f->err.msg, "o.texts must be an object, not an array");
	assert_int_equal(json_get_array(o, "o", "object", &value, &f->err), -1);
	assert_string_equal(f->err.msg, "o.object must be an array, not an object");
	assert_int_equal(json_get_texts(o, "o", "mixed", &value, &f->err), -1);
	assert_string_equal(f->err.msg, "o.mixed[1] must be a string, not an integer");
	assert_int_equal(json_get_texts(o, "o", "nuls", &value, &f->err), -1);
	assert_string_equal(f->err.msg, "o.nuls[0] holds a NUL character");
}

static void an_unknown_key_is_named_with_the_known_ones(void **state)
{
	static const char *const known[] = { "code", "timeout" };
	struct fixture *f = *state;
	cleanup_json json_t *good = json_parse_const("{\"code\":1}");
	cleanup_json json_t *bad = json_parse_const("{\"code\":1,\"tiemout\":2}");

	assert_int_equal(json_get_only(good, "arguments", known, 2, &f->err), 0);
	assert_int_equal(json_get_only(bad, "arguments", known, 2, &f->err), -1);
	assert_string_equal(f->err.msg, "arguments.tiemout is not known; there are: code, timeout");
}

static void an_unknown_key_is_cleaned_and_cut(void **state)
{
	static const char *const known[] = { "code" };
	struct fixture *f = *state;
	cleanup_json json_t *escape = json_parse_const("{\"a\\u001b[31m\\nb\":1}");
	cleanup_json json_t *bad = json_object();
	char key[1000] = "";

	for (size_t i = 0; i + 2 < sizeof(key); i += 2)
		memcpy(key + i, "\xc3\xa9", 2);
	(void)json_object_set_new(bad, key, json_true());
	assert_int_equal(json_get_only(escape, "o", known, 1, &f->err), -1);
	assert_string_equal(f->err.msg, "o.a b is not known; there is: code");
	assert_int_equal(json_get_only(bad, "o", known, 1, &f->err), -1);
	assert_int_equal(strlen(f->err.msg),
			 2 + 57 * 2 + 3 + strlen(" is not known; there is: code"));
}

static void the_getters_take_no_object_as_an_empty_one(void **state)
{
	struct fixture *f = *state;
	const char *text = "default";

	assert_int_equal(json_get_text(NULL, "params", "a", &text, NULL, &f->err), 0);
	assert_string_equal(text, "default");
	assert_int_equal(json_get_required(NULL, "params", "a", &f->err), -1);
}

static void a_text_that_is_absent_or_another_type_is_empty(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(json_text_at(f->object, "text"), "abc");
	assert_string_equal(json_text_at(f->object, "five"), "");
	assert_string_equal(json_text_at(f->object, "missing"), "");
	assert_string_equal(json_text_at(NULL, "text"), "");
}

static void a_path_comes_back_byte_by_byte(void **state)
{
	static const char path[] = "a b/%/\xff\n";
	cleanup_json json_t *object = json_object();
	cleanup_json json_t *nul = json_make_str("a%00b");
	cleanup_free char *read = NULL;

	(void)state;
	json_put_path(object, "path", path);
	read = json_path_of(json_object_get(object, "path"));
	assert_string_equal(read, path);
	assert_null(json_path_of(nul));
	assert_null(json_path_of(object));
	assert_null(json_path_of(NULL));
}

static void a_file_is_written_and_parsed_within_its_maximum(void **state)
{
	struct fixture *f = *state;
	struct scratch scratch;
	cleanup_json json_t *read = NULL;

	scratch_init(&scratch);
	assert_int_equal(json_write_file(scratch.fd, "record", f->object, &f->err), 0);
	read = json_parse_file(scratch.fd, "record", 1000, &f->err);
	assert_true(json_equal(read, f->object));
	assert_null(json_parse_file(scratch.fd, "record", 10, &f->err));
	assert_null(json_parse_file(scratch.fd, "missing", 1000, &f->err));
	assert_int_equal(json_write_file(-1, "record", f->object, &f->err), -1);
	scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_there_is_returned, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_absent_or_null_keeps_the_default, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_wrong_type_is_named_with_its_path, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_unknown_key_is_named_with_the_known_ones, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_unknown_key_is_cleaned_and_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(the_getters_take_no_object_as_an_empty_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_text_that_is_absent_or_another_type_is_empty,
						setup, teardown),
		cmocka_unit_test(a_path_comes_back_byte_by_byte),
		cmocka_unit_test_setup_teardown(a_file_is_written_and_parsed_within_its_maximum,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
