/* SPDX-License-Identifier: MIT */
/* test_runner_frames.c - large frames are taken in turn by turn, and nothing of them is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/epoll.h>
#include <cmocka.h>

#include "redact/redact.h"
#include "runner_fixture.h"

enum {
	LONG = 4 << 20,
	LONG_VALUE = CELL_TEXT_CHARS_MAX,
	TURN_MAX = 128 << 10, /* bytes of a text that a turn of the loop takes in */
};

/* Runs the cell. Returns after how many turns frames were still pending. */
static size_t count_turns(const char *code)
{
	size_t turns = 0;

	(void)submit(code, 1);
	while (reports.ended == 0) {
		loop_turn(fixture.loop, 1000);
		turns += runner_takes_in(reports.runner);
	}
	return turns;
}

static void a_long_text_takes_many_turns(void **state)
{
	const char *text;

	(void)state;
	assert_true(count_turns("print=before\nlong-display=4194304\nack\nprint=after\ndone") >=
		    LONG / TURN_MAX);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
	text = text_of(reports.cells[0]);
	assert_memory_equal(text, "before\nrrr", 10);
	assert_string_equal(text + strlen(text) - 9, "rrr\nafter");
	assert_int_equal(reports.cells[0]->text_total, LONG + strlen("before\n\nafter"));
}

static void a_long_value_takes_many_turns(void **state)
{
	(void)state;
	assert_true(count_turns("long-result=1048576\nprint=x\ndone") >= LONG_VALUE / TURN_MAX);
	assert_int_equal(strlen(reports.cells[0]->value), LONG_VALUE);
	assert_string_equal(text_of(reports.cells[0]), "x");
}

static void with_secrets_it_is_the_same(void **state)
{
	struct redact *redact = redact_new();

	(void)state;
	redact_add(redact, "R", "rrrrrrrrrrrrrrrr");
	redact_finish(redact);
	reports.runner->c.redact = redact;
	assert_true(count_turns("long-result=1048576\ndone") >= LONG_VALUE / TURN_MAX);
	assert_string_equal(reports.cells[0]->value, "[secret R]");
	runner_free(reports.runner);
	reports.runner = NULL;
	redact_free(redact);
}

static void what_follows_a_long_text_waits_for_it(void **state)
{
	(void)state;
	(void)count_turns("long-display=1048576\nlong-display=1048576\nlong-result=1048576\n"
			  "display=last\ndone");
	assert_int_equal(reports.cells[0]->text_total, 3 * 1048576 + strlen("\n\nlast\n"));
	assert_int_equal(strlen(reports.cells[0]->value), 1048576);
}

static void a_session_that_ends_meanwhile_ends_its_cell_once(void **state)
{
	(void)state;
	(void)submit("long-display=4194304\nhang", 1);
	fixture_until(reports.runner->intake.frame != NULL);
	runner_end(reports.runner, "the session ended");
	assert_int_equal(reports.ended, 1);
	assert_int_equal(reports.cells[0]->state, CELL_DIED);
	assert_non_null(strstr(text_of(reports.cells[0]), "[the rest is left out: "));
}

static void who_is_killed_meanwhile_starts_anew(void **state)
{
	(void)state;
	(void)submit("long-result=4194304\nhang", 1);
	fixture_until(runner_takes_in(reports.runner));
	runner_stop(reports.runner, RUNNER_STOP_KILL);
	fixture_until(reports.ended == 1);
	assert_int_equal(run_cell("done")->state, CELL_DONE);
}

/* Each frame has a cost, however small it is. */
static void many_small_frames_take_many_turns(void **state)
{
	(void)state;
	assert_true(count_turns("displays=5000\ndone") >= 5);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
}

/* Submits with a deadline that is later than a frame's. */
static void submit_patiently(const char *code)
{
	struct err err;

	assert_non_null(runner_submit(reports.runner, code, strlen(code), 10 * RUNNER_FRAME_MS,
				      TAG(1), &err));
}

/* It holds no memory any more, and the interpreter lives. */
static void a_frame_that_does_not_become_whole_is_given_up(void **state)
{
	(void)state;
	submit_patiently("half-result=2097152\nprint=half\nack\nfill-control=2097152\n"
			 "print=whole\ndone");
	fixture_until(has_written("half") && frame_reader_held(reports.runner->frames) >= 2097152);
	fixture_pass(RUNNER_FRAME_MS - 1);
	assert_true(frame_reader_held(reports.runner->frames) >= 2097152);
	fixture_pass(1);
	assert_in_range(frame_reader_held(reports.runner->frames), 0, FRAME_KEPT_MAX);
	runner_send_ack(reports.runner, 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
	assert_non_null(strstr(text_of(reports.cells[0]), "[4194304 bytes are left out: "));
	assert_int_equal(reports.lost, 0);
	assert_int_equal(run_cell("result=x\ndone")->state, CELL_DONE);
	assert_string_equal(reports.cells[1]->value, "x");
}

/* Each frame has its own time. */
static void frames_that_follow_each_other_are_not_late(void **state)
{
	(void)state;
	submit_patiently("half-result=4096\nprint=1\nack\nfill-control=4096\nhalf-result=4096\n"
			 "print=2\nack\nfill-control=4096\ndone");
	fixture_until(has_written("1"));
	fixture_pass(RUNNER_FRAME_MS - 1);
	runner_send_ack(reports.runner, 1);
	fixture_until(has_written("2"));
	fixture_pass(RUNNER_FRAME_MS - 1);
	runner_send_ack(reports.runner, 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(strlen(reports.cells[0]->value), 8192);
}

/* ---- where sessions hold too much ---- */

static struct holdings *holdings;

static int full_set_up(void **state)
{
	int result = runner_set_up(state);

	holdings = holdings_new(fixture.loop);
	reports.runner->c.holder = holdings_join(holdings);
	holdings_take(reports.runner->c.holder, HOLDER_MAX);
	return result;
}

static int full_tear_down(void **state)
{
	struct holder *holder = reports.runner->c.holder;

	runner_free(reports.runner);
	reports.runner = NULL;
	for (size_t i = 0; i < reports.ended; i++)
		cell_free(reports.cells[i]);
	reports.ended = 0;
	holdings_leave(holder);
	holdings_free(holdings);
	return runner_tear_down(state);
}

static bool is_listened_to(void)
{
	return (reports.runner->control_io.events & EPOLLIN) != 0;
}

static void a_frame_waits_for_room(void **state)
{
	(void)state;
	submit_patiently("long-result=1048576\ndone");
	fixture_until(runner_state(reports.runner) == RUNNER_BUSY && !is_listened_to());
	assert_in_range(frame_reader_held(reports.runner->frames), HOLDER_FRAME_SURE_MAX,
			2 * HOLDER_FRAME_SURE_MAX);
	holdings_give_back(reports.runner->c.holder, HOLDER_MAX);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
	assert_int_equal(strlen(reports.cells[0]->value), LONG_VALUE);
	assert_int_equal(reports.cells[0]->held, LONG_VALUE);
}

static void who_waits_too_long_loses_the_frame_and_nothing_else(void **state)
{
	(void)state;
	submit_patiently("long-result=4194304\nresult=x\ndone");
	fixture_until(runner_state(reports.runner) == RUNNER_BUSY && !is_listened_to());
	fixture_pass(RUNNER_FRAME_MS);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DONE);
	assert_non_null(strstr(text_of(reports.cells[0]), "[4194304 bytes are left out: "));
	assert_string_equal(reports.cells[0]->value, "x");
	assert_int_equal(reports.lost, 0);
	holdings_give_back(reports.runner->c.holder, HOLDER_MAX);
}

static void small_cells_run_all_the_same(void **state)
{
	(void)state;
	assert_string_equal(run_cell("display=a\nack\nresult=x\ndone")->value, "x");
	holdings_give_back(reports.runner->c.holder, HOLDER_MAX);
}

static void a_value_for_which_there_is_no_room_is_cut_and_that_is_told(void **state)
{
	const struct cell *cell = run_cell("long-result=200704\ndone");

	(void)state;
	assert_in_range(strlen(cell->value), CELL_WORDS_BYTES_MAX, CELL_WORDS_BYTES_MAX + 200);
	assert_non_null(strstr(cell->value, "[the rest is left out: sessions hold too much"));
	holdings_give_back(reports.runner->c.holder, HOLDER_MAX);
}

static void who_closes_the_channel_meanwhile_is_not_waited_for(void **state)
{
	(void)state;
	submit_patiently("half-result=262144\nclose-control\nhang");
	fixture_until(loop_timer_active(&reports.runner->closed_timer));
	fixture_pass(1000);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.cells[0]->state, CELL_DIED);
	holdings_give_back(reports.runner->c.holder, HOLDER_MAX);
}

#define FULL_TEST(name) cmocka_unit_test_setup_teardown(name, full_set_up, full_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNNER_TEST(a_long_text_takes_many_turns),
		RUNNER_TEST(a_long_value_takes_many_turns),
		RUNNER_TEST(with_secrets_it_is_the_same),
		RUNNER_TEST(what_follows_a_long_text_waits_for_it),
		RUNNER_TEST(a_session_that_ends_meanwhile_ends_its_cell_once),
		RUNNER_TEST(who_is_killed_meanwhile_starts_anew),
		RUNNER_TEST(many_small_frames_take_many_turns),
		RUNNER_TEST(a_frame_that_does_not_become_whole_is_given_up),
		RUNNER_TEST(frames_that_follow_each_other_are_not_late),
		FULL_TEST(a_frame_waits_for_room),
		FULL_TEST(who_waits_too_long_loses_the_frame_and_nothing_else),
		FULL_TEST(small_cells_run_all_the_same),
		FULL_TEST(a_value_for_which_there_is_no_room_is_cut_and_that_is_told),
		FULL_TEST(who_closes_the_channel_meanwhile_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
