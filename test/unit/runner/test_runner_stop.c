/* SPDX-License-Identifier: MIT */
/*
 * test_runner_stop.c - deadlines and stops: which signal is sent when, the grace period, and
 * whether state is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <cmocka.h>

#include "runner_fixture.h"

/* After a loss the next cell must run in a new interpreter. */
static void expect_recovery(void)
{
	fixture_start_with(STEPS("ready"));
	assert_int_equal(run_cell("done")->state, CELL_DONE);
}

static void expect_output(const char *text)
{
	fixture_until(has_written(text));
}

static void a_deadline_interrupts_and_keeps_the_state(void **state)
{
	const struct cell *cell;

	(void)state;
	(void)submit("print=go\nwait", 1);
	expect_output("go");
	fixture_pass(29999);
	assert_int_equal(reports.ended, 0);
	fixture_pass(1);
	fixture_until(reports.ended == 1);
	cell = reports.cells[0];
	assert_int_equal(cell->state, CELL_TIMED_OUT);
	assert_false(cell->interpreter_lost);
	assert_int_equal(reports.lost, 0);
	assert_int_equal(run_cell("done")->state, CELL_DONE);
}

/* What the server did in the same turn takes nothing from the code's time. */
static void a_deadline_counts_from_the_start(void **state)
{
	(void)state;
	reports.starting_ms = 20000;
	(void)submit("print=go\nwait", 1);
	expect_output("go");
	fixture_pass(29999);
	fixture_pass(0);
	assert_false(reports.runner->timed_out);
	fixture_pass(1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_TIMED_OUT);
}

/* Each step comes at its time and not before. */
static void the_ladder_is_int_int_usr2_term_kill(void **state)
{
	static const char code[] = "catch=2\ncatch=12\ncatch=15\nprint=go\nhang";
	const struct cell *cell;

	(void)state;
	(void)submit(code, 1);
	expect_output("go");
	fixture_pass(30000);
	expect_output("go<02>");
	fixture_pass(RUNNER_SECOND_INTERRUPT_MS - 1);
	assert_int_equal(reports.runner->step, 1);
	fixture_pass(1);
	expect_output("go<02><02>");
	fixture_pass(RUNNER_DUMP_MS - RUNNER_SECOND_INTERRUPT_MS);
	expect_output("go<02><02><12>");
	fixture_pass(RUNNER_TERMINATE_MS - RUNNER_DUMP_MS);
	expect_output("go<02><02><12><15>");
	fixture_pass(RUNNER_KILL_MS - RUNNER_TERMINATE_MS - 1);
	assert_int_equal(reports.ended, 0);
	fixture_pass(1);
	fixture_until(reports.ended == 1);
	cell = reports.cells[0];
	assert_int_equal(cell->state, CELL_TIMED_OUT);
	assert_true(cell->interpreter_lost);
	assert_int_equal(cell->signal, SIGKILL);
	assert_string_equal(text_of(cell), "go<02><02><12><15>");
	assert_int_equal(reports.lost, 1);
	expect_recovery();
}

/* Code may have a handler that ends its work at the second. */
static void only_a_caller_repeats_an_interrupt(void **state)
{
	(void)state;
	(void)submit("catch=2\ncatch=12\ncatch=23\nprint=go\nhang", 1);
	expect_output("go");
	runner_stop(reports.runner, RUNNER_STOP_INTERRUPT);
	expect_output("go<02>");
	fixture_pass(RUNNER_SECOND_INTERRUPT_MS);
	expect_output("go<02><23>");
	for (unsigned int ms = RUNNER_SECOND_INTERRUPT_MS; ms < RUNNER_TERMINATE_MS; ms += 100)
		fixture_pass(100);
	expect_output("go<02><23><12>"); /* it is asked where it hangs */
	runner_stop(reports.runner, RUNNER_STOP_INTERRUPT);
	expect_output("go<02><23><12><02>");
	runner_stop(reports.runner, RUNNER_STOP_KILL);
	fixture_until(reports.ended == 1);
	expect_recovery();
}

/* Begins the grace period of a cell with a deadline of 30 s. */
static void begin_grace(uint64_t grace_ms)
{
	reports.runner->c.stop_grace_ms = grace_ms;
	(void)submit("ignore=2\nignore=12\ncatch=15\nprint=go\nread\ndone", 1);
	expect_output("go");
	loop_timer_stop(&reports.runner->watch.timer); /* it would find that the code reads */
	reports.runner->timed_out = true;
	runner_stop(reports.runner, RUNNER_STOP_DEADLINE);
	for (unsigned int ms = 0; ms < RUNNER_TERMINATE_MS; ms += 100)
		fixture_pass(100);
	fixture_until(reports.overdue == 1);
	assert_int_equal(reports.ended, 0);
}

static void a_cell_that_ends_in_its_grace_keeps_its_state(void **state)
{
	(void)state;
	begin_grace(30000);
	fixture_pass(29000);
	assert_int_equal(write(interpreter_pty(reports.runner->interpreter), "\n", 1), 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
	assert_true(reports.cells[0]->overdue);
	assert_false(cell_goes_on(reports.cells[0]));
	fixture_pass(RUNNER_KILL_MS); /* the escalation was stopped */
	assert_int_equal(run_cell("done")->state, CELL_DONE);
	assert_int_equal(reports.lost, 0);
}

static void the_ladder_goes_on_after_the_grace(void **state)
{
	(void)state;
	begin_grace(30000);
	fixture_pass(30000 - 100 - 1);
	assert_int_equal(reports.runner->cell->grace_left_ms > 0, true);
	assert_string_equal(text_of(reports.runner->cell), "go");
	fixture_pass(101);
	for (unsigned int ms = RUNNER_SECOND_INTERRUPT_MS; ms < RUNNER_TERMINATE_MS; ms += 100)
		fixture_pass(100);
	expect_output("<15>");
	fixture_pass(RUNNER_KILL_MS - RUNNER_TERMINATE_MS);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_TIMED_OUT);
	assert_true(reports.cells[0]->interpreter_lost);
	assert_int_equal(reports.overdue, 1);
	expect_recovery();
}

static void a_stop_in_the_grace_does_not_wait_for_its_end(void **state)
{
	(void)state;
	begin_grace(30000);
	runner_stop(reports.runner, RUNNER_STOP_KILL);
	fixture_until(reports.ended == 1);
	assert_true(reports.cells[0]->interpreter_lost);
	expect_recovery();
}

/* A tenth of the deadline, if that is more. */
static void a_long_cell_has_a_longer_grace(void **state)
{
	(void)state;
	begin_grace(1000);
	assert_int_equal(reports.runner->grace_end_ms - loop_now(fixture.loop) > 2000, true);
	assert_int_equal(reports.runner->grace_end_ms - loop_now(fixture.loop) <= 3000, true);
	runner_stop(reports.runner, RUNNER_STOP_KILL);
	fixture_until(reports.ended == 1);
}

static void a_cell_that_gives_in_on_the_way_keeps_its_state(void **state)
{
	(void)state;
	(void)submit("catch=2\nprint=go\nread\ndone=interrupted", 1);
	expect_output("go");
	runner_stop(reports.runner, RUNNER_STOP_DEADLINE);
	expect_output("go<02>");
	assert_int_equal(write(interpreter_pty(reports.runner->interpreter), "\n", 1), 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_INTERRUPTED);
	fixture_pass(RUNNER_KILL_MS); /* the escalation was stopped */
	assert_int_equal(run_cell("done")->state, CELL_DONE);
	assert_int_equal(reports.lost, 0);
}

static struct input_state looked;

static void on_looked(struct interpreter *interpreter, const struct input_state *look)
{
	(void)interpreter;
	looked = *look;
}

static enum input_wait look(void)
{
	interpreter_check_input(reports.runner->interpreter, on_looked);
	loop_turn(fixture.loop, 20);
	return looked.wait;
}

/* The clock stands still meanwhile; the poll at the deadline finds a wait that has just begun. */
static void a_cell_that_waits_for_input_at_its_deadline_is_not_overdue(void **state)
{
	(void)state;
	(void)submit("print=name? \nread\ndone", 1);
	expect_output("name?");
	looked.wait = INPUT_NOT_AWAITED;
	fixture_until(look() == INPUT_AWAITED);
	loop_timer_stop(&reports.runner->watch.timer);
	fixture_pass(30000);
	fixture_until(reports.waits == 1);
	assert_string_equal(runner_wait(reports.runner)->prompt, "name?");
	fixture_pass(100000);
	assert_int_equal(reports.runner->step, 0);
	(void)!write(interpreter_pty(reports.runner->interpreter), "\n", 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
}

/* Unconfined code can stop its supervisor; init, which is above both, continues it. */
static void code_that_stops_its_supervisor_is_killed_by_it_all_the_same(void **state)
{
	(void)state;
	(void)submit("ignore=2\nstop-supervisor\nprint=go\nhang", 1);
	expect_output("go");
	runner_stop(reports.runner, RUNNER_STOP_KILL);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DIED);
	assert_int_equal(reports.cells[0]->signal, SIGKILL);
	fixture_until(runner_state(reports.runner) == RUNNER_IDLE);
	expect_recovery();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RUNNER_TEST(a_deadline_interrupts_and_keeps_the_state),
		RUNNER_TEST(a_deadline_counts_from_the_start),
		RUNNER_TEST(the_ladder_is_int_int_usr2_term_kill),
		RUNNER_TEST(only_a_caller_repeats_an_interrupt),
		RUNNER_TEST(a_cell_that_gives_in_on_the_way_keeps_its_state),
		RUNNER_TEST(a_cell_that_waits_for_input_at_its_deadline_is_not_overdue),
		RUNNER_TEST(a_cell_that_ends_in_its_grace_keeps_its_state),
		RUNNER_TEST(the_ladder_goes_on_after_the_grace),
		RUNNER_TEST(a_stop_in_the_grace_does_not_wait_for_its_end),
		RUNNER_TEST(a_long_cell_has_a_longer_grace),
		RUNNER_TEST(code_that_stops_its_supervisor_is_killed_by_it_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
