/* SPDX-License-Identifier: MIT */
/* test_values.c - variables are saved in quiet moments and come back. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fd.h"
#include "session/restore.h"
#include "session/table_internal.h"
#include "values_fixture.h"

static char *report;
static bool failed;
static int reports;
static int saves;
static struct err err;

static int set_up_values(void **state)
{
	report = NULL;
	reports = 0;
	saves = 0;
	return set_up_saving(state);
}

static int tear_down_values(void **state)
{
	mem_cleanup(&report);
	return tear_down(state);
}

static void on_report(void *data, const char *text, bool has_failed)
{
	(void)data;
	free(report);
	report = xstrdup(text);
	failed = has_failed;
	reports++;
}

static void on_save_over(void *data)
{
	(void)data;
	saves++;
}

static void restore(struct session *session)
{
	int before = reports;

	if (session_values_restore(session, &err) < 0)
		fail_msg("%s", err.msg);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == before + 1);
}

static void assert_told(const char *text)
{
	assert_non_null(report);
	if (strstr(report, text) == NULL)
		fail_msg("no '%s' in: %s", text, report);
}

/* Lets the quiet moment pass after a cell, and waits for the end of the save. */
static void be_quiet(struct session *session)
{
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(!runner_saves(runner_of(session)));
}

static void they_are_saved_when_it_is_quiet_and_come_back(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS - 1);
	assert_false(runner_saves(runner_of(session)));
	assert_int_equal(saved_cell(session), 0);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 1);
	assert_int_equal(session_values_saved(session).names, 3);
	assert_int_equal(session_values_saved(session).ms, 70);

	restart();
	session = open_one("a");
	assert_int_equal(saved_cell(session), 1);
	run_cell(session, "done");
	restore(session);
	assert_false(failed);
	assert_told("The variables of session 'a' are back as they were after cell 1 (");
	assert_told("\nBack: x, y.");
	assert_told("\nNot back: lock (no).");
	assert_told("\nNot replaced, because they were there: k.");
	assert_told("\nDefined again, which may have changed other variables twice: f.");
	run_cell(session, "done");
	assert_int_equal(session_last_number(&session->languages[0]), 3);
}

static void a_save_waits_until_the_last_one_is_a_tenth_of_the_time(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saves-raw=\ndone");
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(runner_saves(runner_of(session)));
	fixture_pass(RUNNER_SAVE_MS); /* it does not end: given up */
	assert_false(runner_saves(runner_of(session)));
	run_cell(session, SAVES);
	fixture_pass(SESSION_VALUES_QUIET_MS);
	assert_false(runner_saves(runner_of(session)));
	fixture_until(!session_has_work(session));
	fixture_pass((uint64_t)SESSION_VALUES_PARTS * RUNNER_SAVE_MS);
	fixture_until((be_quiet(session), saved_cell(session) == 2));
}

static int count_files(struct session *session)
{
	DIR *dir = fd_list(workspace_journal_fd(session->workspace));
	const struct dirent *entry;
	int count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += strncmp(entry->d_name, "variables-", strlen("variables-")) == 0;
	(void)closedir(dir);
	return count;
}

static void a_cell_that_ends_beside_a_save_begins_no_other(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saves-raw=\ndone");
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(runner_saves(runner_of(session)) && runner_of(session)->query == NULL);
	run_cell(session, SAVES);
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	assert_true(runner_saves(runner_of(session)));
	fixture_pass(RUNNER_SAVE_MS); /* it does not end: given up, with its file */
	assert_false(runner_saves(runner_of(session)));
	assert_int_equal(count_files(session), 0);
}

static void what_breaks_the_pipe_leaves_the_one_before(void **state)
{
	static const char *const ways[] = {
		"save=saves-raw=garbage\\n\ndone",
		"save=save-failed=no memory\ndone",
		"save=refuse=the code has threads\ndone",
	};
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		run_cell(session, ways[i]);
		for (int tries = 0; tries < SESSION_VALUES_TRIES; tries++)
			be_quiet(session);
		assert_int_equal(saved_cell(session), 1);
	}
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 5);
}

static void frames_of_another_save_do_not_count(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saves-raw=saved 7 1\\nnames 1\\n3\ndone");
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(runner_of(session)->save != NULL && runner_of(session)->query == NULL);
	for (int i = 0; i < 10; i++)
		loop_turn(fixture.loop, 1);
	assert_true(runner_saves(runner_of(session)));
	assert_int_equal(saved_cell(session), 0);
}

static void a_file_beyond_the_maximum_is_given_up(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.resume_variables = 5;
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 0);
}

static void where_it_is_off_nothing_is_saved(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.resume_variables = 0;
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 0);
	assert_false(session_values_save_last(session, TABLE_SAVE_MS, on_save_over, NULL));
	assert_int_equal(session_values_restore(session, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void at_the_end_the_interpreter_saves_itself(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	fixture_until(!session_has_work(session));
	table_save(table, on_save_over, NULL);
	fixture_until(saves == 1);
	assert_int_equal(saved_cell(session), 1);
	table_save(table, on_save_over, NULL); /* nothing is due */
	fixture_until(saves == 2);
}

static void the_end_waits_for_a_while_only(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saves-raw=\ndone");
	fixture_until(!session_has_work(session));
	table_save(table, on_save_over, NULL);
	fixture_pass(TABLE_SAVE_MS - 1);
	assert_int_equal(saves, 0);
	fixture_pass(1);
	assert_int_equal(saves, 1);
}

static void an_interpreter_without_them_does_not_save_over_them(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	restart();
	session = open_one("a");
	for (int i = 1; i < SESSION_VALUES_HELD_CELLS; i++) {
		run_cell(session, SAVES);
		be_quiet(session);
		assert_int_equal(saved_cell(session), 1);
	}
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 1 + SESSION_VALUES_HELD_CELLS);
	assert_int_equal(session_values_saved(session).first_cell, 2);
	restart();
	session = open_one("a");
	run_cell(session, "done");
	restore(session);
	assert_told("those from before cell 2 are not among them");
}

static void what_could_not_be_loaded_is_not_saved_over(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saved=x\\ndf (no pandas)\ndone");
	be_quiet(session);
	restart();
	session = open_one("a");
	run_cell(session, "done");
	restore(session);
	assert_false(failed);
	assert_told("\nCould not be loaded: df (no pandas). They stay saved until ten more cells");
	for (int i = 1; i < SESSION_VALUES_HELD_CELLS; i++)
		run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 1);
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_not_equal(saved_cell(session), 1);
}

static void a_lost_state_keeps_what_was_saved(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	run_cell(session, "exit=1");
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(saved_cell(session), 1);
	restore(session);
	assert_false(failed);
}

static void a_load_that_fails_is_told(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "save=saved=!\ndone");
	be_quiet(session);
	restore(session);
	assert_true(failed);
	assert_told("are not all back: loading them");
	assert_told("restore_run");
}

static void it_can_be_stopped_before_it_begins(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	restart();
	session = open_one("a");
	run_cell(session, "exit=0");
	fixture_until(!session_has_work(session));
	assert_int_equal(session_values_restore(session, &err), 0);
	assert_int_equal(session_values_restore(session, &err), 0);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	assert_true(session_restore_status(session).values);
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	fixture_until(reports == 1);
	assert_told("stopped before it began");
	assert_true(failed);
}

static void a_session_may_end_while_they_come_back(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	assert_int_equal(session_values_restore(session, &err), 0);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	assert_int_equal(session_restore_check(session, &err), -1);
	assert_non_null(strstr(err.msg, "are being brought back"));
	restart();
	assert_int_equal(reports, 1);
	assert_told("ended while its variables were brought back");
}

static void a_session_may_end_while_they_are_saved(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	be_quiet(session);
	run_cell(session, "save=saves-raw=\ndone");
	fixture_until(!session_has_work(session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(runner_saves(runner_of(session)));
	assert_true(session_values_save_last(session, TABLE_SAVE_MS, on_save_over, NULL));
	restart();
	assert_int_equal(saves, 1);
	session = open_one("a");
	assert_int_equal(saved_cell(session), 1);
}

/* ---- before a replay ---- */

static void begin_replay(struct session *session)
{
	if (session_restore_start_outside(session, &err) < 0)
		fail_msg("%s", err.msg);
	assert_non_null(session_restore_wait(session, on_report, NULL));
}

static void a_replay_saves_first(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, SAVES);
	begin_replay(session);
	assert_true(runner_saves(runner_of(session)));
	fixture_until(reports == 1);
	assert_false(failed);
	assert_int_equal(saved_cell(session), 1);
}

static void a_save_that_hangs_delays_a_replay_for_its_time_only(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, HANGS);
	begin_replay(session);
	fixture_pass(TABLE_SAVE_MS);
	fixture_until(reports == 1);
	assert_told("1 cell was run again");
}

static void a_replay_that_is_stopped_while_it_saves_changes_nothing(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, HANGS);
	begin_replay(session);
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	fixture_until(reports == 1);
	assert_true(failed);
	assert_told("that was stopped before it began. Its variables and files are as they were.");
	assert_int_equal(session_generation(session), 1);
	run_cell(session, "done");
}

static void a_session_may_end_while_a_replay_saves(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, HANGS);
	begin_replay(session);
	restart();
	assert_int_equal(reports, 1);
	assert_told("The session ended while its cells were run again.");
}

#define VALUES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_values, tear_down_values)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VALUES_TEST(they_are_saved_when_it_is_quiet_and_come_back),
		VALUES_TEST(a_save_waits_until_the_last_one_is_a_tenth_of_the_time),
		VALUES_TEST(a_cell_that_ends_beside_a_save_begins_no_other),
		VALUES_TEST(what_breaks_the_pipe_leaves_the_one_before),
		VALUES_TEST(frames_of_another_save_do_not_count),
		VALUES_TEST(a_file_beyond_the_maximum_is_given_up),
		VALUES_TEST(where_it_is_off_nothing_is_saved),
		VALUES_TEST(at_the_end_the_interpreter_saves_itself),
		VALUES_TEST(the_end_waits_for_a_while_only),
		VALUES_TEST(an_interpreter_without_them_does_not_save_over_them),
		VALUES_TEST(what_could_not_be_loaded_is_not_saved_over),
		VALUES_TEST(a_lost_state_keeps_what_was_saved),
		VALUES_TEST(a_load_that_fails_is_told),
		VALUES_TEST(it_can_be_stopped_before_it_begins),
		VALUES_TEST(a_session_may_end_while_they_come_back),
		VALUES_TEST(a_session_may_end_while_they_are_saved),
		VALUES_TEST(a_replay_saves_first),
		VALUES_TEST(a_save_that_hangs_delays_a_replay_for_its_time_only),
		VALUES_TEST(a_replay_that_is_stopped_while_it_saves_changes_nothing),
		VALUES_TEST(a_session_may_end_while_a_replay_saves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
