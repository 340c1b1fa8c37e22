/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdbool.h>
#include <cmocka.h>

#include "json/make.h"
#include "scratch.h"
#include "workspace/lostcells.h"

struct told {
	int count;
	size_t cells;
	size_t installed;
	json_int_t first;
	bool has_folder;
};

static void on_told(void *data, const struct lostcells_report *report)
{
	struct told *told = data;

	told->count++;
	told->cells = json_array_size(report->cells);
	told->installed = json_array_size(report->installed);
	told->first = json_integer_value(json_object_get(json_array_get(report->cells, 0), "cell"));
	told->has_folder = report->kept_folder != NULL;
	assert_string_equal(json_string_value(json_object_get(report->record, "who")), "me");
}

static void record(int fd, uint64_t first_cell)
{
	cleanup_json json_t *value = json_object();

	json_put_str(value, "who", "me");
	lostcells_record(fd, value, first_cell);
}

static void only_cells_of_that_server_are_told(void **state)
{
	struct scratch scratch;
	struct told told = { .count = 0 };
	struct lostcells *lost;

	(void)state;
	scratch_init(&scratch);
	record(scratch.fd, 3);
	lost = lostcells_take(scratch.fd);
	assert_non_null(lost);
	lostcells_add(lost, 2, "python", "killed", json_object());
	lostcells_deliver(lost, NULL, on_told, &told);
	assert_int_equal(told.count, 0);
	lostcells_add(lost, 3, "bash", "killed", json_object());
	lostcells_add(lost, 4, "r", "killed", NULL);
	lostcells_add_installed(lost, 2, json_object());
	lostcells_add_installed(lost, 3, json_object());
	lostcells_deliver(lost, "~/kept", on_told, &told);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.cells, 2);
	assert_int_equal(told.installed, 1);
	assert_int_equal(told.first, 3);
	assert_true(told.has_folder);
	lostcells_free(lost);
	assert_null(lostcells_read(scratch.fd));
	scratch_release(&scratch);
}

static void a_record_that_is_none_is_none(void **state)
{
	struct scratch scratch;

	(void)state;
	scratch_init(&scratch);
	scratch_write(scratch.fd, LOSTCELLS_RECORD, "[1]");
	assert_null(lostcells_read(scratch.fd));
	lostcells_free(NULL);
	scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_cells_of_that_server_are_told),
		cmocka_unit_test(a_record_that_is_none_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
