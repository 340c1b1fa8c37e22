/* SPDX-License-Identifier: MIT */
/* test_killed_programs.c - how the programs that were killed at a limit are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/killed_programs.h"

static void expect(const struct sandbox_killed *killed, const char *expected)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	killed_programs_describe(&text, killed, 400 << 20, "the folder holds 50 MB");
	assert_string_equal(buf_str(&text), expected);
}

static void a_program_has_its_name_command_and_size(void **state)
{
	const struct sandbox_killed killed = { .programs = 1,
					       .memory_bytes = 300 << 20,
					       .name = "sort",
					       .command = "sort -S 90% big" };

	(void)state;
	expect(&killed,
	       "The program 'sort' (command: 'sort -S 90% big'), which code had started, was "
	       "killed: it had 300 MB of memory, and the session went over its limit of 400 MB "
	       "(memory_max). Use less at a time.");
}

static void of_several_the_largest_is_named_and_a_command_that_says_no_more_is_not(void **state)
{
	const struct sandbox_killed killed = {
		.programs = 3, .memory_bytes = 100 << 20, .name = "a", .command = "a"
	};

	(void)state;
	expect(&killed,
	       "The program 'a' and 2 more, which code had started, were killed: the largest had "
	       "100 MB of memory, and the session went over its limit of 400 MB (memory_max). "
	       "Use less at a time.");
}

static void of_a_python_it_is_told_who_may_wait_for_it(void **state)
{
	const struct sandbox_killed killed = {
		.programs = 1, .memory_bytes = 100 << 20, .name = "python3", .command = "python3"
	};

	(void)state;
	expect(&killed,
	       "The program 'python3', which code had started, was killed: it had 100 MB of "
	       "memory, and the session went over its limit of 400 MB (memory_max). Use less at a "
	       "time. If it was a worker of multiprocessing.Pool: its map() waits for it for ever, "
	       "so interrupt the cell.");
}

static void for_the_disk_it_is_told_what_was_written(void **state)
{
	struct sandbox_killed killed = {
		.for_disk = true, .programs = 1, .written_bytes = 60 << 20, .name = "dd"
	};

	(void)state;
	expect(&killed,
	       "The program 'dd', which code had started, was killed: it had written 60 MB and "
	       "wrote on, and the folder holds 50 MB.");
	killed.programs = 2;
	expect(&killed,
	       "The program 'dd' and 1 more, which code had started, were killed: the first of "
	       "them had written 60 MB and wrote on, and the folder holds 50 MB.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_has_its_name_command_and_size),
		cmocka_unit_test(
			of_several_the_largest_is_named_and_a_command_that_says_no_more_is_not),
		cmocka_unit_test(of_a_python_it_is_told_who_may_wait_for_it),
		cmocka_unit_test(for_the_disk_it_is_told_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
