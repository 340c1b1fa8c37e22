/* SPDX-License-Identifier: MIT */
/* test_session.c - a session: ids, calls that end exactly once, notices, files, and its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sandbox/process/proctree.h"
#include "session/session_internal.h"
#include "session_fixture.h"
#include "workspace/scan.h"

enum { ANSWERS_MAX = 100 };

/* A copy of the answer to one call. */
struct answer {
	int count;
	enum cell_state state;
	uint64_t number;
	char text[200];
	char problem[300];
	char notice[600];
	char saved[300];
	size_t change_count;
	char first_change[100];
	bool lost;
};

static struct session *session;
static struct answer answers[ANSWERS_MAX];
static size_t told_count;

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from != NULL ? from : "");
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	struct answer *answer = data;
	const struct cell *cell = result->cell;

	assert_non_null(call);
	told_count++;
	answer->count++;
	answer->state = cell->state;
	answer->number = cell->number;
	answer->lost = cell->interpreter_lost;
	copy(answer->text, sizeof(answer->text), buf_str(&cell->text));
	copy(answer->problem, sizeof(answer->problem), cell->problem);
	copy(answer->notice, sizeof(answer->notice), result->notice);
	copy(answer->saved, sizeof(answer->saved), result->saved);
	answer->change_count = cell->change_count;
	if (cell->change_count > 0)
		copy(answer->first_change, sizeof(answer->first_change),
		     cell->changes[0].file.path);
}

static int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	memset(answers, 0, sizeof(answers));
	told_count = 0;
	session = session_new(&fixture.host, "test", 1, xstrdup("hello"), NULL, &err);
	if (session == NULL)
		fail_msg("%s", err.msg);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_free(session, "the test ended");
	session = NULL;
	fixture_close();
	return 0;
}

static struct call *start(const char *code, size_t index)
{
	const struct exec_request request = { .language = &fixture_language,
					      .code = code,
					      .code_len = strlen(code),
					      .wait_ms = 3600000 };
	struct err err;

	return session_exec(session, &request, on_done, &answers[index], &err);
}

static const struct answer *run_one(const char *code, size_t index)
{
	assert_non_null(start(code, index));
	fixture_until(answers[index].count > 0);
	return &answers[index];
}

static void the_rule_for_ids_is_held_and_told(void **state)
{
	static const char longest[] =
		"a234567890123456789012345678901234567890123456789012345678901234";
	static const char *const good[] = { "a", "7", "sales-k3f9", "A.b_c-d", longest };
	static const char *const bad[] = {
		"",
		".a",
		"-a",
		"_a",
		"a/b",
		"a b",
		"a\nb",
		"a%b",
		"..",
		"a:b",
		"\xc3\xa9",
		"a\xc3\xa9",
		"a234567890123456789012345678901234567890123456789012345678901234x"
	};
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(session_id_check(good[i], &err), 0);
	assert_int_equal(err.code, ERR_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(session_id_check(bad[i], &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.msg, "1 to 64 characters of A-Z a-z 0-9 . _ -"));
	}
}

static void a_new_session_is_idle_and_has_its_limits(void **state)
{
	char *notice = session_take_notice(session);

	(void)state;
	assert_string_equal(session_id(session), "test");
	assert_int_equal(session_generation(session), 1);
	assert_string_equal(session_state(session), "idle");
	assert_false(session_busy(session));
	assert_null(session_runner(session, 0));
	assert_int_equal(session_limits(session)->exec_timeout, 30);
	assert_string_equal(notice, "hello");
	assert_null(session_take_notice(session));
	free(notice);
}

static void the_notice_opens_the_first_answer_only(void **state)
{
	(void)state;
	assert_string_equal(run_one("print=a\ndone", 0)->notice, "hello");
	assert_string_equal(answers[0].text, "a");
	assert_string_equal(run_one("done", 1)->notice, "");
	assert_int_equal(answers[1].number, 2);
	assert_string_equal(session_state(session), "idle");
	assert_false(session_busy(session));
}

static void every_call_is_answered_once_and_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10; i++)
		assert_non_null(start(i % 3 == 2 ? "crash=9" : "done", i));
	assert_int_equal(told_count, 0); /* never before session_exec has returned */
	fixture_until(told_count == 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(answers[i].count, 1);
		assert_int_equal(answers[i].number, i + 1);
		assert_int_equal(answers[i].state, i % 3 == 2 ? CELL_DIED : CELL_DONE);
	}
	assert_int_equal(session_generation(session), 4);
}

static void a_loss_that_no_answer_told_is_told_with_the_next(void **state)
{
	const struct answer *next;

	(void)state;
	(void)run_one("done\nexit=0", 0);
	fixture_until(session_generation(session) == 2);
	next = run_one("done", 1);
	assert_non_null(strstr(next->notice,
			       "The fake state of session 'test' was lost after cell 1: the "
			       "interpreter exited with code 0."));
	assert_non_null(strstr(next->notice, "generation 2"));
}

static void a_loss_that_the_answer_told_is_not_told_again(void **state)
{
	(void)state;
	assert_true(run_one("crash=11", 0)->lost);
	assert_string_equal(run_one("done", 1)->notice, "");
}

/* Kills the processes of this session whose name begins so. */
static void kill_named(const char *name)
{
	cleanup_pidlist struct pidlist list = { 0 };
	int killed = 0;

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++) {
		char path[64];
		char text[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/comm", list.pids[i]);
		if (proctree_read(path, text, sizeof(text)) &&
		    strncmp(text, name, strlen(name)) == 0)
			killed += kill(list.pids[i], SIGKILL) == 0;
	}
	assert_true(killed > 0);
}

static const struct answer *run_other(const struct language *language, const char *code,
				      size_t index)
{
	const struct exec_request request = {
		.language = language, .code = code, .code_len = strlen(code), .wait_ms = 3600000
	};
	struct err err;

	assert_non_null(session_exec(session, &request, on_done, &answers[index], &err));
	fixture_until(answers[index].count > 0);
	return &answers[index];
}

static void a_session_outlives_its_sandbox(void **state)
{
	static const char *const names[] = { "ptycell-launch", "ptycell-init" };
	struct language other = fixture_language;
	const struct answer *next;

	(void)state;
	other.name = "other";
	(void)run_other(&other, "result=1\ndone", 0);
	(void)run_one("write=kept\nresult=1\ndone", 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t at = 2 + 3 * i;

		kill_named(names[i]);
		fixture_until(session_generation(session) == 3 + 2 * i);
		next = run_one("result=2\ndone", at);
		assert_int_equal(next->state, CELL_DONE);
		assert_non_null(strstr(next->notice, "the interpreter ended with its sandbox"));
		assert_null(strstr(next->notice, "memory"));
		assert_int_equal(run_other(&other, "result=2\ndone", at + 1)->state, CELL_DONE);
		/* The limits of the whole session hold in the new one. */
		assert_non_null(session->watchdog);
		assert_int_equal(run_one("result=2\ndone", at + 2)->state, CELL_DONE);
	}
}

/* Before the death is reported. */
static void a_cell_that_comes_as_its_sandbox_dies_fails_alone(void **state)
{
	(void)state;
	(void)run_one("exit=0", 0);
	kill_named("ptycell-init");
	assert_int_equal(run_one("result=1\ndone", 1)->state, CELL_DONE);
	kill_named("ptycell-init");
	(void)run_one("result=1\ndone", 2);
	fixture_until(session_generation(session) == 3);
	if (answers[2].state == CELL_DIED)
		assert_non_null(strstr(answers[2].problem, "ended with its sandbox"));
	assert_int_equal(run_one("result=1\ndone", 3)->state, CELL_DONE);
}

static void a_full_queue_refuses_and_answers_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < RUNNER_QUEUE_MAX; i++)
		assert_non_null(start("done", i));
	assert_null(start("done", RUNNER_QUEUE_MAX));
	fixture_until(told_count == RUNNER_QUEUE_MAX);
	assert_int_equal(answers[RUNNER_QUEUE_MAX].count, 0);
}

static void a_cancelled_call_is_never_answered(void **state)
{
	struct call *queued;
	struct call *running;

	(void)state;
	running = start("print=go\nwait", 0);
	queued = start("done", 1);
	(void)start("done", 2);
	fixture_until(str_eq(session_state(session), "running"));
	session_call_cancel(queued);
	session_call_cancel(running);
	fixture_until(answers[2].count == 1);
	assert_int_equal(told_count, 1);
	assert_int_equal(session_generation(session), 1);
}

/* A cell that is cancelled before it begins was requested, and is over. */
static void the_host_hears_of_each_cell_when_it_is_asked_for_begins_and_is_over(void **state)
{
	struct call *queued;
	struct call *running;

	(void)state;
	running = start("print=go\nwait", 0);
	assert_int_equal(fixture.cells_asked, 1);
	queued = start("done", 1);
	(void)start("done", 2);
	fixture_until(str_eq(session_state(session), "running"));
	assert_int_equal(fixture.cells_asked, 3);
	assert_int_equal(fixture.cells_begun, 1);
	assert_int_equal(fixture.cells_over, 0);
	session_call_cancel(queued);
	assert_int_equal(fixture.cells_over, 1);
	session_call_cancel(running);
	fixture_until(fixture.cells_over == 3);
	assert_int_equal(fixture.cells_asked, 3);
	assert_int_equal(fixture.cells_begun, 2);
}

static void the_sessions_own_deadline_is_the_default(void **state)
{
	struct session_limits limits = *session_limits(session);
	struct err err;

	(void)state;
	limits.exec_timeout = 5;
	assert_int_equal(session_set_limits(session, &limits, &err), 0);
	(void)start("wait", 0);
	fixture_until(str_eq(session_state(session), "running"));
	fixture_pass(4999);
	assert_int_equal(told_count, 0);
	fixture_pass(1);
	fixture_until(told_count == 1);
	assert_int_equal(answers[0].state, CELL_TIMED_OUT);
}

static void new_files_are_told_with_the_cell_that_made_them(void **state)
{
	(void)state;
	(void)run_one("done", 0);
	scratch_write(workspace_data_fd(session_workspace(session)), "output/a.csv", "1,2\n");
	(void)run_one("done", 1);
	assert_int_equal(answers[0].change_count, 0);
	assert_int_equal(answers[1].change_count, 1);
	assert_string_equal(answers[1].first_change, "output/a.csv");
	assert_int_equal(run_one("done", 2)->change_count, 0);
}

static void results_are_kept_and_the_answer_says_where(void **state)
{
	char keep[128];
	struct err err;

	(void)state;
	session_free(session, "replaced");
	(void)snprintf(keep, sizeof(keep), "%s/keep", fixture.scratch.path);
	fixture.settings.keep = keep;
	session = session_new(&fixture.host, "keeps", 1, NULL, NULL, &err);
	(void)run_one("done", 0);
	scratch_write(workspace_data_fd(session_workspace(session)), "output/a.csv", "1,2\n");
	(void)run_one("done", 1);
	assert_string_equal(answers[0].saved, "");
	assert_string_not_equal(answers[1].saved, "");
	assert_string_equal(answers[1].saved, session_keep_folder(session));
	fixture.settings.keep = NULL; /* the fixture owns it */
}

/* ---- lists of files ---- */

static size_t listed_files;
static int listed;

static void on_listed(void *data, const struct scan *scan)
{
	assert_ptr_equal(data, &listed);
	listed++;
	listed_files = 0;
	if (scan != NULL)
		(void)scan_files(scan, &listed_files);
}

static void files_are_listed_as_they_are_now(void **state)
{
	(void)state;
	listed = 0;
	scratch_write(workspace_data_fd(session_workspace(session)), "input/b", "x");
	session_list_files(session, on_listed, &listed);
	session_list_files(session, on_listed, &listed);
	fixture_until(listed == 2);
	assert_int_equal(listed_files, 1);
	session_list_files(session, on_listed, &listed);
	session_list_files_cancel(session, &listed);
	rest(fixture.loop);
	assert_int_equal(listed, 2);
}

static size_t steps;
static size_t steps_wanted;
static bool walk_ended;

static bool on_step(void *data, const struct scan *scan)
{
	assert_ptr_equal(data, &steps);
	walk_ended = scan == NULL;
	if (scan == NULL)
		return false;
	(void)scan_files(scan, &listed_files);
	return ++steps < steps_wanted;
}

/* One step a turn, so that other callers are served between two. */
static void files_are_gone_through_in_steps(void **state)
{
	size_t turns = 0;

	(void)state;
	listed = 0;
	steps = 0;
	steps_wanted = 5;
	scratch_write(workspace_data_fd(session_workspace(session)), "input/b", "x");
	session_walk_files(session, on_step, &steps);
	fixture_until(steps > 0);
	scratch_write(workspace_data_fd(session_workspace(session)), "input/c", "x");
	session_list_files(session, on_listed, &listed);
	for (; steps < steps_wanted; turns++) {
		size_t before = steps;

		loop_turn(fixture.loop, 0);
		assert_true(steps <= before + 1);
		assert_int_equal(listed_files, 1);
		assert_int_equal(listed, 0); /* no scan comes between */
	}
	assert_true(turns >= 4);
	fixture_until(listed == 1);
	assert_int_equal(listed_files, 2);
}

static void a_walk_ends_when_it_is_cancelled(void **state)
{
	(void)state;
	listed = 0;
	steps = 0;
	steps_wanted = SIZE_MAX;
	session_walk_files(session, on_step, &steps);
	fixture_until(steps > 1);
	session_list_files_cancel(session, &steps);
	steps = 0;
	session_list_files(session, on_listed, &listed);
	fixture_until(listed == 1);
	assert_int_equal(steps, 0);
}

static void a_walk_ends_with_its_session(void **state)
{
	(void)state;
	steps = 0;
	steps_wanted = SIZE_MAX;
	walk_ended = false;
	session_walk_files(session, on_step, &steps);
	fixture_until(steps > 1);
	session_free(session, "it was destroyed on request");
	session = NULL;
	assert_true(walk_ended);
	rest(fixture.loop);
}

/* ---- the end ---- */

static void the_end_of_a_session_answers_everything_once(void **state)
{
	(void)state;
	listed = 0;
	(void)start("print=so far\nhang", 0);
	(void)start("done", 1);
	session_list_files(session, on_listed, &listed);
	fixture_until(str_eq(session_state(session), "running"));
	rest(fixture.loop);
	session_list_files(session, on_listed, &listed);
	session_free(session, "it was destroyed on request");
	session = NULL;
	assert_int_equal(told_count, 2);
	assert_int_equal(answers[0].count + answers[1].count, 2);
	assert_int_equal(answers[0].state, CELL_DIED);
	assert_int_equal(answers[0].number, 1);
	assert_int_equal(answers[1].state, CELL_NOT_STARTED);
	assert_string_equal(answers[1].problem,
			    "the session ended because it was destroyed on request");
	assert_int_equal(listed, 2);
	rest(fixture.loop);
	assert_int_equal(told_count, 2);
}

static void a_session_ends_at_any_point_of_a_start(void **state)
{
	(void)state;
	for (int turns = 0; turns < 8; turns++) {
		struct err err;

		session_free(session, "it was enough");
		session = session_new(&fixture.host, "again", 1, NULL, NULL, &err);
		answers[turns].count = 0;
		(void)start("done", (size_t)turns);
		for (int i = 0; i < turns; i++)
			loop_turn(fixture.loop, 5);
	}
	session_free(session, "it was enough");
	session = NULL;
	for (int turns = 0; turns < 8; turns++)
		assert_int_equal(answers[turns].count, 1);
	assert_int_equal(fixture.retired, 9);
}

static int child_count;

static void on_counted(struct session *counted, int count, void *data)
{
	assert_ptr_equal(counted, session);
	assert_ptr_equal(data, &child_count);
	child_count = count;
}

static void fail_count(struct session *counted, int count, void *data)
{
	(void)counted;
	(void)count;
	(void)data;
	fail_msg("a later count has taken its place");
}

static void children_are_counted_over_all_interpreters(void **state)
{
	(void)state;
	child_count = -1;
	session_count_children(session, on_counted, &child_count);
	assert_int_equal(child_count, 0);
	(void)run_one("child\nchild\ndone", 0);
	child_count = -1;
	session_count_children(session, fail_count, NULL);
	session_count_children(session, on_counted, &child_count);
	fixture_until(child_count >= 0);
	assert_int_equal(child_count, 2);
}

static void idleness_counts_from_the_last_use(void **state)
{
	(void)state;
	fixture_pass(5000);
	assert_int_equal(session_idle_ms(session), 5000);
	assert_int_equal(session_age_ms(session), 5000);
	(void)start("wait", 0);
	fixture_until(str_eq(session_state(session), "running"));
	fixture_pass(3000);
	assert_int_equal(session_idle_ms(session), 0);
	assert_true(session_busy(session));
	fixture_pass(27000);
	fixture_until(told_count == 1);
	assert_int_equal(session_idle_ms(session), 0);
	assert_int_equal(session_age_ms(session), 35000);
}

#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule_for_ids_is_held_and_told),
		SESSION_TEST(a_new_session_is_idle_and_has_its_limits),
		SESSION_TEST(the_notice_opens_the_first_answer_only),
		SESSION_TEST(every_call_is_answered_once_and_in_order),
		SESSION_TEST(a_loss_that_no_answer_told_is_told_with_the_next),
		SESSION_TEST(a_loss_that_the_answer_told_is_not_told_again),
		SESSION_TEST(a_session_outlives_its_sandbox),
		SESSION_TEST(a_cell_that_comes_as_its_sandbox_dies_fails_alone),
		SESSION_TEST(a_full_queue_refuses_and_answers_the_others),
		SESSION_TEST(a_cancelled_call_is_never_answered),
		SESSION_TEST(the_host_hears_of_each_cell_when_it_is_asked_for_begins_and_is_over),
		SESSION_TEST(the_sessions_own_deadline_is_the_default),
		SESSION_TEST(new_files_are_told_with_the_cell_that_made_them),
		SESSION_TEST(results_are_kept_and_the_answer_says_where),
		SESSION_TEST(files_are_listed_as_they_are_now),
		SESSION_TEST(files_are_gone_through_in_steps),
		SESSION_TEST(a_walk_ends_when_it_is_cancelled),
		SESSION_TEST(a_walk_ends_with_its_session),
		SESSION_TEST(the_end_of_a_session_answers_everything_once),
		SESSION_TEST(a_session_ends_at_any_point_of_a_start),
		SESSION_TEST(children_are_counted_over_all_interpreters),
		SESSION_TEST(idleness_counts_from_the_last_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
