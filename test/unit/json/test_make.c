/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/make.h"

static void ill_formed_text_is_repaired(void **state)
{
	cleanup_json json_t *text = json_make_text("a\377b\0c", 5);

	(void)state;
	assert_int_equal(json_string_length(text), 7);
	assert_memory_equal(json_string_value(text), "a\357\277\275b\0c", 7);
}

static void a_text_cut_within_a_character_is_repaired(void **state)
{
	cleanup_json json_t *text = json_make_fmt("%.2s", "x\303\244");

	(void)state;
	assert_string_equal(json_string_value(text), "x\357\277\275");
}

static void putting_nothing_leaves_the_object_as_it_is(void **state)
{
	cleanup_json json_t *object = json_object();

	(void)state;
	json_put(object, "a", NULL);
	json_put_str(object, "b", NULL);
	json_put_path(object, "c", NULL);
	assert_int_equal(json_object_size(object), 0);
}

static void an_appended_value_is_owned_by_the_array(void **state)
{
	cleanup_json json_t *array = json_array();
	json_t *value = json_make_str("x");

	(void)state;
	json_append(array, value);
	assert_ptr_equal(json_array_get(array, 0), value);
	assert_int_equal(value->refcount, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ill_formed_text_is_repaired),
		cmocka_unit_test(a_text_cut_within_a_character_is_repaired),
		cmocka_unit_test(putting_nothing_leaves_the_object_as_it_is),
		cmocka_unit_test(an_appended_value_is_owned_by_the_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
