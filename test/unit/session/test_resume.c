/* SPDX-License-Identifier: MIT */
/* test_resume.c - what a session that is resumed takes over from its earlier life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume_fixture.h"
#include "workspace/keeper.h"
#include "workspace/scan.h"

static void lowered_limits_are_taken_over_but_never_raised(void **state)
{
	struct session_limits limits = fixture.settings.limits;
	struct session *session = open_one("a");
	struct err err;

	(void)state;
	limits.idle_timeout = 70;
	limits.exec_timeout = 20;
	run_cell(session, "done");
	assert_int_equal(session_set_limits(session, &limits, &err), 0);
	restart();
	fixture.settings.limits.exec_timeout = 10;
	fixture.settings.limits.session_ttl = 900;
	session = open_one("a");
	assert_int_equal(session_limits(session)->idle_timeout, 70);
	assert_int_equal(session_limits(session)->exec_timeout, 10);
	assert_int_equal(session_limits(session)->session_ttl, 900);
}

static void a_limit_that_is_none_is_ignored(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	session_resume_limits(session, "other=5 idle_timeout idle_timeout=60 =");
	assert_int_equal(session_limits(session)->idle_timeout, 60);
	assert_int_equal(session_limits(session)->exec_timeout, 30);
}

static char *lost; /* the cells of the last report */

static void on_killed(void *owner, const struct lostcells_report *report)
{
	(void)owner;
	assert_null(lost);
	lost = json_dumps(report->cells, JSON_COMPACT | JSON_SORT_KEYS);
	assert_null(report->kept_folder);
}

static void cells_that_ran_when_the_server_was_killed_are_reported_once(void **state)
{
	(void)state;
	fixture.host.killed = on_killed;
	run_killed_server(live_with_running_cell);
	(void)open_one("a");
	assert_non_null(lost);
	/* No audit is written here, so that none has the first cell's end. */
	assert_string_equal(lost, "[{\"cell\":1,\"language\":\"fake\",\"state\":\"done\"},"
				  "{\"cell\":2,\"language\":\"fake\",\"state\":\"killed\"}]");
	restart();
	(void)open_one("a"); /* which fails in on_killed if that is called again */
	free(lost);
	lost = NULL;
}

static void live_with_results(struct session *session)
{
	int data = workspace_data_fd(session->workspace);

	run_cell(session, "done");
	scratch_write(data, "output/a.csv", "one");
	scratch_write(data, "input/b.csv", "two");
}

static void assert_kept(const struct session *session, const char *name, const char *expected)
{
	cleanup_free char *path = xasprintf("%s/%s", session_keep_folder(session), name);
	cleanup_free char *text = scratch_read(AT_FDCWD, path);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void results_that_a_killed_server_had_not_exported_are_missing(void **state)
{
	const char *path = NULL;
	struct session *session;

	(void)state;
	fixture.settings.keep = keep;
	run_killed_server(live_with_results);
	session = open_one("a");
	fixture_until(!scan_running(session->scan));
	assert_int_equal(keeper_count_due(session->keeper, &path), 1);
	assert_string_equal(path, "output/a.csv");
	run_cell(session, "done");
	assert_kept(session, "a.csv", "one");
	assert_int_equal(keeper_count_due(session->keeper, &path), 0);
	restart();
	session = open_one("a");
	assert_false(session->verifies);
	fixture_until(!scan_running(session->scan));
	assert_int_equal(keeper_count_due(session->keeper, &path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lowered_limits_are_taken_over_but_never_raised),
		TEST(a_limit_that_is_none_is_ignored),
		TEST(cells_that_ran_when_the_server_was_killed_are_reported_once),
		TEST(results_that_a_killed_server_had_not_exported_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
