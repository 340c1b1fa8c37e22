/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine.h"
#include "scratch.h"

static struct scratch scratch;

static void make_folder(const char *path)
{
	assert_int_equal(mkdirat(scratch.fd, path, 0700), 0);
}

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_release(&scratch);
	return 0;
}

static void the_least_of_a_group_and_those_above_counts(void **state)
{
	(void)state;
	make_folder("a");
	make_folder("a/b");
	scratch_write(scratch.fd, "a/memory.max", "300000000\n");
	scratch_write(scratch.fd, "a/b/memory.max", "max\n");
	assert_int_equal(machine_group_memory("0::/a/b\n", scratch.path), 300000000);
	scratch_write(scratch.fd, "a/b/memory.max", "200000000\n");
	assert_int_equal(machine_group_memory("0::/a/b\n", scratch.path), 200000000);
	assert_true(machine_group_memory("0::/\n", scratch.path) == UINT64_MAX);
}

static void so_it_does_in_the_first_version(void **state)
{
	(void)state;
	make_folder("memory");
	make_folder("memory/a");
	scratch_write(scratch.fd, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	scratch_write(scratch.fd, "memory/a/memory.limit_in_bytes", "300000000\n");
	assert_int_equal(machine_group_memory("4:cpu:/\n3:memory:/a\n0::/\n", scratch.path),
			 300000000);
	assert_true(machine_group_memory("3:memory:/nowhere/b\n", scratch.path) >= 1LL << 60);
}

static void of_processes_those_that_are_there_are_taken_off(void **state)
{
	(void)state;
	make_folder("a");
	make_folder("a/b");
	scratch_write(scratch.fd, "a/pids.max", "100\n");
	scratch_write(scratch.fd, "a/pids.current", "40\n");
	scratch_write(scratch.fd, "a/b/pids.max", "max\n");
	assert_int_equal(machine_group_tasks_left("0::/a/b\n", scratch.path), 60);
	scratch_write(scratch.fd, "a/b/pids.max", "20\n");
	scratch_write(scratch.fd, "a/b/pids.current", "30\n");
	assert_int_equal(machine_group_tasks_left("0::/a/b\n", scratch.path), 0);
	make_folder("pids");
	make_folder("pids/a");
	scratch_write(scratch.fd, "pids/a/pids.max", "50\n");
	scratch_write(scratch.fd, "pids/a/pids.current", "8\n");
	assert_int_equal(machine_group_tasks_left("3:pids:/a\n0::/\n", scratch.path), 42);
	assert_true(machine_tasks_left() > 0);
}

static void what_says_nothing_limits_nothing(void **state)
{
	(void)state;
	assert_true(machine_group_memory("", scratch.path) == UINT64_MAX);
	assert_true(machine_group_memory("what\n:\n::\n", scratch.path) == UINT64_MAX);
	assert_true(machine_memory() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_least_of_a_group_and_those_above_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(so_it_does_in_the_first_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_processes_those_that_are_there_are_taken_off,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_says_nothing_limits_nothing, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
