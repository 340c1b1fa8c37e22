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
	expect_notice(session,
		      "Session 'a' is resumed: 2 cells until " DATE
		      ", when the host closed. Its files are back; its variables are not: "
		      "read the script (resource session://a/script) or run its cells "
		      "again.",
		      "a");
}

static void an_idle_session_says_why_it_ended(void **state)
{
	(void)state;
	run_cell(open_one("a"), "done");
	for (int i = 0; i < 12; i++)
		fixture_pass(10000);
	fixture_until(table_at(table, 0) == NULL);
	make_old("a");
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: 1 cell until " DATE
		      "; it ended because it was not used for 100 s (idle_timeout). Its files are "
		      "back; its variables are not: read the script (resource session://a/script) "
		      "or run its cells again.",
		      "a");
}

static void a_cell_that_ran_when_the_server_was_killed_is_named(void **state)
{
	(void)state;
	run_killed_server(live_with_running_cell);
	make_old("a");
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: 2 cells until " DATE
		      ", when its server was killed while cell 2 ran. Its files are back; its "
		      "variables are not: read the script (resource session://a/script) or run its "
		      "cells again.",
		      "a");
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
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: 1 cell until " DATE
		      ", when its server was killed. Its files are back; its variables are not: "
		      "read the script (resource session://a/script) or run its cells again.",
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
		      "last used " DATE ", when its server was killed. Its files are back; its "
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
		      "used " DATE ", when the host closed. Its files are back.",
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
		", when the host closed. Its files are back.",
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
	expected = xasprintf("Session 'a' is resumed: the record of its cells cannot be read (%s) "
			     "and begins anew. It was last used " DATE
			     ", when the host closed. Its files are back; its variables are not.",
			     session_record_problem(session));
	expect_notice(session, expected, "a");
	kept = scratch_read(workspace_journal_fd(session->workspace), EVENTS_FILE "-unreadable");
	assert_string_equal(kept, "no events\n");
	/* No number is given twice. */
	assert_int_equal(session_first_cell(session), 2);
	run_cell(session, "done");
	assert_int_equal(journal_last_number(session_journal(session)), 2);
}

static void a_record_that_is_off_names_no_script(void **state)
{
	(void)state;
	run_cell(open_one("a"), "done");
	fixture.settings.record = RECORD_OFF;
	restart();
	make_old("a");
	expect_notice(open_one("a"),
		      "Session 'a' is resumed: 1 cell until " DATE
		      ", when the host closed. Its files are back; its variables "
		      "are not.",
		      "a");
}

/* ---- several of an id ---- */

/* Describes a session that goes on in row `index` of `count`, a day between them. */
static char *describe_one_of(struct session *session, size_t count, size_t index)
{
	struct lasting rows[6] = { { .used_s = 0 } };
	const struct lasting_found found = { .rows = rows, .count = count };

	for (size_t i = 0; i < count; i++) {
		rows[i].used_s = LONG_AGO - (int64_t)i * 86400;
		rows[i].record.why = (char *)(uintptr_t)table_server_ends;
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
		  " 1 more ended session has that id, last used 8 Sep 2001 01:46: it is not this "
		  "one, the last used." },
		{ 4, 0, "9",
		  " 3 more ended sessions have that id, last used 8 Sep 2001 01:46, 7 Sep 2001 "
		  "01:46, 6 Sep 2001 01:46: they are not this one, the last used." },
		{ 5, 1, "8",
		  " 4 more ended sessions have that id, last used 9 Sep 2001 01:46, 7 Sep 2001 "
		  "01:46, 6 Sep 2001 01:46 and earlier: they are not this one, the last used." },
	};
	struct session *session = open_one("a");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = describe_one_of(session, cases[i].count, cases[i].index);
		cleanup_free char *expected =
			xasprintf("Session 'a' is resumed: its record has no cell, and it was last "
				  "used %s Sep 2001 01:46, when the host closed. Its files are "
				  "back.%s",
				  cases[i].date, cases[i].others);

		expect_text(text, expected, "a");
	}
}

/* ---- sessions that are not resumed ---- */

static void a_session_of_another_server_is_in_use(void **state)
{
	const struct lasting_found found = { .in_use = true, .in_use_s = LONG_AGO };
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

static void a_time_of_this_year_has_no_year(void **state)
{
	struct lasting row = { .used_s = time(NULL) };
	const struct lasting_found found = { .rows = &row, .count = 1 };
	time_t then = row.used_s;
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
		TEST(a_server_that_was_killed_between_cells_names_none),
		TEST(a_killed_session_without_cells_may_have_lost_variables),
		TEST(a_session_that_only_got_files_has_no_variables),
		TEST(an_id_that_is_too_long_for_a_suffix_is_cut),
		TEST(a_session_that_was_never_used_leaves_nothing),
		TEST(a_destroyed_session_is_not_resumed),
		TEST(a_record_that_cannot_be_read_begins_anew),
		TEST(a_record_that_is_off_names_no_script),
		TEST(others_of_the_id_are_counted_and_the_last_ones_dated),
		TEST(a_session_of_another_server_is_in_use),
		TEST(a_folder_that_cannot_be_taken_over_is_told_with_the_reason),
		TEST(a_session_that_is_not_live_is_offered),
		TEST(a_time_of_this_year_has_no_year),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
