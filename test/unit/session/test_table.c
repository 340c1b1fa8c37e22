/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - sessions are made at first use and end by age, idleness or request; what is
 * remembered of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/table.h"
#include "session_fixture.h"

static struct table *table;
static int changes;
static int answered;
static enum cell_state answer_state;
static char answer_problem[300];
static char answer_notice[600];

static void on_change(void *data)
{
	assert_ptr_equal(data, &changes);
	changes++;
}

static int set_up(void **state)
{
	(void)state;
	fixture_open();
	changes = 0;
	answered = 0;
	table = table_new(&fixture.host);
	table_on_change(table, on_change, &changes);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	table_free(table, "the server ended");
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

static void expect_notice(struct session *session, const char *text)
{
	char *notice = session_take_notice(session);

	assert_non_null(notice);
	assert_non_null(strstr(notice, "\nNothing confines the code here (--unconfined)"));
	/* The second line is about confinement. */
	notice[strcspn(notice, "\n")] = '\0';
	assert_string_equal(notice, text);
	free(notice);
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	(void)call;
	(void)data;
	answered++;
	answer_state = result->cell->state;
	(void)snprintf(answer_problem, sizeof(answer_problem), "%s",
		       result->cell->problem != NULL ? result->cell->problem : "");
	(void)snprintf(answer_notice, sizeof(answer_notice), "%s",
		       result->notice != NULL ? result->notice : "");
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

/* Advances the clock in steps of the cleanup's interval. */
static void pass_seconds(unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i += 10)
		fixture_pass(10000);
}

static size_t count_sessions(void)
{
	size_t count = 0;

	while (table_at(table, count) != NULL)
		count++;
	return count;
}

static void an_id_is_made_at_its_first_use_and_found_afterwards(void **state)
{
	struct err err;
	struct session *a = open_one("a");

	(void)state;
	assert_ptr_equal(open_one("a"), a);
	assert_ptr_equal(table_find(table, "a", &err), a);
	assert_ptr_not_equal(open_one("b"), a);
	assert_int_equal(count_sessions(), 2);
	assert_ptr_equal(table_at(table, 0), a);
	assert_string_equal(session_id(table_at(table, 1)), "b");
	assert_null(table_at(table, 2));
	assert_int_equal(changes, 2);
	table_free(NULL, "");
}

static void a_bad_id_is_refused_everywhere(void **state)
{
	struct err err;

	(void)state;
	assert_null(table_open(table, "../x", NULL, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(table_find(table, "", &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(table_destroy(table, "a b", &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(changes, 0);
}

static void an_unknown_id_names_the_live_ones(void **state)
{
	struct err err;

	(void)state;
	assert_null(table_find(table, "x", &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(
		err.msg,
		"there is no session 'x'; none is live; exec_code or upload_file begins one");
	(void)open_one("a");
	(void)open_one("b");
	assert_null(table_find(table, "x", &err));
	assert_string_equal(
		err.msg,
		"there is no session 'x'; live: 'b', 'a'; exec_code or upload_file begins one");
}

static void only_some_of_many_are_named(void **state)
{
	struct err err;
	char id[8];

	(void)state;
	fixture.settings.max_sessions = 10;
	for (int i = 0; i < 7; i++) {
		(void)snprintf(id, sizeof(id), "s%d", i);
		(void)open_one(id);
	}
	assert_null(table_find(table, "x", &err));
	assert_string_equal(
		err.msg,
		"there is no session 'x'; live: 's6', 's5', 's4', 's3', 's2' and 2 more; exec_code or upload_file begins one");
}

static void the_first_notice_says_new_and_what_else_lives(void **state)
{
	(void)state;
	expect_notice(open_one("a"), "Session 'a' is new and empty; there is no other.");
	expect_notice(open_one("b"), "Session 'b' is new and empty. Other live sessions: 'a'.");
}

static void too_many_are_refused_with_the_limit(void **state)
{
	struct err err;

	(void)state;
	(void)open_one("a");
	(void)open_one("b");
	(void)open_one("c");
	assert_null(table_open(table, "d", NULL, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "3 sessions"));
	assert_non_null(strstr(err.msg, "PTYCELL_MAX_SESSIONS"));
	assert_non_null(table_open(table, "a", NULL, &err)); /* it exists already */
	assert_int_equal(table_destroy(table, "b", &err), 0);
	(void)open_one("d");
}

static void a_destroyed_id_is_remembered_with_its_generation(void **state)
{
	struct err err;
	struct session *again;

	(void)state;
	(void)open_one("a");
	assert_int_equal(table_destroy(table, "a", &err), 0);
	assert_int_equal(changes, 2);
	assert_int_equal(fixture.retired, 1);
	assert_int_equal(table_destroy(table, "a", &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	again = open_one("a");
	assert_int_equal(session_generation(again), 2);
	expect_notice(again, "Session 'a' is a new one of that name (generation 2): the earlier "
			     "one ended because it was destroyed on request. Its variables and "
			     "files are gone.");
}

static void generations_go_on_over_losses_and_ends(void **state)
{
	struct err err;
	struct session *a = open_one("a");

	(void)state;
	run_cell(a, "crash=9");
	assert_int_equal(session_generation(a), 2);
	assert_int_equal(table_destroy(table, "a", &err), 0);
	assert_int_equal(session_generation(open_one("a")), 3);
	assert_int_equal(table_destroy(table, "a", &err), 0);
	assert_int_equal(session_generation(open_one("a")), 4);
}

static void only_the_newest_ends_are_remembered(void **state)
{
	struct err err;
	char id[16];

	(void)state;
	for (int i = 0; i <= TABLE_ENDED_MAX; i++) {
		(void)snprintf(id, sizeof(id), "s%d", i);
		(void)open_one(id);
		assert_int_equal(table_destroy(table, id, &err), 0);
	}
	assert_int_equal(session_generation(open_one("s0")), 1);
	assert_int_equal(session_generation(open_one("s1")), 2);
}

static void an_idle_session_ends_after_its_limit(void **state)
{
	struct err err;

	(void)state;
	(void)open_one("a");
	pass_seconds(90);
	assert_int_equal(count_sessions(), 1);
	session_touch(open_one("a"));
	pass_seconds(90);
	assert_int_equal(count_sessions(), 1);
	pass_seconds(20);
	assert_int_equal(count_sessions(), 0);
	assert_null(table_find(table, "a", &err));
	run_cell(open_one("a"), "done");
	assert_non_null(strstr(answer_notice, "it was not used for 100 s (idle_timeout)"));
}

static void an_old_session_ends_though_it_is_used(void **state)
{
	(void)state;
	for (unsigned s = 0; s <= 1000; s += 50) {
		session_touch(open_one("a"));
		pass_seconds(50);
	}
	assert_non_null(open_one("a"));
	run_cell(open_one("a"), "done");
	assert_non_null(strstr(answer_notice, "it was 1000 s old (session_ttl)"));
}

static void what_runs_or_waits_is_never_ended_by_the_clock(void **state)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = "print=go\nwait",
					      .code_len = 13,
					      .timeout_ms = 5000000,
					      .wait_ms = 5000000 };
	struct err err;
	struct session *a = open_one("a");
	struct call *call = session_exec(a, &request, on_done, NULL, &err);

	(void)state;
	fixture_until(str_eq(session_state(a), "running"));
	pass_seconds(2000);
	assert_int_equal(count_sessions(), 1);
	session_call_cancel(call);
	fixture_until(!session_busy(a));
	pass_seconds(120);
	fixture_until(count_sessions() == 0);
}

static void live_children_keep_a_session(void **state)
{
	struct session *a = open_one("a");

	(void)state;
	run_cell(a, "child\ndone");
	pass_seconds(300);
	rest(fixture.loop);
	assert_int_equal(count_sessions(), 1);
}

static void an_interpreter_without_children_does_not(void **state)
{
	(void)state;
	run_cell(open_one("a"), "done");
	pass_seconds(120);
	fixture_until(count_sessions() == 0);
}

static void destroying_answers_what_runs(void **state)
{
	struct err err;
	struct session *a = open_one("a");

	(void)state;
	start(a, "hang");
	fixture_until(str_eq(session_state(a), "running"));
	assert_int_equal(table_destroy(table, "a", &err), 0);
	assert_int_equal(answered, 1);
	assert_int_equal(answer_state, CELL_DIED);
	assert_non_null(strstr(answer_problem, "it was destroyed on request"));
}

static void the_end_of_the_table_ends_all_and_tells_no_change(void **state)
{
	(void)state;
	start(open_one("a"), "done");
	(void)open_one("b");
	changes = 0;
	table_free(table, "the server ended");
	table = NULL;
	assert_int_equal(answered, 1);
	assert_int_equal(answer_state, CELL_NOT_STARTED);
	assert_int_equal(changes, 0);
	assert_int_equal(fixture.retired, 2);
}

#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE_TEST(an_id_is_made_at_its_first_use_and_found_afterwards),
		TABLE_TEST(a_bad_id_is_refused_everywhere),
		TABLE_TEST(an_unknown_id_names_the_live_ones),
		TABLE_TEST(only_some_of_many_are_named),
		TABLE_TEST(the_first_notice_says_new_and_what_else_lives),
		TABLE_TEST(too_many_are_refused_with_the_limit),
		TABLE_TEST(a_destroyed_id_is_remembered_with_its_generation),
		TABLE_TEST(generations_go_on_over_losses_and_ends),
		TABLE_TEST(only_the_newest_ends_are_remembered),
		TABLE_TEST(an_idle_session_ends_after_its_limit),
		TABLE_TEST(an_old_session_ends_though_it_is_used),
		TABLE_TEST(what_runs_or_waits_is_never_ended_by_the_clock),
		TABLE_TEST(live_children_keep_a_session),
		TABLE_TEST(an_interpreter_without_children_does_not),
		TABLE_TEST(destroying_answers_what_runs),
		TABLE_TEST(the_end_of_the_table_ends_all_and_tells_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
