/* SPDX-License-Identifier: MIT */
/* test_end.c - interpreters that run no cell end by themselves, in a bounded time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume_fixture.h"

static int closed;

static void on_closed(void *data)
{
	assert_ptr_equal(data, &closed);
	closed++;
}

static bool is_held(const char *id)
{
	bool leaving;

	return table_in_use(table, id, &leaving);
}

static void end_one(const char *last)
{
	struct session *session = open_one("a");
	struct err err;

	run_cell(session, last);
	fixture_until(!session_has_work(session));
	assert_int_equal(table_end(table, "a", "it is enough", &err), 0);
	assert_null(table_at(table, 0));
}

static void close_table(void)
{
	closed = 0;
	table_close(table, table_server_ends, on_closed, &closed);
}

static void an_interpreter_ends_by_itself(void **state)
{
	(void)state;
	end_one("done");
	assert_int_equal(fixture.retired, 0);
	assert_true(is_held("a"));
	fixture_until(fixture.lasting == 1);
	assert_false(is_held("a"));
}

static void one_that_hangs_is_interrupted_in_the_middle_of_its_time(void **state)
{
	(void)state;
	end_one("last=wait\ndone");
	fixture_pass(TABLE_ALONE_MS / 2 - 1);
	assert_int_equal(fixture.lasting, 0);
	fixture_pass(1);
	fixture_until(fixture.lasting == 1);
}

static void one_that_an_interrupt_does_not_end_is_killed_at_the_end(void **state)
{
	(void)state;
	end_one("last=hang\ndone");
	fixture_pass(TABLE_ALONE_MS / 2);
	fixture_pass(TABLE_ALONE_MS / 2 - 1);
	assert_int_equal(fixture.lasting, 0);
	fixture_pass(1);
	fixture_until(fixture.lasting == 1);
}

static void no_more_than_may_be_open_are_left_to_end(void **state)
{
	char id[] = "a";

	(void)state;
	fixture.settings.max_sessions = 2;
	for (; id[0] <= 'c'; id[0]++) {
		struct err err;

		run_cell(open_one(id), "last=hang\ndone");
		fixture_until(!session_has_work(table_at(table, 0)));
		assert_int_equal(table_end(table, id, "it is enough", &err), 0);
		assert_int_equal(fixture.lasting, id[0] == 'c' ? 1 : 0);
	}
	assert_false(is_held("a"));
	assert_true(is_held("b"));
	assert_true(is_held("c"));
}

static void one_that_runs_a_cell_is_killed_at_once(void **state)
{
	struct session *session = open_one("a");
	struct err err;

	(void)state;
	start(session, "hang");
	fixture_until(fixture.cells_begun == 1);
	assert_int_equal(table_end(table, "a", "it is enough", &err), 0);
	assert_int_equal(fixture.lasting, 1);
	assert_int_equal(answered, 1);
}

static void a_crash_is_an_end_as_well(void **state)
{
	(void)state;
	end_one("last=crash\ndone");
	fixture_until(fixture.lasting == 1);
}

static void its_id_gets_the_folder_at_once_where_that_is_wanted(void **state)
{
	(void)state;
	end_one("last=hang\ndone");
	assert_true(is_held("a"));
	assert_int_equal(session_first_cell(open_one("a")), 2);
	assert_int_equal(fixture.lasting, 1);
}

static void the_end_of_the_server_leaves_less_time(void **state)
{
	(void)state;
	end_one("last=hang\ndone");
	run_cell(open_one("b"), "last=hang\ndone");
	close_table();
	fixture_pass(TABLE_QUIT_MS / 2);
	fixture_pass(TABLE_QUIT_MS / 2 - 1);
	assert_int_equal(closed, 0);
	fixture_pass(1);
	fixture_until(closed == 1);
	assert_int_equal(fixture.lasting, 2);
}

static void the_end_of_the_server_waits_for_nothing_else(void **state)
{
	(void)state;
	close_table();
	assert_int_equal(closed, 1);
	run_cell(open_one("b"), "done");
	close_table();
	fixture_until(closed == 1);
	assert_int_equal(fixture.lasting, 1);
}

static void a_table_that_is_freed_kills_what_still_ends(void **state)
{
	(void)state;
	end_one("last=hang\ndone");
	restart();
	assert_int_equal(fixture.lasting, 1);
}

static void one_that_is_handed_over_has_little_time(void **state)
{
	struct err err;

	(void)state;
	run_cell(open_one("a"), "last=hang\ndone");
	assert_int_equal(table_hand_over(table, "a", "another host asked for it", &err), 0);
	assert_int_equal(table_hand_over(table, "a", "another host asked for it", &err), -1);
	fixture_pass(TABLE_QUIT_MS / 2);
	fixture_pass(TABLE_QUIT_MS / 2);
	fixture_until(fixture.lasting == 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(an_interpreter_ends_by_itself),
		TEST(one_that_hangs_is_interrupted_in_the_middle_of_its_time),
		TEST(one_that_an_interrupt_does_not_end_is_killed_at_the_end),
		TEST(no_more_than_may_be_open_are_left_to_end),
		TEST(one_that_runs_a_cell_is_killed_at_once),
		TEST(a_crash_is_an_end_as_well),
		TEST(its_id_gets_the_folder_at_once_where_that_is_wanted),
		TEST(the_end_of_the_server_leaves_less_time),
		TEST(the_end_of_the_server_waits_for_nothing_else),
		TEST(a_table_that_is_freed_kills_what_still_ends),
		TEST(one_that_is_handed_over_has_little_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
