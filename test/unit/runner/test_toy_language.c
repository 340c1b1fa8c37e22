/* SPDX-License-Identifier: MIT */
/*
 * test_toy_language.c - a fifth language, Perl: one row and one driver give it everything that
 * sessions have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "runner_fixture.h"
#include "toy/toy.h"

static int toy_set_up(void **state)
{
	struct runner_context context;

	if (access("/usr/bin/perl", X_OK) < 0) {
		print_message("there is no Perl here\n");
		exit(77);
	}
	if (runner_set_up(state) < 0)
		return -1;
	context = reports.runner->c;
	context.language = &toy_language;
	runner_free(reports.runner);
	reports.runner = runner_new(&context);
	return 0;
}

static void a_row_and_a_driver_are_a_language(void **state)
{
	const struct cell *cell = run_cell("$x = 5; print \"hello\\n\"; $x * 2");

	(void)state;
	assert_int_equal(cell->state, CELL_DONE);
	assert_string_equal(text_of(cell), "hello\n");
	assert_string_equal(cell->value, "10");
	assert_string_equal(cell->language, "perl");
	assert_string_equal(runner_path(reports.runner), "/usr/bin/perl");
	assert_true(strncmp(runner_version(reports.runner), "v5.", 3) == 0);
	assert_string_equal(run_cell("$x + 1")->value, "6");
}

static void its_errors_and_its_end_are_told_as_any_others(void **state)
{
	const struct cell *cell = run_cell("die 'no reason'");

	(void)state;
	assert_int_equal(cell->state, CELL_RAISED);
	assert_non_null(strstr(cell->traceback, "no reason"));
	cell = run_cell("kill 'KILL', $$; sleep 9");
	assert_int_equal(cell->state, CELL_DIED);
	assert_int_equal(cell->signal, 9);
	assert_string_equal(run_cell("defined $x ? 1 : 'gone'")->value, "gone");
}

static void an_interrupt_keeps_its_state(void **state)
{
	(void)state;
	(void)run_cell("$x = 7");
	(void)submit("print 'busy'; sleep 60", 2);
	fixture_until(has_written("busy"));
	runner_stop(reports.runner, RUNNER_STOP_INTERRUPT);
	fixture_until(reports.ended == 2);
	assert_int_equal(reports.cells[1]->state, CELL_INTERRUPTED);
	assert_string_equal(run_cell("$x")->value, "7");
}

#define TOY_TEST(name) cmocka_unit_test_setup_teardown(name, toy_set_up, runner_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TOY_TEST(a_row_and_a_driver_are_a_language),
		TOY_TEST(its_errors_and_its_end_are_told_as_any_others),
		TOY_TEST(an_interrupt_keeps_its_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
