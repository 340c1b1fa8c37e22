/* SPDX-License-Identifier: MIT */
/* Frames that are large: they are taken in turn by turn, and nothing of them is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runner_fixture.h"
#include "text/redact.h"

enum {
	LONG = 4 << 20,
	TURN_MAX = 128 << 10, /* bytes of a text that a turn of the loop takes in */
};

/* Runs the cell; returns how many turns had something left to take in. */
static size_t count_turns(const char *code)
{
	size_t turns = 0;

	(void)submit(code, 1);
	while (told.ended == 0) {
		loop_turn(fixture.loop, 1000);
		turns += runner_takes_in(told.runner);
	}
	return turns;
}

static void a_long_text_takes_many_turns(void **state)
{
	const char *text;

	(void)state;
	assert_true(count_turns("print=before\nlong-display=4194304\nack\nprint=after\ndone") >=
		    LONG / TURN_MAX);
	assert_int_equal(told.cells[0]->state, CELL_DONE);
	text = text_of(told.cells[0]);
	assert_memory_equal(text, "before\nrrr", 10);
	assert_string_equal(text + strlen(text) - 9, "rrr\nafter");
	assert_int_equal(told.cells[0]->text_total, LONG + strlen("before\n\nafter"));
}

static void a_long_value_takes_many_turns(void **state)
{
	(void)state;
	assert_true(count_turns("long-result=4194304\nprint=x\ndone") >= LONG / TURN_MAX);
	assert_int_equal(strlen(told.cells[0]->value), LONG);
	assert_string_equal(text_of(told.cells[0]), "x");
}

static void with_secrets_it_is_the_same(void **state)
{
	struct redact *redact = redact_new();

	(void)state;
	redact_add(redact, "R", "rrrrrrrrrrrrrrrr");
	redact_finish(redact);
	told.runner->c.redact = redact;
	assert_true(count_turns("long-result=4194304\ndone") >= LONG / TURN_MAX);
	assert_string_equal(told.cells[0]->value, "[secret R]");
	runner_free(told.runner);
	told.runner = NULL;
	redact_free(redact);
}

static void what_follows_a_long_text_waits_for_it(void **state)
{
	(void)state;
	(void)count_turns("long-display=1048576\nlong-display=1048576\nlong-result=1048576\n"
			  "display=last\ndone");
	assert_int_equal(told.cells[0]->text_total, 3 * 1048576 + strlen("\n\nlast\n"));
	assert_int_equal(strlen(told.cells[0]->value), 1048576);
}

static void who_dies_meanwhile_is_told_to_have_said_more(void **state)
{
	(void)state;
	(void)count_turns("long-display=4194304\ncrash=9");
	assert_int_equal(told.cells[0]->state, CELL_DIED);
	assert_non_null(strstr(text_of(told.cells[0]), "[the rest is left out: "));
}

static void a_session_that_ends_meanwhile_ends_its_cell_once(void **state)
{
	(void)state;
	(void)submit("long-display=4194304\nhang", 1);
	fixture_until(runner_takes_in(told.runner));
	runner_end(told.runner, "the session ended");
	assert_int_equal(told.ended, 1);
	assert_int_equal(told.cells[0]->state, CELL_DIED);
}

static void who_is_killed_meanwhile_starts_anew(void **state)
{
	(void)state;
	(void)submit("long-result=4194304\nhang", 1);
	fixture_until(runner_takes_in(told.runner));
	runner_stop(told.runner, RUNNER_STOP_KILL);
	fixture_until(told.ended == 1);
	assert_int_equal(run_cell("done")->state, CELL_DONE);
}

/* Each costs a little, however small it is. */
static void many_small_frames_take_many_turns(void **state)
{
	(void)state;
	assert_true(count_turns("displays=5000\ndone") >= 5);
	assert_int_equal(told.cells[0]->state, CELL_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNNER_TEST(a_long_text_takes_many_turns),
		RUNNER_TEST(a_long_value_takes_many_turns),
		RUNNER_TEST(with_secrets_it_is_the_same),
		RUNNER_TEST(what_follows_a_long_text_waits_for_it),
		RUNNER_TEST(who_dies_meanwhile_is_told_to_have_said_more),
		RUNNER_TEST(a_session_that_ends_meanwhile_ends_its_cell_once),
		RUNNER_TEST(who_is_killed_meanwhile_starts_anew),
		RUNNER_TEST(many_small_frames_take_many_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
