/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <cmocka.h>

#include "aborts.h"
#include "base/map.h"

enum { MANY = 5000 };

static void a_key_is_bytes_with_a_length(void **state)
{
	struct map *map = map_new();
	int a = 1;
	int b = 2;
	int c = 3;

	(void)state;
	assert_null(map_set(map, "k\0a", 3, &a));
	assert_null(map_set(map, "k\0b", 3, &b));
	assert_null(map_set(map, "", 0, &c));
	assert_ptr_equal(map_get(map, "k\0a", 3), &a);
	assert_ptr_equal(map_get(map, "k\0b", 3), &b);
	assert_ptr_equal(map_get(map, "", 0), &c);
	assert_null(map_get(map, "k", 1));
	assert_int_equal(map_count(map), 3);
	map_free(map);
}

static void the_key_is_copied(void **state)
{
	struct map *map = map_new();
	char key[] = "key";
	int value = 1;

	(void)state;
	(void)map_set(map, key, 3, &value);
	key[0] = 'x';
	assert_ptr_equal(map_get(map, "key", 3), &value);
	assert_null(map_get(map, key, 3));
	map_free(map);
}

static void replacing_gives_the_old_value_back(void **state)
{
	struct map *map = map_new();
	int a = 1;
	int b = 2;

	(void)state;
	(void)map_set(map, "k", 1, &a);
	assert_ptr_equal(map_set(map, "k", 1, &b), &a);
	assert_int_equal(map_count(map), 1);
	assert_ptr_equal(map_take(map, "k", 1), &b);
	assert_null(map_take(map, "k", 1));
	assert_null(map_get(map, "k", 1));
	assert_int_equal(map_count(map), 0);
	map_free(map);
}

static void many_keys_come_and_go(void **state)
{
	static int values[MANY];
	struct map *map = map_new();
	char key[16];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		int len = snprintf(key, sizeof(key), "key-%d", i);

		assert_null(map_set(map, key, (size_t)len, &values[i]));
	}
	assert_int_equal(map_count(map), MANY);
	for (int i = 0; i < MANY; i += 2) {
		int len = snprintf(key, sizeof(key), "key-%d", i);

		assert_ptr_equal(map_take(map, key, (size_t)len), &values[i]);
	}
	for (int i = 0; i < MANY; i++) {
		int len = snprintf(key, sizeof(key), "key-%d", i);

		assert_ptr_equal(map_get(map, key, (size_t)len), i % 2 == 0 ? NULL : &values[i]);
	}
	assert_int_equal(map_count(map), MANY / 2);
	map_free(map);
}

static void set_nothing(void)
{
	(void)map_set(map_new(), "k", 1, NULL);
}

static void no_value_is_our_mistake_and_no_map_is_freed(void **state)
{
	(void)state;
	map_free(NULL);
	assert_aborts(set_nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_bytes_with_a_length),
		cmocka_unit_test(the_key_is_copied),
		cmocka_unit_test(replacing_gives_the_old_value_back),
		cmocka_unit_test(many_keys_come_and_go),
		cmocka_unit_test(no_value_is_our_mistake_and_no_map_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
