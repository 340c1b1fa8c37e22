/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/util.h"
#include "workspace/snapshot.h"

static void add(struct snapshot *snapshot, const char *name)
{
	struct file_info file = { .path = snapshot_path(snapshot, "", name) };
	struct stamp stamp = { 0 };

	assert_non_null(file.path);
	snapshot_add(snapshot, &file, &stamp);
}

/* How many steps it took. */
static size_t sort(struct snapshot *snapshot)
{
	struct snapshot_sort sort = { 0 };
	size_t steps = 1;

	while (!snapshot_sort_step(snapshot, &sort))
		steps++;
	for (size_t i = 1; i < snapshot->count; i++)
		assert_true(strcmp(snapshot->files[i - 1].path, snapshot->files[i].path) < 0);
	return steps;
}

/* A step makes one run of 16, or one of two. */
static void many_are_sorted_in_many_steps(void **state)
{
	static const size_t counts[] = { 0, 1, 15, 16, 17, 32, 33, 1000, 4096 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct snapshot snapshot = { 0 };

		for (size_t n = counts[i]; n > 0; n--) {
			char name[32];

			(void)snprintf(name, sizeof(name), "%zu", n * 7919 % 10007);
			add(&snapshot, name);
		}
		assert_true(sort(&snapshot) >= counts[i] / 16);
		assert_int_equal(snapshot.count, counts[i]);
		snapshot_release(&snapshot);
	}
}

/* And no more: their number is what taking them over costs. */
static void what_lies_below_a_folder_is_found(void **state)
{
	static const char *const names[] = { "a",     "a!",    "a-b", "a.c/x", "a/1",
					     "a/2/3", "a0",    "aa",  "aa/1",  "aaa",
					     "b",     "d/a/1", "d/b", "d/b!",  "d/bb/1" };
	struct snapshot snapshot = { 0 };
	size_t first;

	(void)state;
	for (size_t i = ARRAY_SIZE(names); i > 0; i--)
		add(&snapshot, names[i - 1]);
	(void)sort(&snapshot);
	assert_int_equal(snapshot_below(&snapshot, "a", &first), 2);
	assert_string_equal(snapshot.files[first].path, "a/1");
	assert_int_equal(snapshot_below(&snapshot, "aa", &first), 1);
	assert_string_equal(snapshot.files[first].path, "aa/1");
	assert_int_equal(snapshot_below(&snapshot, "d", &first), 4);
	assert_int_equal(snapshot_below(&snapshot, "d/a", &first), 1);
	assert_int_equal(snapshot_below(&snapshot, "aaa", &first), 0);
	assert_int_equal(snapshot_below(&snapshot, "z", &first), 0);
	assert_int_equal(snapshot_below(&snapshot, "d/b", &first), 0);
	assert_string_equal(snapshot.files[snapshot_find(&snapshot, "d/b")].path, "d/b");
	assert_string_equal(snapshot.files[snapshot_find(&snapshot, "c")].path, "d/a/1");
	assert_int_equal(snapshot_find(&snapshot, "z"), ARRAY_SIZE(names));
	snapshot_release(&snapshot);
}

static void paths_are_held_up_to_a_bound(void **state)
{
	struct snapshot snapshot = { 0 };
	char folder[4001] = "";
	size_t count = 0;

	(void)state;
	memset(folder, 'a', sizeof(folder) - 1);
	while (count < SCAN_FILES_MAX && snapshot_path(&snapshot, folder, "x") != NULL)
		count++;
	assert_int_equal(count, SCAN_PATHS_MAX / (sizeof(folder) + 2));
	assert_true(snapshot.capped);
	assert_true(snapshot.path_bytes <= SCAN_PATHS_MAX);
	snapshot_release(&snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_are_sorted_in_many_steps),
		cmocka_unit_test(what_lies_below_a_folder_is_found),
		cmocka_unit_test(paths_are_held_up_to_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
