/* SPDX-License-Identifier: MIT */
/*
 * test_watchdog.c - too much memory: which interpreter prints its stack, and which is killed; and
 * when there is a measure, and an inspection of shares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <unistd.h>

#include <cmocka.h>

#include "runner/runner.h"
#include "session/session_internal.h"
#include "session/watchdog.h"
#include "session_fixture.h"

/* Less than fake_driver's step `hold` takes. */
#define MEMORY_MAX ((uint64_t)64 << 20)

struct answer {
	int count;
	enum cell_state state;
	bool noticed; /* a notice came in between */
	char problem[300];
};

static struct language other_language; /* the same program by another name */
static struct session *session;
static char held[128]; /* exists once a cell holds its memory */

static int set_up(void **state)
{
	struct err err;

	(void)state;
	fixture_open();
	other_language = fixture_language;
	other_language.name = "other";
	(void)snprintf(held, sizeof(held), "%s/held", fixture.scratch.path);
	session = session_new(&fixture.host, "test", 1, NULL, NULL, &err);
	assert_non_null(session);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_free(session, "the test is over");
	(void)unlink(held);
	fixture_close();
	return 0;
}

static void on_done(struct call *call, const struct exec_result *result, void *data)
{
	struct answer *answer = data;
	const struct cell *cell = result->cell;

	(void)call;
	answer->count++;
	answer->state = cell->state;
	answer->noticed = result->notice != NULL;
	(void)snprintf(answer->problem, sizeof(answer->problem), "%s",
		       cell->problem != NULL ? cell->problem : "");
}

static void start(const struct language *language, const char *code, struct answer *answer)
{
	const struct exec_request request = {
		.language = language, .code = code, .code_len = strlen(code), .wait_ms = 3600000
	};
	struct err err;

	*answer = (struct answer){ 0 };
	assert_non_null(session_exec(session, &request, on_done, answer, &err));
}

static void run(const struct language *language, const char *code)
{
	struct answer answer;

	start(language, code, &answer);
	fixture_until(answer.count > 0);
	assert_int_equal(answer.state, CELL_DONE);
	assert_false(answer.noticed);
}

/* Runs a cell that holds too much, in an interpreter that runs already. */
static void start_holding(struct answer *answer)
{
	cleanup_free char *code = xasprintf("hold=%s\ndone", held);

	session->limits.memory_max = MEMORY_MAX;
	start(&fixture_language, code, answer);
	fixture_until(access(held, F_OK) == 0);
}

static void a_cell_that_ended_while_it_was_asked_costs_nobody_anything(void **state)
{
	struct answer holding;

	(void)state;
	run(&fixture_language, "done");
	start_holding(&holding);
	fixture_pass(WATCHDOG_BUSY_MS);
	fixture_until(holding.count > 0);
	fixture_pass(WATCHDOG_WHERE_MS);
	/* However long a kill takes. */
	for (int i = 0; i < 20; i++)
		run(&fixture_language, "done");
}

static void of_two_that_run_nobody_is_asked_and_who_has_most_is_killed(void **state)
{
	struct answer innocent;
	struct answer holding;

	(void)state;
	run(&other_language, "done");
	run(&fixture_language, "done");
	/* A signal would end it. */
	start(&other_language, "hang=1", &innocent);
	fixture_until(runner_state(session_runner(session, 0)) == RUNNER_BUSY);
	start_holding(&holding);
	fixture_pass(WATCHDOG_BUSY_MS);
	fixture_until(holding.count > 0);
	assert_int_equal(holding.state, CELL_DIED);
	assert_non_null(strstr(holding.problem, "(memory_max)"));
	assert_int_equal(innocent.count, 0);
	assert_int_equal(runner_state(session_runner(session, 0)), RUNNER_BUSY);
	session_free(session, "it is enough");
	session = NULL;
}

static unsigned int quick_measures;
static bool answered;

static void on_measured(void *data, const struct sandbox_usage *usage)
{
	(void)data;
	quick_measures += !usage->exact;
	answered = answered || usage->exact;
}

/* Returns how many measures have been requested since the call before. */
static unsigned int count_measures(void)
{
	unsigned int count;

	answered = false;
	sandbox_measure(session->sandbox, true); /* the answers come in order */
	fixture_until(answered);
	count = quick_measures;
	quick_measures = 0;
	return count;
}

/* Under a small limit: what an interpreter took is known as its first cell begins. */
static void a_cell_begins_with_a_measure_if_its_interpreter_is_new(void **state)
{
	static const struct sandbox_watcher counter = { .measured = on_measured };

	(void)state;
	session->limits.memory_max = (uint64_t)1 << 30;
	run(&fixture_language, "done");
	fixture_until(watchdog_memory(session->watchdog) > 0);
	sandbox_watch(session->sandbox, &counter, NULL);
	(void)count_measures();
	fixture_pass(WATCHDOG_BUSY_MS / 2);
	run(&fixture_language, "done");
	assert_int_equal(count_measures(), 0);
	run(&other_language, "done");
	assert_int_equal(count_measures(), 1);
	run(&fixture_language, "done");
	assert_int_equal(count_measures(), 0);
}

static void on_inspection(void *data)
{
	(void)data;
}

static void on_notice(void *data, const char *text)
{
	(void)data;
	(void)text;
}

/* Returns the number of an inspection of now. */
static uint64_t inspect(void)
{
	uint64_t number = inspector_request(session->inspector);

	fixture_until(inspector_has_ended(session->inspector, number));
	return number;
}

/* Gives the session an inspector, whose helper never starts. */
static void watch_shares(void)
{
	const char *const paths[] = { fixture.scratch.path };
	const int fds[] = { -1 };
	const struct inspector_spec spec = { .loop = fixture.host.loop,
					     .home = fixture.host.home,
					     .helper = "/missing",
					     .paths = paths,
					     .fds = fds,
					     .count = 1,
					     .who = "test",
					     .notice = on_notice,
					     .inspected = on_inspection };

	session->inspector = inspector_new(&spec);
}

static void what_a_cell_left_is_looked_for_again_after_a_while_only(void **state)
{
	uint64_t number;

	(void)state;
	watch_shares();
	run(&fixture_language, "done");
	fixture_pass(WATCHDOG_LOOK_MS + WATCHDOG_IDLE_MS);
	fixture_pass(WATCHDOG_LOOK_MS);
	number = inspect();
	run(&fixture_language, "done");
	fixture_pass(WATCHDOG_BUSY_MS);
	assert_int_equal(inspect(), number + 2);
	fixture_pass(WATCHDOG_LOOK_MS + WATCHDOG_IDLE_MS);
	assert_int_equal(inspect(), number + 4);
}

static void answers_of_a_cell_that_goes_on_put_off_no_inspection(void **state)
{
	struct answer answer;
	uint64_t number;

	(void)state;
	watch_shares();
	start(&fixture_language, "hang=1", &answer);
	fixture_until(session_runner(session, 0) != NULL &&
		      runner_state(session_runner(session, 0)) == RUNNER_BUSY);
	number = inspect();
	for (int ms = 0; ms <= 2 * WATCHDOG_LOOK_MS; ms += WATCHDOG_BUSY_MS) {
		struct cell cell = { .state = CELL_RUNNING };

		watchdog_explain_cell(session->watchdog, session_runner(session, 0), &cell);
		fixture_pass(WATCHDOG_BUSY_MS);
	}
	assert_true(inspect() > number + 1);
	session_free(session, "it is enough");
	session = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cell_that_ended_while_it_was_asked_costs_nobody_anything),
		TEST(of_two_that_run_nobody_is_asked_and_who_has_most_is_killed),
		TEST(a_cell_begins_with_a_measure_if_its_interpreter_is_new),
		TEST(what_a_cell_left_is_looked_for_again_after_a_while_only),
		TEST(answers_of_a_cell_that_goes_on_put_off_no_inspection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
