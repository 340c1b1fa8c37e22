/* SPDX-License-Identifier: MIT */
/* test_restore.c - recorded cells run again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <glob.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "resume_fixture.h"
#include "session/restore_internal.h"
#include "workspace/aside.h"
#include "workspace/keeper.h"
#include "workspace/workspace.h"

#define READS "read\ndone"

static char *report;
static bool failed;
static int reports;
static struct err err;

static int set_up_restore(void **state)
{
	report = NULL;
	reports = 0;
	return set_up(state);
}

static int tear_down_restore(void **state)
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

/* Begins one, and waits until the files lie aside. */
static void begin_restore(struct session *session)
{
	if (session_restore_start_outside(session, &err) < 0)
		fail_msg("%s", err.msg);
	fixture_until(session->restore->state > RESTORE_LOOKING);
}

/* Runs the session's cells again, to the end. */
static void restore(struct session *session)
{
	int before = reports;

	begin_restore(session);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == before + 1);
}

static void assert_told(const char *text)
{
	assert_non_null(report);
	if (strstr(report, text) == NULL)
		fail_msg("no '%s' in: %s", text, report);
}

static void put(struct session *session, const char *path, const char *text)
{
	scratch_write(workspace_data_fd(session->workspace), path, text);
}

static void assert_file(struct session *session, const char *path, const char *expected)
{
	cleanup_free char *text = scratch_read(workspace_data_fd(session->workspace), path);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

/* ---- what runs again ---- */

static void cells_of_the_life_before_run_again_and_are_not_recorded(void **state)
{
	struct session *session;
	uint64_t ms;

	(void)state;
	run_cell(open_one("a"), "done");
	run_cell(open_one("a"), "done=error");
	run_cell(open_one("a"), "done");
	restart();
	session = open_one("a");
	put(session, "output/a.txt", "one");
	run_cell(session, "done"); /* the fake language is known from now on */
	assert_int_equal(session_restore_count(session_journal(session), &ms), 3);
	restore(session);
	assert_false(failed);
	assert_told("3 cells were run again in session 'a'");
	assert_told("The files are as they were before; values that came from chance, the clock "
		    "or an earlier version of a package may be others now.");
	assert_told("names may have changed before: cell 2 (raised).");
	assert_false(session_restoring(session));
	assert_false(session_busy(session));
	assert_int_equal(journal_count(session_journal(session)), 4);
	assert_int_equal(fixture.cells_begun, 4);
	assert_file(session, "output/a.txt", "one");
	run_cell(session, "done");
	assert_int_equal(journal_last_number(session_journal(session)), 5);
	assert_int_equal(fixture.cells_begun, 5);
}

static void a_live_session_begins_anew(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	restore(session);
	assert_told("1 cell was run again");
	assert_told("this is generation 2.");
	restore(session);
	assert_told("this is generation 3.");
	assert_int_equal(session_generation(session), 3);
}

static void files_that_cells_wrote_meanwhile_are_named(void **state)
{
	struct session *session;

	(void)state;
	run_cell(open_one("a"), "done");
	restart();
	session = open_one("a");
	put(session, "mine", "one");
	begin_restore(session);
	put(session, "mine", "another");
	put(session, "new", "two");
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == 1);
	assert_told("'mine' (differs)");
	assert_told("'new' (new)");
	assert_file(session, "mine", "one");
}

static void hidden_input_is_not_typed_again(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	assert_int_equal(journal_ask(session->journal,
				     &(struct journal_asked){ .number = 2,
							      .language = "fake",
							      .code = READS,
							      .code_len = strlen(READS) },
				     &err),
			 0);
	assert_int_equal(journal_begin(session->journal, 2, &err), 0);
	assert_int_equal(journal_type(session->journal, 2, "yes\n", 4, true, &err), 0);
	assert_int_equal(journal_end(session->journal,
				     &(struct journal_entry){ .number = 2,
							      .language = "fake",
							      .state = "done",
							      .ran = true,
							      .text = "" },
				     &(enum journal_taken){ JOURNAL_NOT }, &err),
			 0);
	session->next_cell = 3;
	restore(session);
	assert_told("Not run: cell 2 (hidden input was typed to it, which is not recorded).");
	assert_told("1 cell was run again");
}

/* ---- what ends it ---- */

static void a_cell_that_fails_ends_it(void **state)
{
	struct session *session;

	(void)state;
	run_cell(open_one("a"), "done");
	run_cell(open_one("a"), "done");
	restart();
	session = open_one("a");
	restore(session);
	assert_true(failed);
	assert_told("stopped at cell 1, which could not run: its language is not known");
	assert_told("1 after it was not");
	run_cell(session, "done");
	fixture_start_with(STEPS("exit=3"));
	restore(session);
	fixture_start_with(STEPS("ready"));
	assert_true(failed);
	assert_told("stopped at cell 1, which could not run: ");
	assert_told("2 after it were not");
}

static void nothing_else_comes_in_meanwhile(void **state)
{
	struct session *session = open_one("a");
	struct restore_call *call;

	(void)state;
	run_cell(session, "done");
	begin_restore(session);
	begin_restore(session);
	assert_true(session_restoring(session));
	assert_true(session_busy(session));
	assert_int_equal(session_restore_check(session, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(session_restore_status(session).total, 1);
	call = session_restore_wait(session, on_report, NULL);
	session_restore_forget(call);
	fixture_until(!session_restoring(session));
	assert_int_equal(reports, 0);
	assert_int_equal(session_restore_check(session, &err), 0);
}

static void a_stop_at_the_beginning_runs_nothing(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	begin_restore(session);
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == 1);
	assert_true(failed);
	assert_told(
		"stopped at its beginning. 0 cells were run again (0.0 s), 1 after it was not: no "
		"variable is back.");
}

static void a_stop_while_the_interpreter_starts_runs_nothing(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	fixture_start_with(STEPS("hang"));
	begin_restore(session);
	fixture_until(session_restore_status(session).cell == 1);
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == 1);
	assert_told("stopped at cell 1, on request. 0 cells were run again");
	fixture_start_with(STEPS("ready"));
	restore(session);
	assert_told("1 cell was run again");
}

static void the_next_answer_tells_the_end_that_no_call_waited_for(void **state)
{
	struct session *session = open_one("a");
	cleanup_free char *text = NULL;
	cleanup_free char *notice = NULL;
	bool has_failed = true;

	(void)state;
	run_cell(session, "done");
	free(session_take_notice(session));
	begin_restore(session);
	fixture_until(!session_restoring(session));
	text = session_restore_take_report(session, &has_failed);
	assert_non_null(text);
	assert_false(has_failed);
	assert_null(session_take_notice(session));
	begin_restore(session);
	fixture_until(!session_restoring(session));
	notice = session_take_notice(session);
	assert_non_null(strstr(notice, "1 cell was run again"));
	assert_null(session_restore_take_report(session, &has_failed));
}

static void a_session_that_ends_meanwhile_has_its_files(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	put(session, "mine", "one");
	fixture_start_with(STEPS("hang"));
	begin_restore(session);
	put(session, "mine", "another");
	fixture_until(session_restore_status(session).cell == 1);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	restart();
	fixture_start_with(STEPS("ready"));
	assert_int_equal(reports, 1);
	assert_told("The session ended while its cells were run again.");
	assert_file(open_one("a"), "mine", "one");
}

/* The list of files that it waits for comes when it is gone. */
static void a_session_may_end_in_the_last_scan(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.keep = keep;
	run_cell(session, "done");
	put(session, "mine", "one");
	begin_restore(session);
	fixture_until(session_restore_status(session).putting_back);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	for (int turn = 0; turn < 3 && reports == 0; turn++)
		loop_turn(fixture.loop, 1);
	restart();
	fixture_until(reports == 1);
	assert_file(open_one("a"), "mine", "one");
}

/* Opens the folder around the session's files. */
static int open_top(const struct session *session)
{
	int fd = openat(home_fd(fixture.host.home), workspace_name(session->workspace),
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void interpreters_that_ended_for_nothing_count_as_lost(void **state)
{
	struct session *session = open_one("a");
	cleanup_fd int top = open_top(session);

	(void)state;
	run_cell(session, "done");
	assert_int_equal(mkdirat(top, ASIDE_FOLDER, 0700), 0);
	scratch_write(top, ASIDE_FOLDER "/x", "in the way");
	assert_int_equal(session_restore_start_outside(session, &err), 0);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == 1);
	assert_true(failed);
	assert_told("No cell of session 'a' was run again: laying the session's files aside");
	assert_told("Its interpreters were ended with their variables; its files are as these left "
		    "them. This is generation 2.");
	assert_int_equal(session_generation(session), 2);
	run_cell(session, "done");
}

static void without_a_helper_files_come_before_variables(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "raw=done 1 2\\nstatus 2\\nokactive 1\\n1"); /* it has a thread */
	put(session, "mine", "one");
	fixture.host.files_helper = (char *)(uintptr_t) "/nonexistent/ptycell-files";
	begin_restore(session);
	session->restore->report.holds = true;
	put(session, "mine", "another");
	assert_non_null(session_restore_wait(session, on_report, NULL));
	fixture_until(reports == 1);
	fixture.host.files_helper = (char *)(uintptr_t)TEST_BUILD "/ptycell-files";
	assert_true(failed);
	assert_told("the files could not be put back under the new interpreters");
	assert_null(strstr(report, "left running")); /* nothing of them is left */
	assert_file(session, "mine", "one");
	run_cell(session, "done");
}

static struct rlimit files_max;

/* From now on nothing can be opened. */
static void forbid_opening(void)
{
	struct rlimit none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files_max), 0);
	none = files_max;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void end_failed(void *owner, struct session *session, const char *why)
{
	(void)owner;
	assert_int_equal(table_end(table, session_id(session), why, &err), 0);
}

static void retire_and_allow(void *owner, struct sandbox *sandbox_own, const char *name,
			     struct inspector *inspector_own, bool lasts)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files_max), 0);
	fixture_retire(owner, sandbox_own, name, inspector_own, lasts);
}

/* Has the files of a replay in the place of the session's own, for good. */
static void lose_place(struct session *session)
{
	fixture.host.fails = end_failed;
	fixture.host.retire = retire_and_allow;
	fixture_start_with(STEPS("hang"));
	begin_restore(session);
	put(session, "output/mine", "another");
	put(session, "output/new", "another");
	fixture_until(session_restore_status(session).cell == 1);
	assert_non_null(session_restore_wait(session, on_report, NULL));
	session_restore_stop(session, RUNNER_STOP_INTERRUPT);
	forbid_opening();
	fixture_until(reports == 1);
	fixture_start_with(STEPS("ready"));
	assert_true(failed);
	assert_told("Session 'a' ended: its cells were run again, but its files could not be put "
		    "back in their place (");
}

/* Asserts the text of a file in the only folder of exported results. */
static void assert_exported(const char *name, const char *expected)
{
	cleanup_free char *pattern = xasprintf("%s/*-a-*/%s", keep, name);
	cleanup_free char *text = NULL;
	glob_t found;
	int result = glob(pattern, 0, NULL, &found);

	if (result == 0)
		text = scratch_read(AT_FDCWD, found.gl_pathv[0]);
	globfree(&found);
	if (expected == NULL)
		assert_null(text);
	else
		assert_string_equal(text, expected);
}

static void a_session_whose_files_cannot_take_their_place_ends(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.keep = keep;
	run_cell(session, "done");
	put(session, "output/mine", "one");
	keeper_mark_due(session->keeper, "output/mine");
	lose_place(session);
	assert_told("They lie aside, unchanged, and are in its folder when this id is used again");
	session = open_one("a");
	assert_file(session, "output/mine", "one");
	run_cell(session, "done"); /* exports what is due */
	assert_exported("mine", "one");
	assert_exported("new", NULL);
}

static void without_a_record_they_are_gone_with_it(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.resume = 0;
	run_cell(session, "done");
	lose_place(session);
	assert_told("Files and variables are gone, as PTYCELL_RESUME is off");
}

/* ---- what is refused ---- */

static void without_cells_there_is_nothing_to_run(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	assert_int_equal(session_restore_start_outside(session, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	run_cell(session, "done=error");
	assert_int_equal(session_restore_start_outside(session, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	journal_turn_off(session->journal);
	assert_int_equal(session_restore_start_outside(session, &err), -1);
	assert_non_null(strstr(err.msg, "are not recorded"));
}

static void unconfined_cells_run_again_only_if_they_may_change_what_is_outside(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	assert_int_equal(session_restore_start(session, &err), -1);
	assert_int_equal(err.code, ERR_DENIED);
	assert_non_null(strstr(err.msg, "use action restore_outside"));
	restore(session);
	assert_told("Nothing confines code here");
}

static void while_a_cell_runs_it_is_refused(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	run_cell(session, "done");
	start(session, "wait");
	assert_int_equal(session_restore_start_outside(session, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
}

#define RESTORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_restore, tear_down_restore)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESTORE_TEST(cells_of_the_life_before_run_again_and_are_not_recorded),
		RESTORE_TEST(a_live_session_begins_anew),
		RESTORE_TEST(files_that_cells_wrote_meanwhile_are_named),
		RESTORE_TEST(hidden_input_is_not_typed_again),
		RESTORE_TEST(a_cell_that_fails_ends_it),
		RESTORE_TEST(nothing_else_comes_in_meanwhile),
		RESTORE_TEST(a_stop_at_the_beginning_runs_nothing),
		RESTORE_TEST(a_stop_while_the_interpreter_starts_runs_nothing),
		RESTORE_TEST(the_next_answer_tells_the_end_that_no_call_waited_for),
		RESTORE_TEST(a_session_that_ends_meanwhile_has_its_files),
		RESTORE_TEST(a_session_may_end_in_the_last_scan),
		RESTORE_TEST(interpreters_that_ended_for_nothing_count_as_lost),
		RESTORE_TEST(without_a_helper_files_come_before_variables),
		RESTORE_TEST(a_session_whose_files_cannot_take_their_place_ends),
		RESTORE_TEST(without_a_record_they_are_gone_with_it),
		RESTORE_TEST(without_cells_there_is_nothing_to_run),
		RESTORE_TEST(unconfined_cells_run_again_only_if_they_may_change_what_is_outside),
		RESTORE_TEST(while_a_cell_runs_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
