/* SPDX-License-Identifier: MIT */
/*
 * resume_fixture.h - a table whose sessions have a record and a journal; servers that end or are
 * killed, and the folders that they leave.
 *
 * Include after cmocka.h.
 */
#ifndef TEST_RESUME_FIXTURE_H
#define TEST_RESUME_FIXTURE_H

#include <time.h>

#include "base/fd.h"
#include "journal/events.h"
#include "journal/journal.h"
#include "session/session_internal.h"
#include "session/table.h"
#include "session_fixture.h"
#include "workspace/home.h"
#include "workspace/lostcells.h"

/* 9 Sep 2001 01:46:40 in UTC, as is the time of these tests. */
#define LONG_AGO 1000000000
#define DATE "9 Sep 2001 01:46"

static struct table *table;
static int answered;
static char keep[128] __attribute__((unused));

/* ---- servers ---- */

FIXTURE_FN void on_asked(void *owner, struct session *session, const struct exec_asked *asked)
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

FIXTURE_FN void on_began(void *owner, struct session *session, const struct cell *cell)
{
	struct err err;

	(void)owner;
	fixture.cells_begun++;
	assert_int_equal(journal_begin(session_journal(session), cell->number, &err), 0);
}

FIXTURE_FN void on_over(void *owner, const struct exec_result *result)
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

FIXTURE_FN void adopt(void *owner)
{
	(void)owner;
	home_look_again(fixture.home);
	free(home_take_stale(fixture.home));
}

FIXTURE_FN int set_up(void **state)
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

FIXTURE_FN int tear_down(void **state)
{
	(void)state;
	table_free(table, table_server_ends);
	fixture.settings.keep = NULL;
	fixture_close();
	return 0;
}

FIXTURE_FN struct session *open_one(const char *id)
{
	struct err err = { 0 };
	struct session *session = table_open(table, id, NULL, &err);

	if (session == NULL)
		fail_msg("%s", err.msg);
	return session;
}

FIXTURE_FN void on_done(struct call *call, const struct exec_result *result, void *data)
{
	(void)call;
	(void)data;
	(void)result;
	answered++;
}

FIXTURE_FN void start(struct session *session, const char *code)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = code,
					      .code_len = strlen(code),
					      .wait_ms = 3600000 };
	struct err err;

	assert_non_null(session_exec(session, &request, on_done, NULL, &err));
}

FIXTURE_FN void run_cell(struct session *session, const char *code)
{
	int before = answered;

	start(session, code);
	fixture_until(answered == before + 1);
}

/* Ends the server, and starts the next one. */
FIXTURE_FN void restart(void)
{
	table_free(table, table_server_ends);
	table = table_new(&fixture.host);
}

/* Makes a server of its own of a process that was forked. */
FIXTURE_FN void begin_server(void)
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
FIXTURE_FN void run_killed_server(void (*live)(struct session *session))
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
FIXTURE_FN int open_ended(const char *id)
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
FIXTURE_FN void make_old(const char *id)
{
	const struct timespec times[] = { { .tv_sec = LONG_AGO }, { .tv_sec = LONG_AGO } };
	cleanup_fd int fd = open_ended(id);

	(void)utimensat(fd, EVENTS_FILE, times, 0);
	assert_int_equal(utimensat(fd, LASTING_RECORD, times, 0), 0);
}

/* ---- what a killed server did ---- */

FIXTURE_FN void live_with_running_cell(struct session *session)
{
	json_t *record = json_object();

	lostcells_record(workspace_journal_fd(session->workspace), record, 1);
	json_decref(record);
	run_cell(session, "done");
	start(session, "wait");
	fixture_until(fixture.cells_begun == 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
