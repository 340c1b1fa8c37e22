/* SPDX-License-Identifier: MIT */
/* test_values_end.c - variables are saved before a session ends or expires. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "session/table_internal.h"
#include "values_fixture.h"

#define SAVES_HERE "save=saves-here=it was interrupted\ndone"

static struct err err;

static bool is_live(const char *id)
{
	for (size_t i = 0; table_at(table, i) != NULL; i++)
		if (str_eq(session_id(table_at(table, i)), id))
			return true;
	return false;
}

static void a_session_that_ends_in_order_saves_first(void **state)
{
	(void)state;
	run_cell(open_one("a"), SAVES);
	assert_int_equal(table_end_saved(table, "a", "the test ends it", &err), 0);
	fixture_until(!is_live("a"));
	assert_int_equal(saved_cell(open_one("a")), 1);
}

static void a_save_that_hangs_delays_the_end_for_its_time_only(void **state)
{
	(void)state;
	run_cell(open_one("a"), HANGS);
	assert_int_equal(table_end_saved(table, "a", "the test ends it", &err), 0);
	assert_int_equal(table_end_saved(table, "b", "the test ends it", &err), -1);
	fixture_pass(TABLE_SAVE_MS - 1);
	assert_true(is_live("a"));
	fixture_pass(1);
	assert_false(is_live("a"));
}

static void an_id_that_is_used_while_its_session_saves_is_resumed(void **state)
{
	struct session *session;
	cleanup_free char *notice = NULL;

	(void)state;
	run_cell(open_one("a"), HANGS);
	assert_int_equal(table_end_saved(table, "a", "the test ends it", &err), 0);
	session = open_one("a");
	notice = session_take_notice(session);
	assert_non_null(strstr(notice, "it ended because the test ends it"));
	fixture_pass(TABLE_SAVE_MS);
	assert_true(is_live("a"));
}

static void a_session_that_expires_saves_first(void **state)
{
	(void)state;
	fixture.settings.limits.idle_timeout = 0;
	fixture.settings.cleanup_interval = 0;
	start(open_one("a"), SAVES);
	fixture_until(!is_live("a"));
	fixture.settings.limits.idle_timeout = 3600;
	assert_int_equal(saved_cell(open_one("a")), 1);
}

/* Lets a session expire, and waits until it saves for that. Returns its row. */
static const struct row *expire(const char *code)
{
	const struct row *row;

	fixture.settings.limits.idle_timeout = SESSION_VALUES_QUIET_MS / 1000;
	fixture.settings.cleanup_interval = SESSION_VALUES_QUIET_MS / 1000;
	run_cell(open_one("a"), code);
	row = map_get(table->rows, "a", 1);
	fixture_until(!session_has_work(row->session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(row->why != NULL);
	assert_true(runner_saves(runner_of(row->session)));
	return row;
}

/* Lets a session expire sooner than a copy saves: its interpreter saves for all of its time. */
static struct session *expire_at_once(void)
{
	struct session *session;
	const struct row *row;

	fixture.settings.limits.idle_timeout = 0;
	fixture.settings.cleanup_interval = 0;
	session = open_one("a");
	row = map_get(table->rows, "a", 1);
	start(session, SAVES_HERE);
	fixture_until(row->why != NULL);
	fixture.settings.cleanup_interval = 3600;
	session->limits.idle_timeout = 3600; /* it expires once only */
	assert_int_equal(runner_of(session)->save->to.here_ms, TABLE_ALONE_MS);
	return session;
}

static void a_session_that_expires_has_time_to_save(void **state)
{
	struct session *session = expire_at_once();

	(void)state;
	fixture_pass(TABLE_ALONE_MS - 1);
	assert_true(is_live("a") && runner_saves(runner_of(session)));
	fixture_pass(1);
	assert_false(is_live("a"));
}

static void a_session_whose_id_is_used_does_not_expire(void **state)
{
	const struct row *row = expire(HANGS);

	(void)state;
	assert_ptr_equal(open_one("a"), row->session);
	assert_null(row->why);
	run_cell(row->session, "done");
	fixture_until(!session_has_work(row->session));
	fixture_pass(SESSION_VALUES_QUIET_MS);
	fixture_until(row->why != NULL); /* as nobody uses it again */
}

static void a_use_of_the_id_interrupts_the_interpreters_own_save(void **state)
{
	struct session *session = expire_at_once();

	(void)state;
	assert_ptr_equal(open_one("a"), session);
	fixture_until(!runner_saves(runner_of(session)));
	run_cell(session, "done");
	assert_true(is_live("a"));
}

static void on_closed(void *data)
{
	*(bool *)data = true;
}

static void an_end_interrupts_the_interpreters_own_save(void **state)
{
	bool closed = false;

	(void)state;
	(void)expire_at_once();
	table_close(table, table_server_ends, on_closed, &closed);
	fixture_until(closed);
}

#define ENDS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_saving, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENDS_TEST(a_session_that_ends_in_order_saves_first),
		ENDS_TEST(a_save_that_hangs_delays_the_end_for_its_time_only),
		ENDS_TEST(an_id_that_is_used_while_its_session_saves_is_resumed),
		ENDS_TEST(a_session_that_expires_saves_first),
		ENDS_TEST(a_session_that_expires_has_time_to_save),
		ENDS_TEST(a_session_whose_id_is_used_does_not_expire),
		ENDS_TEST(a_use_of_the_id_interrupts_the_interpreters_own_save),
		ENDS_TEST(an_end_interrupts_the_interpreters_own_save),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
