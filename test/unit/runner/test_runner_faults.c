/* SPDX-License-Identifier: MIT */
/*
 * test_runner_faults.c - interpreters that break the protocol, die, hang or flood: every cell still
 * ends exactly once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <cmocka.h>

#include "runner_fixture.h"

/* Bytes read in one turn at most, however much comes. */
enum { TURN_BYTES_MAX = 128 << 10 };

/* Advances the clock to the last step of the escalation, before the runner gives up. */
static void pass_to_the_kill(void)
{
	for (unsigned int ms = 0; ms <= RUNNER_KILL_MS; ms += 100)
		fixture_pass(100);
}

/* After any fault the next cell must run in a new interpreter. */
static void expect_recovery(void)
{
	fixture_start_with(STEPS("ready"));
	assert_int_equal(run_cell("done")->state, CELL_DONE);
}

/* ---- starting ---- */

static void expect_not_started(const char *why)
{
	const struct cell *cell = reports.cells[0];

	assert_int_equal(reports.ended, 1);
	assert_int_equal(cell->state, CELL_NOT_STARTED);
	assert_false(cell->ran);
	assert_int_equal(reports.started, 0);
	if (strstr(cell->problem, why) == NULL)
		fail_msg("'%s' does not say '%s'", cell->problem, why);
	expect_recovery();
}

static void a_cell_that_is_refused_as_its_turn_comes_does_not_start(void **state)
{
	(void)state;
	fixture_start_with(STEPS("ready"));
	reports.refusal = "not now";
	(void)run_cell("done");
	reports.refusal = NULL;
	expect_not_started("not now");
}

static void no_interpreter_is_told_with_how_to_get_one(void **state)
{
	static const char *const nowhere[] = { "PATH=/nowhere", NULL };
	char **environment = fixture.settings.environment;

	(void)state;
	fixture.settings.environment = (char **)(uintptr_t)nowhere;
	(void)run_cell("done");
	fixture.settings.environment = environment;
	expect_not_started("no 'fake_driver' on PATH: install it (build it)");
}

static void a_file_that_is_no_program_is_told(void **state)
{
	char **environment = fixture.settings.environment;
	char variable[160];
	const char *broken[] = { variable, NULL };
	char path[128];

	(void)state;
	scratch_write(fixture.scratch.fd, "text", "no program");
	(void)snprintf(path, sizeof(path), "%s/text", fixture.scratch.path);
	assert_int_equal(chmod(path, 0700), 0);
	(void)snprintf(variable, sizeof(variable), "PTYCELL_FAKE=%s", path);
	fixture.settings.environment = (char **)(uintptr_t)broken;
	(void)run_cell("done");
	fixture.settings.environment = environment;
	expect_not_started("could not be started");
}

static void ready_that_never_comes_is_a_timeout_by_the_clock(void **state)
{
	(void)state;
	fixture_start_with(STEPS("print=thinking", "hang"));
	(void)submit("done", 1);
	fixture_until(reports.runner->background != NULL);
	fixture_pass(RUNNER_READY_MS - 1);
	assert_int_equal(reports.ended, 0);
	fixture_pass(1);
	fixture_until(reports.ended == 1);
	expect_not_started("did not become ready in 30 s; it printed 'thinking'");
}

/* Also if they have gone meanwhile: what the start lacked was not made a second time. */
static void others_that_took_the_room_of_a_start_are_told(void **state)
{
	(void)state;
	fixture_start_with(STEPS("print=" END_TEXT_NO_PROCESS, "hang"));
	(void)submit("done", 1);
	fixture_until(reports.runner->background != NULL);
	runner_note_crowd(reports.runner, CROWD_USER);
	runner_note_crowd(reports.runner, CROWD_NONE);
	assert_int_equal(runner_state(reports.runner), RUNNER_STARTING);
	fixture_pass(RUNNER_READY_MS);
	fixture_until(reports.ended == 1);
	expect_not_started("Other processes of the user took the room");
}

static void a_start_without_room_for_a_process_ends_early(void **state)
{
	(void)state;
	fixture_start_with(STEPS("print=" END_TEXT_NO_PROCESS, "hang"));
	(void)submit("done", 1);
	fixture_until(reports.runner->background != NULL);
	runner_note_crowd(reports.runner, CROWD_SESSION);
	fixture_until(reports.ended == 1);
	expect_not_started("as many processes and threads as processes_max");
}

static void a_start_that_takes_too_long_may_still_come_late(void **state)
{
	(void)state;
	(void)submit("done", 1);
	loop_turn(fixture.loop, 0); /* requested, not there yet */
	assert_int_equal(runner_state(reports.runner), RUNNER_STARTING);
	loop_timer_start(fixture.loop, &reports.runner->ready, 0, reports.runner->ready.fn);
	reports.hold = true;
	fixture_until(reports.ended == 1);
	fixture_until(runner_state(reports.runner) == RUNNER_IDLE);
	assert_false(loop_io_active(&reports.runner->control_io));
	reports.hold = false;
	runner_next(reports.runner);
	expect_not_started("did not become ready");
}

static void a_wrong_nonce_is_refused(void **state)
{
	(void)state;
	fixture_start_with(STEPS("ready=00000000000000000000000000000000"));
	(void)run_cell("done");
	expect_not_started("wrong handshake");
}

static void a_wrong_protocol_is_refused(void **state)
{
	(void)state;
	fixture_start_with(STEPS("ready-proto=2"));
	(void)run_cell("done");
	expect_not_started("wrong handshake");
}

static void who_speaks_before_ready_is_refused(void **state)
{
	(void)state;
	fixture_start_with(STEPS("raw=done 1 0\\n", "hang"));
	(void)run_cell("done");
	expect_not_started("spoke before it was ready");
}

static void garbage_instead_of_ready_is_refused(void **state)
{
	(void)state;
	fixture_start_with(STEPS("raw=Traceback (most recent call last):\\n", "hang"));
	(void)run_cell("done");
	expect_not_started("broke the control channel");
}

static void an_interpreter_that_ends_at_once_tells_its_status_and_words(void **state)
{
	(void)state;
	fixture_start_with(STEPS("print=no module named encodings", "exit=3"));
	(void)run_cell("done");
	expect_not_started("exited with code 3; it printed 'no module named encodings'");
}

static void an_interpreter_that_closes_the_channel_at_once_is_given_up(void **state)
{
	(void)state;
	fixture_start_with(STEPS("close-control", "hang"));
	(void)submit("done", 1);
	fixture_until(loop_timer_active(&reports.runner->closed_timer));
	fixture_pass(20000);
	fixture_until(reports.ended == 1);
	expect_not_started("closed the control channel");
}

/* What the server ends, such as for the session's memory, is no fault of the program's. */
static void who_is_killed_as_it_starts_is_not_to_be_replaced(void **state)
{
	(void)state;
	fixture_start_with(STEPS("print=thinking", "hang"));
	(void)submit("done", 1);
	fixture_until(reports.runner->background != NULL);
	runner_kill(reports.runner, "the session used too much");
	fixture_until(reports.ended == 1);
	expect_not_started("could not start: the session used too much");
	assert_null(strstr(reports.cells[0]->problem, "to one that works"));
}

static void everything_queued_fails_with_the_start(void **state)
{
	(void)state;
	fixture_start_with(STEPS("exit=1"));
	for (uintptr_t i = 1; i <= 3; i++)
		(void)submit("done", i);
	fixture_until(reports.ended == 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(reports.cells[i]->state, CELL_NOT_STARTED);
		assert_ptr_equal(reports.datas[i], TAG(i + 1));
	}
	expect_recovery();
}

/* ---- dying ---- */

static void expect_died(const struct cell *cell, const char *why)
{
	assert_int_equal(cell->state, CELL_DIED);
	assert_true(cell->interpreter_lost);
	if (strstr(cell->problem, why) == NULL)
		fail_msg("'%s' does not say '%s'", cell->problem, why);
	assert_int_equal(reports.lost, 1);
	assert_true(reports.lost_told);
	expect_recovery();
	assert_int_equal(reports.lost, 1);
}

static void a_crash_tells_the_signal_and_keeps_the_output(void **state)
{
	const struct cell *cell = run_cell("print=before\ncrash=11");

	(void)state;
	assert_string_equal(text_of(cell), "before");
	assert_int_equal(cell->signal, SIGSEGV);
	expect_died(cell, "killed by signal 11 (SIGSEGV)");
}

static void a_kill_from_outside_speaks_of_memory(void **state)
{
	expect_died(run_cell("crash=9"), "as by `kill -9`, or by the kernel when memory runs out");
	(void)state;
}

static void an_exit_tells_its_code(void **state)
{
	const struct cell *cell = run_cell("exit=7");

	(void)state;
	assert_true(cell->has_exit_code);
	assert_int_equal(cell->exit_code, 7);
	expect_died(cell, "exited with code 7");
}

static void an_end_behind_done_belongs_to_no_cell(void **state)
{
	const struct cell *cell = run_cell("done\nexit=0");

	(void)state;
	assert_int_equal(cell->state, CELL_DONE);
	fixture_until(reports.lost == 1);
	assert_false(reports.lost_told);
	assert_string_equal(reports.why, "the interpreter exited with code 0");
	assert_true(runner_exited(reports.runner));
	expect_recovery();
	assert_false(runner_exited(reports.runner)); /* the new one has not ended */
}

static void cells_behind_one_that_died_run_in_a_new_interpreter(void **state)
{
	(void)state;
	(void)submit("crash=6", 1);
	(void)submit("print=new\ndone", 2);
	fixture_until(reports.ended == 2);
	assert_int_equal(reports.cells[0]->state, CELL_DIED);
	assert_int_equal(reports.cells[1]->state, CELL_DONE);
	assert_string_equal(text_of(reports.cells[1]), "new");
}

/* ---- the control channel ---- */

static void garbage_on_the_channel_ends_the_interpreter(void **state)
{
	expect_died(run_cell("raw=!!garbage!!\\n\nhang"),
		    "broke the interpreter's control channel");
	(void)state;
}

static void a_length_past_the_limit_ends_the_interpreter(void **state)
{
	expect_died(run_cell("raw=result 1 1\\ntext/plain 99999999999\\n\nhang"),
		    "broke the interpreter's control channel");
	(void)state;
}

static void an_unknown_message_ends_the_interpreter(void **state)
{
	expect_died(run_cell("raw=dance 1 0\\n\nhang"), "unknown message");
	(void)state;
}

static void a_closed_channel_ends_the_interpreter_after_a_grace(void **state)
{
	(void)state;
	(void)submit("close-control\nhang", 1);
	fixture_until(loop_timer_active(&reports.runner->closed_timer));
	assert_int_equal(reports.ended, 0);
	fixture_pass(1000);
	fixture_until(reports.ended == 1);
	expect_died(reports.cells[0], "closed the interpreter's control channel");
}

static void a_channel_closed_between_cells_is_a_loss(void **state)
{
	(void)state;
	(void)run_cell("done\nclose-control\nhang");
	fixture_until(loop_timer_active(&reports.runner->closed_timer));
	fixture_pass(1000);
	fixture_until(reports.lost == 1);
	assert_false(reports.lost_told);
	expect_recovery();
}

static void half_a_message_is_no_end(void **state)
{
	(void)state;
	(void)submit("raw=done 1 1\\nstatus 2\\no\nprint=half\nwait", 1);
	fixture_until(has_written("half"));
	assert_int_equal(reports.ended, 0);
	runner_stop(reports.runner, RUNNER_STOP_DEADLINE);
	fixture_until(reports.ended == 1);
}

static void a_text_that_no_driver_of_ours_sends_is_cut(void **state)
{
	(void)state;
	assert_int_equal(strlen(run_cell("long-result=8388608\ndone")->value), CELL_TEXT_CHARS_MAX);
}

static void an_end_with_another_id_ends_nothing(void **state)
{
	const struct cell *cell;

	(void)state;
	(void)run_cell("done");
	cell = run_cell("id=1\nresult=old\ndone=error\nid=99\ndone=error\nid=2\nresult=new\ndone");
	assert_int_equal(cell->state, CELL_DONE);
	assert_string_equal(cell->value, "new");
}

static void a_second_end_is_nobodys(void **state)
{
	(void)state;
	assert_int_equal(run_cell("done\ndone=error\ndone")->state, CELL_DONE);
	assert_int_equal(run_cell("result=two\ndone")->state, CELL_DONE);
	assert_string_equal(reports.cells[1]->value, "two");
	assert_int_equal(reports.ended, 2);
	assert_int_equal(reports.lost, 0);
}

static void a_driver_that_reads_no_acknowledgements_costs_no_memory(void **state)
{
	(void)state;
	(void)submit("displays=200000\nhang", 1);
	fixture_until(reports.runner->to_driver.len > RUNNER_UNREAD_MAX);
	for (int i = 0; i < 1000; i++) {
		loop_turn(fixture.loop, 0);
		assert_true(reports.runner->to_driver.len < 2 * RUNNER_UNREAD_MAX);
	}
	fixture_pass(30000); /* each waits for the other to read, until the deadline */
	fixture_until(reports.runner->step > 0);
	pass_to_the_kill();
	fixture_until(reports.ended == 1);
	expect_recovery();
}

static void acknowledgements_read_late_let_it_go_on(void **state)
{
	static char code[40000] = "displays=20000\n";
	size_t len = strlen(code);

	(void)state;
	while (len < 20000)
		len += (size_t)snprintf(code + len, sizeof(code) - len, "ack\n");
	(void)snprintf(code + len, sizeof(code) - len, "done");
	assert_int_equal(run_cell(code)->state, CELL_DONE);
}

static void a_driver_that_reads_nothing_blocks_nobody(void **state)
{
	static char code[400000];
	struct err err;

	(void)state;
	fixture_start_with(STEPS("ready", "hang"));
	memset(code, '\n', sizeof(code));
	assert_non_null(runner_submit(reports.runner, code, sizeof(code), 1000, TAG(1), &err));
	fixture_until(runner_state(reports.runner) == RUNNER_BUSY);
	loop_turn(fixture.loop, 0);
	assert_true(reports.runner->to_driver.len > 0);
	fixture_pass(1000);
	fixture_until(reports.runner->step > 0);
	pass_to_the_kill();
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_TIMED_OUT);
	expect_recovery();
}

static void a_flood_on_the_terminal_leaves_the_loop_its_turns(void **state)
{
	(void)state;
	(void)submit("flood=100000000", 1);
	while (reports.wrote < 10 * (size_t)TURN_BYTES_MAX) {
		size_t before = reports.wrote;

		loop_turn(fixture.loop, -1);
		assert_in_range(reports.wrote - before, 0, TURN_BYTES_MAX);
	}
	runner_stop(
		reports.runner,
		RUNNER_STOP_DEADLINE); /* a flood does not read the interrupt flag of the driver */
	pass_to_the_kill();
	fixture_until(reports.ended == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNNER_TEST(a_cell_that_is_refused_as_its_turn_comes_does_not_start),
		RUNNER_TEST(no_interpreter_is_told_with_how_to_get_one),
		RUNNER_TEST(a_file_that_is_no_program_is_told),
		RUNNER_TEST(ready_that_never_comes_is_a_timeout_by_the_clock),
		RUNNER_TEST(others_that_took_the_room_of_a_start_are_told),
		RUNNER_TEST(a_start_without_room_for_a_process_ends_early),
		RUNNER_TEST(a_start_that_takes_too_long_may_still_come_late),
		RUNNER_TEST(a_wrong_nonce_is_refused),
		RUNNER_TEST(a_wrong_protocol_is_refused),
		RUNNER_TEST(who_speaks_before_ready_is_refused),
		RUNNER_TEST(garbage_instead_of_ready_is_refused),
		RUNNER_TEST(an_interpreter_that_ends_at_once_tells_its_status_and_words),
		RUNNER_TEST(an_interpreter_that_closes_the_channel_at_once_is_given_up),
		RUNNER_TEST(who_is_killed_as_it_starts_is_not_to_be_replaced),
		RUNNER_TEST(everything_queued_fails_with_the_start),
		RUNNER_TEST(a_crash_tells_the_signal_and_keeps_the_output),
		RUNNER_TEST(a_kill_from_outside_speaks_of_memory),
		RUNNER_TEST(an_exit_tells_its_code),
		RUNNER_TEST(an_end_behind_done_belongs_to_no_cell),
		RUNNER_TEST(cells_behind_one_that_died_run_in_a_new_interpreter),
		RUNNER_TEST(garbage_on_the_channel_ends_the_interpreter),
		RUNNER_TEST(a_length_past_the_limit_ends_the_interpreter),
		RUNNER_TEST(an_unknown_message_ends_the_interpreter),
		RUNNER_TEST(a_closed_channel_ends_the_interpreter_after_a_grace),
		RUNNER_TEST(a_channel_closed_between_cells_is_a_loss),
		RUNNER_TEST(half_a_message_is_no_end),
		RUNNER_TEST(a_text_that_no_driver_of_ours_sends_is_cut),
		RUNNER_TEST(an_end_with_another_id_ends_nothing),
		RUNNER_TEST(a_second_end_is_nobodys),
		RUNNER_TEST(a_driver_that_reads_no_acknowledgements_costs_no_memory),
		RUNNER_TEST(acknowledgements_read_late_let_it_go_on),
		RUNNER_TEST(a_driver_that_reads_nothing_blocks_nobody),
		RUNNER_TEST(a_flood_on_the_terminal_leaves_the_loop_its_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
