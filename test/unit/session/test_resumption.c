/* SPDX-License-Identifier: MIT */
/* test_resumption.c - what the first answer of a resumed session says of its earlier life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ctype.h>

#include <cmocka.h>

#include "resume_fixture.h"
#include "session/resumption.h"

/* ---- sentences ---- */

/* Checks a sentence that ends with another id, which is `begin` and four letters or digits. */
static void expect_other_id(const char *text, const char *begin)
{
	cleanup_free char *before =
		xasprintf(" To begin empty, use another session_id, such as '%s-", begin);

	assert_int_equal(strncmp(text, before, strlen(before)), 0);
	text += strlen(before);
	for (int i = 0; i < 4; i++)
		assert_true(isalnum((unsigned char)*text++));
	assert_string_equal(text, "': nothing is deleted by that.");
}

static void expect_text(char *text, const char *expected, const char *other)
{
	char *rest = strstr(text, " To begin empty");

	assert_non_null(rest);
	expect_other_id(rest, other);
	*rest = '\0';
	assert_string_equal(text, expected);
}

/* Returns the first line of the session's notice. The caller frees it. */
static char *take_first_line(struct session *session)
{
	char *notice = session_take_notice(session);

	assert_non_null(notice);
	notice[strcspn(notice, "\n")] = '\0';
	return notice;
}

/* Checks what the session, which is resumed, says of itself. */
static void expect_notice(struct session *session, const char *expected, const char *other)
{
	cleanup_free char *notice = take_first_line(session);

	expect_text(notice, expected, other);
}

/* ---- what happened ---- */

static void a_session_whose_server_ended_is_resumed(void **state)
{
	struct session *session;

	(void)state;
	run_cell(open_one("a"), "done");
	run_cell(open_one("a"), "done");
	restart();
	make_old("a");
	session = open_one("a");
	assert_int_equal(session_generation(session), 2);
	assert_int_equal(session_first_cell(session), 3);
	expect_notice(
		session,
		"Session 'a' is resumed: 2 cells until " DATE
		", when the host closed. Its files are back, except those in /tmp; its variables are not: "
		"interact with action \"restore_run\" runs its cells again, or read the "
		"script (resource session://a/script).",
		"a");
}

/* Advances the clock until session 'a' ends, and not while its interpreter takes its time to end.
 */
static void pass_until_idle(void)
{
	struct err err;

	for (int i = 0; i < 12 && table_find(table, "a", &err) != NULL; i++)
		fixture_pass(10000);
	fixture_until(fixture.lasting == 1);
}

static void an_idle_session_says_why_it_ended(void **state)
{
	(void)state;
	run_cell(open_one("a"), "done");
	pass_until_idle();
	make_old("a");
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: 1 cell until " DATE
		      "; it ended because it was not used for 100 s (idle_timeout). Its files are "
		      "back, except those in /tmp; its variables are not: "
		      "interact with action \"restore_run\" runs its cells again, or read the "
		      "script (resource session://a/script).",
		      "a");
}

static void a_cell_that_ran_when_the_server_was_killed_is_named(void **state)
{
	(void)state;
	run_killed_server(live_with_running_cell);
	make_old("a");
	expect_notice(
		open_one("a"),
		"Session 'a' is resumed: 2 cells until " DATE
		", when its server was killed while cell 2 ran. Its files are back, except those in /tmp; its variables are not: "
		"interact with action \"restore_run\" runs its cells again, or read the "
		"script (resource session://a/script).",
		"a");
}

static void expect_stopped(const char *end)
{
	cleanup_free char *text = xasprintf(
		"Session 'a' is resumed: 2 cells until " DATE
		"%s Its files are back, except those in /tmp; its variables are not: interact with action "
		"\"restore_run\" runs its cells again, or read the script (resource "
		"session://a/script).",
		end);

	make_old("a");
	expect_notice(open_one("a"), text, "a");
}

static void a_cell_that_ran_when_the_session_ended_is_named(void **state)
{
	(void)state;
	live_with_running_cell(open_one("a"));
	restart();
	expect_stopped(", when the host closed while cell 2 ran.");
	restart(); /* no cell ran in this life */
	expect_stopped(", when the host closed.");
}

static void a_cell_that_ran_when_the_session_was_stopped_is_named(void **state)
{
	struct err err;

	(void)state;
	live_with_running_cell(open_one("a"));
	assert_int_equal(table_end(table, "a", "the user stopped it", &err), 0);
	expect_stopped("; it ended because the user stopped it, while cell 2 ran.");
}

static void live_idle(struct session *session)
{
	run_cell(session, "done");
}

static void live_without_cells(struct session *session)
{
	session_record(session);
}

static void a_server_that_was_killed_between_cells_names_none(void **state)
{
	(void)state;
	run_killed_server(live_idle);
	make_old("a");
	expect_notice(
		open_one("a"),
		"Session 'a' is resumed: 1 cell until " DATE
		", when its server was killed. Its files are back, except those in /tmp; its variables are not: "
		"interact with action \"restore_run\" runs its cells again, or read the "
		"script (resource session://a/script).",
		"a");
}

/* It may have run code that is not recorded. */
static void a_killed_session_without_cells_may_have_lost_variables(void **state)
{
	(void)state;
	run_killed_server(live_without_cells);
	make_old("a");
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: its record has no cell, and it was "
		      "last used " DATE
		      ", when its server was killed. Its files are back, except those in /tmp; its "
		      "variables are not.",
		      "a");
}

static void a_session_that_only_got_files_has_no_variables(void **state)
{
	(void)state;
	session_file_placed(open_one("trip-5d2a"), "input/a.csv");
	restart();
	make_old("trip-5d2a");
	expect_notice(open_one("trip-5d2a"),
		      "Session 'trip-5d2a' is resumed: its record has no cell, and it was last "
		      "used " DATE
		      ", when the host closed. Its files are back, except those in /tmp.",
		      "trip");
}

static void an_id_that_is_too_long_for_a_suffix_is_cut(void **state)
{
	char id[SESSION_ID_MAX + 1];
	char other[SESSION_ID_MAX + 1];
	cleanup_free char *text = NULL;

	(void)state;
	memset(id, 'x', SESSION_ID_MAX);
	id[SESSION_ID_MAX] = '\0';
	(void)snprintf(other, sizeof(other), "%.*s", SESSION_ID_MAX - 5, id);
	session_record(open_one(id));
	restart();
	make_old(id);
	text = xasprintf(
		"Session '%s' is resumed: its record has no cell, and it was last used " DATE
		", when the host closed. Its files are back, except those in /tmp.",
		id);
	expect_notice(open_one(id), text, other);
}

static void a_session_that_was_never_used_leaves_nothing(void **state)
{
	cleanup_free char *notice = NULL;

	(void)state;
	(void)open_one("a");
	restart();
	assert_int_equal(fixture.lasting, 0);
	notice = take_first_line(open_one("a"));
	assert_string_equal(notice, "Session 'a' is new and empty; there is no other.");
}

static void a_destroyed_session_is_not_resumed(void **state)
{
	cleanup_free char *notice = NULL;
	struct err err;

	(void)state;
	run_cell(open_one("a"), "done");
	assert_int_equal(table_destroy(table, "a", &err), 0);
	restart();
	assert_int_equal(fixture.lasting, 0);
	notice = take_first_line(open_one("a"));
	assert_string_equal(notice, "Session 'a' is new and empty; there is no other.");
}

static void a_record_that_cannot_be_read_begins_anew(void **state)
{
	cleanup_free char *expected = NULL;
	cleanup_free char *kept = NULL;
	struct session *session;
	int fd;

	(void)state;
	run_cell(open_one("a"), "done");
	restart();
	fd = open_ended("a");
	scratch_write(fd, EVENTS_FILE, "no events\n");
	(void)close(fd);
	make_old("a");
	session = open_one("a");
	assert_non_null(session_record_problem(session));
	expected = xasprintf(
		"Session 'a' is resumed: the record of its cells cannot be read (%s) "
		"and begins anew. It was last used " DATE
		", when the host closed. Its files are back, except those in /tmp; its variables are not.",
		session_record_problem(session));
	expect_notice(session, expected, "a");
	kept = scratch_read(workspace_journal_fd(session->workspace), EVENTS_FILE "-unreadable");
	assert_string_equal(kept, "no events\n");
	/* No number is given twice. */
	assert_int_equal(session_first_cell(session), 2);
	run_cell(session, "done");
	assert_int_equal(journal_last_number(session_journal(session)), 2);
}

static void live_without_a_record(struct session *session)
{
	journal_turn_off(session_journal(session));
	run_cell(session, "done");
}

static void numbers_that_may_come_again_are_told(void **state)
{
	(void)state;
	fixture.settings.record = RECORD_OFF;
	run_killed_server(live_without_a_record);
	make_old("a");
	expect_notice(
		open_one("a"),
		"Session 'a' is resumed: its record has no cell, and it was last used " DATE
		", when its server was killed. Its files are back, except those in /tmp; its variables are not. "
		"Its cells are numbered from 1 on, which earlier ones may have had, because "
		"none is recorded (PTYCELL_RECORD).",
		"a");
	fixture.settings.record = RECORD_ON;
}

static void a_folder_of_results_that_is_gone_is_told(void **state)
{
	cleanup_free char *folder = NULL;
	cleanup_free char *gone = NULL;
	cleanup_free char *notice = NULL;
	struct session *session;

	(void)state;
	fixture.settings.keep = keep;
	session = open_one("a");
	run_cell(session, "done");
	scratch_write(workspace_data_fd(session->workspace), "output/a.txt", "one");
	run_cell(session, "done");
	folder = xstrdup(session_keep_folder(session));
	restart();
	gone = xasprintf("%s-gone", folder);
	assert_int_equal(rename(folder, gone), 0);
	notice = session_take_notice(open_one("a"));
	assert_non_null(strstr(notice, "with the saved results of session 'a' is not there any "
				       "more: results are saved in a new one."));
	assert_non_null(strstr(notice, folder));
}

static void a_record_that_is_off_names_no_script(void **state)
{
	(void)state;
	run_cell(open_one("a"), "done");
	fixture.settings.record = RECORD_OFF;
	restart();
	make_old("a");
	expect_notice(
		open_one("a"),
		"Session 'a' is resumed: 1 cell until " DATE
		", when the host closed. Its files are back, except those in /tmp; its variables "
		"are not.",
		"a");
}

/* ---- several of an id ---- */

#define OWN ". An id in brackets resumes that session."

/* Describes a session that goes on in row `index` of `count`, a day between them. */
static char *describe_one_of(struct session *session, size_t count, size_t index)
{
	static const char *const names[] = { "folder0x", "folder1x", "folder2x", "folder3x",
					     "folder4x" };
	struct lasting rows[ARRAY_SIZE(names)] = { { .name = NULL } };
	const struct lasting_found found = { .rows = rows, .count = count };

	for (size_t i = 0; i < count; i++) {
		rows[i].used.tv_sec = LONG_AGO - (int64_t)i * 86400;
		rows[i].record.why = (char *)(uintptr_t)table_server_ends;
		rows[i].record.session_id = (char *)(uintptr_t) "a";
		rows[i].name = (char *)(uintptr_t)names[i];
		rows[i].empty = i == 3;
	}
	return resumption_describe(session, &found, index);
}

static void others_of_the_id_are_counted_and_the_last_ones_dated(void **state)
{
	static const struct {
		size_t count;
		size_t index;
		const char *date;
		const char *others;
	} cases[] = {
		{ 1, 0, "9", "" },
		{ 2, 0, "9",
		  " 1 more ended session has that id, last used 8 Sep 2001 01:46 ('a-folder1x')" OWN },
		{ 4, 0, "9",
		  " 3 more ended sessions have that id, last used 8 Sep 2001 01:46 ('a-folder1x'), "
		  "7 Sep 2001 01:46 ('a-folder2x'), 6 Sep 2001 01:46 ('a-folder3x', without a "
		  "cell)" OWN },
		{ 5, 1, "8",
		  " 4 more ended sessions have that id, last used 9 Sep 2001 01:46 ('a-folder0x'), "
		  "7 Sep 2001 01:46 ('a-folder2x'), 6 Sep 2001 01:46 ('a-folder3x', without a cell) "
		  "and others" OWN },
	};
	struct session *session = open_one("a");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = describe_one_of(session, cases[i].count, cases[i].index);
		cleanup_free char *expected =
			xasprintf("Session 'a' is resumed: its record has no cell, and it was last "
				  "used %s Sep 2001 01:46, when the host closed. Its files are "
				  "back, except those in /tmp.%s",
				  cases[i].date, cases[i].others);

		expect_text(text, expected, "a");
	}
}

/* ---- sessions that are not resumed ---- */

static void a_session_of_another_server_is_in_use(void **state)
{
	const struct lasting_found found = { .in_use = true, .in_use_at.tv_sec = LONG_AGO };
	cleanup_free char *text = resumption_in_use("a", &found);

	(void)state;
	assert_string_equal(text, "Session 'a' is new and empty: another ptycell server on this "
				  "machine has a live session of that id (last used " DATE
				  "), and no two servers share one. Its files and variables are "
				  "not here.");
}

static void a_folder_that_cannot_be_taken_over_is_told_with_the_reason(void **state)
{
	const struct err why = { .msg = "it is gone" };
	cleanup_free char *text = resumption_failed("a", &why);

	(void)state;
	assert_string_equal(text, "Session 'a' is new and empty: an ended session of that id is "
				  "there, but cannot be resumed (it is gone).");
}

static void a_session_that_is_not_live_is_offered(void **state)
{
	struct err err;

	(void)state;
	run_cell(open_one("a"), "done");
	restart();
	make_old("a");
	assert_null(table_find(table, "a", &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.msg, "session 'a' is not live; it was last used " DATE
				     ", and exec_code or upload_file with this id resumes it with "
				     "its files");
}

static void an_idle_session_that_is_not_live_says_why_it_ended(void **state)
{
	struct err err;

	(void)state;
	run_cell(open_one("a"), "done");
	pass_until_idle();
	assert_null(table_find(table, "a", &err));
	assert_non_null(strstr(err.msg, " (it ended because it was not used for 100 s "
					"(idle_timeout)), and exec_code or upload_file"));
}

static void a_time_of_this_year_has_no_year(void **state)
{
	struct lasting row = { .used.tv_sec = time(NULL) };
	const struct lasting_found found = { .rows = &row, .count = 1 };
	time_t then = row.used.tv_sec;
	cleanup_free char *text = resumption_offer("a", &found);
	cleanup_free char *expected = NULL;
	char date[32];

	(void)state;
	assert_true(strftime(date, sizeof(date), "%b %H:%M", gmtime(&then)) > 0);
	expected = xasprintf("it was last used %d %s, and", gmtime(&then)->tm_mday, date);
	assert_non_null(strstr(text, expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_whose_server_ended_is_resumed),
		TEST(an_idle_session_says_why_it_ended),
		TEST(a_cell_that_ran_when_the_server_was_killed_is_named),
		TEST(a_cell_that_ran_when_the_session_ended_is_named),
		TEST(a_cell_that_ran_when_the_session_was_stopped_is_named),
		TEST(a_server_that_was_killed_between_cells_names_none),
		TEST(a_killed_session_without_cells_may_have_lost_variables),
		TEST(a_session_that_only_got_files_has_no_variables),
		TEST(an_id_that_is_too_long_for_a_suffix_is_cut),
		TEST(a_session_that_was_never_used_leaves_nothing),
		TEST(a_destroyed_session_is_not_resumed),
		TEST(a_record_that_cannot_be_read_begins_anew),
		TEST(numbers_that_may_come_again_are_told),
		TEST(a_folder_of_results_that_is_gone_is_told),
		TEST(a_record_that_is_off_names_no_script),
		TEST(others_of_the_id_are_counted_and_the_last_ones_dated),
		TEST(a_session_of_another_server_is_in_use),
		TEST(a_folder_that_cannot_be_taken_over_is_told_with_the_reason),
		TEST(a_session_that_is_not_live_is_offered),
		TEST(an_idle_session_that_is_not_live_says_why_it_ended),
		TEST(a_time_of_this_year_has_no_year),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
