/* SPDX-License-Identifier: MIT */
/*
 * test_resumption.c - sessions that go on in the folder of an earlier life: what their first answer
 * says of it, and what they take over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ctype.h>
#include <time.h>

#include <cmocka.h>

#include "base/fd.h"
#include "journal/events.h"
#include "journal/journal.h"
#include "session/resumption.h"
#include "session/session_internal.h"
#include "session/table.h"
#include "session_fixture.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/lostcells.h"
#include "workspace/scan.h"

/* 9 Sep 2001 01:46:40 in UTC, as is the time of these tests. */
#define LONG_AGO 1000000000
#define DATE "9 Sep 2001 01:46"

static struct table *table;
static int answered;
static char first_notice[1000];
static char keep[128];

/* ---- servers ---- */

static void on_asked(void *owner, struct session *session, const struct exec_asked *asked)
{
	struct err err;

	(void)owner;
	assert_int_equal(journal_ask(session_journal(session),
				     &(struct journal_asked){ .number = asked->number,
							      .language = asked->language->name,
							      .code = asked->code,
							      .code_len = asked->code_len,
							      .begins = asked->begins },
				     &err),
			 0);
}

static void on_began(void *owner, struct session *session, const struct cell *cell)
{
	struct err err;

	(void)owner;
	fixture.cells_begun++;
	assert_int_equal(journal_begin(session_journal(session), cell->number, &err), 0);
}

static void on_over(void *owner, const struct exec_result *result)
{
	const struct cell *cell = result->cell;
	json_t *record = json_object();
	enum journal_taken taken;
	struct err err;

	(void)owner;
	assert_int_equal(journal_end(session_journal(result->session),
				     &(struct journal_entry){ .number = cell->number,
							      .language = cell->language,
							      .state = cell_state_name(cell->state),
							      .ran = cell->ran,
							      .text = "",
							      .record = record },
				     &taken, &err),
			 0);
	json_decref(record);
}

static void adopt(void *owner)
{
	(void)owner;
	home_look_again(fixture.home);
	free(home_take_stale(fixture.home));
}

static int set_up(void **state)
{
	(void)state;
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	fixture_open();
	fixture.settings.resume = 3600;
	fixture.settings.record_output = 1 << 20;
	fixture.host.cell_asked = on_asked;
	fixture.host.cell_began = on_began;
	fixture.host.cell_over = on_over;
	fixture.host.adopt = adopt;
	(void)snprintf(keep, sizeof(keep), "%s/keep", fixture.scratch.path);
	answered = 0;
	table = table_new(&fixture.host);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	table_free(table, table_server_ends);
	fixture.settings.keep = NULL;
	fixture_close();
	return 0;
}

static struct session *open_one(const char *id)
{
	struct err err = { 0 };
	struct session *session = table_open(table, id, NULL, &err);

	if (session == NULL)
		fail_msg("%s", err.msg);
	return session;
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	(void)call;
	(void)data;
	if (answered++ == 0)
		(void)snprintf(first_notice, sizeof(first_notice), "%s", result->notice);
}

static void start(struct session *session, const char *code)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = code,
					      .code_len = strlen(code),
					      .wait_ms = 3600000 };
	struct err err;

	assert_non_null(session_exec(session, &request, on_done, NULL, &err));
}

static void run_cell(struct session *session, const char *code)
{
	int before = answered;

	start(session, code);
	fixture_until(answered == before + 1);
}

/* Ends the server, and starts the next one. */
static void restart(void)
{
	table_free(table, table_server_ends);
	table = table_new(&fixture.host);
}

/* Makes a server of its own of a process that was forked. */
static void begin_server(void)
{
	struct err err = { 0 };

	fixture.loop = loop_new(fixture_clock, &err);
	fixture.home = home_open(home_path(fixture.home), &err);
	fixture.launcher = launcher_new(fixture.loop, TEST_BUILD "/ptycell-launcher");
	fixture.host.loop = fixture.loop;
	fixture.host.home = fixture.home;
	fixture.host.launcher = fixture.launcher;
	fixture_settle();
	table = table_new(&fixture.host);
}

/* Runs a server that does this with session "a" and is killed. */
static void run_killed_server(void (*live)(struct session *session))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		begin_server();
		live(open_one("a"));
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* ---- folders of ended sessions ---- */

/* Opens the journal's folder of the only ended session of this id. */
static int open_ended(const char *id)
{
	cleanup_lasting struct lasting_found found;
	int journal_fd = -1;
	int fd;

	adopt(NULL);
	lasting_find(fixture.home, id, &found);
	assert_int_equal(found.count, 1);
	fd = lasting_open(fixture.home, found.rows[0].name, &journal_fd);
	assert_true(fd >= 0);
	(void)close(fd);
	return journal_fd;
}

/* Has the only ended session of this id be used long ago. */
static void make_old(const char *id)
{
	const struct timespec times[] = { { .tv_sec = LONG_AGO }, { .tv_sec = LONG_AGO } };
	cleanup_fd int fd = open_ended(id);

	(void)utimensat(fd, EVENTS_FILE, times, 0);
	assert_int_equal(utimensat(fd, LASTING_RECORD, times, 0), 0);
}

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

/* Checks the first line of the session's notice. */
static void expect_notice(struct session *session, const char *expected)
{
	cleanup_free char *notice = session_take_notice(session);

	assert_non_null(notice);
	notice[strcspn(notice, "\n")] = '\0';
	expect_text(notice, expected, session_id(session));
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
	expect_notice(session, "Session 'a' is resumed: 2 cells until " DATE
			       ", when the host closed. Its files are back; its variables are not: "
			       "read the script (resource session://a/script) or run its cells "
			       "again.");
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
		      "or run its cells again.");
}

static void live_with_running_cell(struct session *session)
{
	json_t *record = json_object();

	lostcells_record(workspace_journal_fd(session->workspace), record, 1);
	json_decref(record);
	run_cell(session, "done");
	start(session, "wait");
	fixture_until(fixture.cells_begun == 2);
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
		      "cells again.");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_whose_server_ended_is_resumed),
		TEST(an_idle_session_says_why_it_ended),
		TEST(a_cell_that_ran_when_the_server_was_killed_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
