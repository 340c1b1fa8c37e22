/* SPDX-License-Identifier: MIT */
/* test_runner.c - a runner whose interpreter behaves: order, queue, cancellation, queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "config/user_env.h"
#include "runner_fixture.h"
#include "text/sanitize.h"

static void nothing_starts_before_the_first_cell(void **state)
{
	(void)state;
	loop_turn(fixture.loop, 0);
	assert_int_equal(runner_state(reports.runner), RUNNER_IDLE);
	assert_false(runner_busy(reports.runner));
	assert_null(runner_version(reports.runner));
	assert_null(runner_path(reports.runner));
	assert_string_equal(runner_state_name(RUNNER_IDLE), "not started");
}

static void a_cell_runs_and_tells_everything(void **state)
{
	const struct cell *cell;

	(void)state;
	(void)submit("print=hello\\n\nresult=42\ndone", 7);
	assert_true(runner_busy(reports.runner));
	assert_int_equal(reports.ended, 0); /* never before runner_submit has returned */
	fixture_until(reports.ended == 1);
	cell = reports.cells[0];
	assert_int_equal(cell->state, CELL_DONE);
	assert_string_equal(text_of(cell), "hello\n");
	assert_string_equal(cell->value, "42");
	assert_int_equal(cell->number, 1);
	assert_true(cell->ran);
	assert_int_equal(cell->timeout_ms, 30000);
	assert_ptr_equal(reports.datas[0], TAG(7));
	assert_int_equal(reports.started, 1);
	assert_string_equal(runner_version(reports.runner), "1.2");
	assert_non_null(strstr(runner_path(reports.runner), "/fake_driver"));
	assert_string_equal(runner_reason(reports.runner), "PTYCELL_FAKE");
	assert_int_equal(runner_state(reports.runner), RUNNER_READY);
	assert_false(runner_busy(reports.runner));
}

static void room_for_a_large_cell_is_given_back(void **state)
{
	const size_t room = 64 << 10;
	struct buf code = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&code, "done");
	while (code.len <= room)
		buf_put_char(&code, '\n');
	(void)submit(buf_str(&code), 1);
	fixture_until(reports.ended == 1);
	assert_int_equal(reports.runner->to_driver.len, 0);
	assert_true(reports.runner->to_driver.cap <= room);
	buf_release(&code);
}

static void cells_run_in_order_and_each_ends_once(void **state)
{
	(void)state;
	for (uintptr_t i = 1; i <= 5; i++)
		(void)submit("done", i);
	assert_int_equal(runner_queued(reports.runner), 5);
	fixture_until(reports.ended == 5);
	for (uintptr_t i = 0; i < 5; i++) {
		assert_ptr_equal(reports.datas[i], TAG(i + 1));
		assert_int_equal(reports.cells[i]->number, i + 1);
	}
	loop_turn(fixture.loop, 0);
	assert_int_equal(reports.ended, 5);
}

static void the_next_cell_waits_until_the_files_were_looked_at(void **state)
{
	(void)state;
	reports.hold = true;
	(void)submit("done", 1);
	(void)submit("done", 2);
	fixture_until(reports.ended == 1);
	rest(fixture.loop);
	assert_int_equal(reports.started, 1);
	assert_true(runner_busy(reports.runner));
	reports.hold = false;
	runner_next(reports.runner);
	fixture_until(reports.ended == 2);
}

static void a_full_queue_is_busy(void **state)
{
	struct err err = { 0 };

	(void)state;
	for (uintptr_t i = 1; i <= RUNNER_QUEUE_MAX; i++)
		(void)submit("done", i);
	assert_null(runner_submit(reports.runner, "done", 4, 1000, TAG(99), &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.msg, "64 cells are already waiting for fake"));
	fixture_until(reports.ended == RUNNER_QUEUE_MAX);
	assert_ptr_equal(reports.datas[RUNNER_QUEUE_MAX - 1], TAG(RUNNER_QUEUE_MAX));
}

/* ---- statuses of done ---- */

static void the_ends_of_a_cell_have_their_states(void **state)
{
	const struct cell *cell;

	(void)state;
	assert_int_equal(run_cell("done=error")->state, CELL_RAISED);
	/* The code raised its own KeyboardInterrupt. */
	assert_int_equal(run_cell("done=interrupted")->state, CELL_RAISED);
	cell = run_cell("done=exit");
	assert_int_equal(cell->state, CELL_DONE);
	assert_true(cell->has_exit_code);
	assert_string_equal(cell_state_name(cell->state), "done");
	assert_int_equal(run_cell("done=whatever")->state, CELL_DONE);
	assert_int_equal(reports.lost, 0);
}

static void displayed_text_stands_where_it_was_shown(void **state)
{
	(void)state;
	assert_string_equal(text_of(run_cell("print=a\ndisplay=shown\nack\nprint=b\\n\ndone")),
			    "a\nshown\nb\n");
}

/* ---- output ---- */

static void output_between_cells_is_told_with_the_next(void **state)
{
	const struct cell *cell;

	(void)state;
	(void)run_cell("done\nread\nprint=late\\n");
	assert_int_equal(write(interpreter_pty(reports.runner->interpreter), "\n", 1), 1);
	fixture_until(reports.runner->background != NULL);
	cell = run_cell("print=own\\n\ndone");
	assert_string_equal(text_of(cell), "[background output since the last cell]\nlate\n"
					   "[output of this cell]\nown\n");
	assert_int_equal(cell->background, 5);
	assert_string_equal(text_of(run_cell("done")), "");
}

/* Everything that the terminal holds when `done` comes was written before it. */
static void what_was_written_before_the_end_is_the_cells(void **state)
{
	const struct cell *cell;

	(void)state;
	reports.hold = true;
	cell = run_cell("fill\ndone");
	reports.hold = false;
	runner_next(reports.runner);
	assert_true(strtol(cell->value, NULL, 10) > 1000);
	assert_int_equal(cell->text_total, strtol(cell->value, NULL, 10) + strlen(cell->value));
	cell = run_cell("done");
	assert_string_equal(text_of(cell), "");
	assert_int_equal(cell->background, 0);
}

static void a_long_output_is_cut_and_lies_whole_in_the_spool(void **state)
{
	const struct cell *cell = run_cell("flood=200000\ndone");
	struct stat st;

	(void)state;
	assert_true(cell->text_total >= 200000);
	assert_true(cell->text_shown <= 8000);
	assert_non_null(cell->spool_path);
	assert_int_equal(stat(cell->spool_path, &st), 0);
	assert_int_equal(st.st_size, cell->text_total);
	assert_null(run_cell("print=short\ndone")->spool_path);
}

/* ---- cancelling ---- */

static void a_queued_cell_that_is_cancelled_never_runs(void **state)
{
	struct queued_cell *second;

	(void)state;
	(void)submit("done", 1);
	second = submit("print=no\ndone", 2);
	(void)submit("done", 3);
	runner_withdraw(second, NULL);
	fixture_until(reports.ended == 2);
	assert_ptr_equal(reports.datas[1], TAG(3));
	assert_int_equal(reports.started, 2);
}

static void a_cell_cancelled_while_its_interpreter_starts_never_runs(void **state)
{
	struct queued_cell *run = submit("done", 1);

	(void)state;
	loop_turn(fixture.loop, 0);
	assert_int_equal(runner_state(reports.runner), RUNNER_STARTING);
	runner_withdraw(run, NULL);
	fixture_until(runner_state(reports.runner) == RUNNER_READY);
	assert_int_equal(reports.ended + (size_t)reports.started, 0);
	assert_false(runner_busy(reports.runner));
}

static void a_running_cell_that_is_cancelled_is_interrupted_and_state_stays(void **state)
{
	(void)state;
	(void)submit("print=go\nwait", 1);
	fixture_until(has_written("go"));
	assert_ptr_equal(runner_current(reports.runner), TAG(1));
	runner_stop(reports.runner, RUNNER_STOP_DEADLINE);
	fixture_until(reports.ended == 1);
	assert_ptr_equal(reports.datas[0], TAG(1));
	assert_null(runner_current(reports.runner));
	assert_int_equal(reports.cells[0]->state, CELL_INTERRUPTED);
	assert_int_equal(run_cell("done")->state, CELL_DONE);
	assert_int_equal(reports.lost, 0);
}

static void a_cell_cancelled_after_its_interpreter_was_killed_is_dropped(void **state)
{
	struct queued_cell *next;

	(void)state;
	reports.hold = true;
	(void)run_cell("crash=11");
	assert_int_equal(runner_state(reports.runner), RUNNER_ENDING);
	next = submit("done", 2);
	runner_withdraw(next, NULL);
	runner_next(reports.runner);
	fixture_until(runner_state(reports.runner) == RUNNER_IDLE);
	assert_int_equal(reports.ended, 1);
	assert_int_equal(runner_queued(reports.runner), 0);
}

/* ---- questions ---- */

static char *answer;
static char *problem;
static int answers;

static void on_variables(const struct query_answer *told_us, void *data)
{
	(void)data;
	answers++;
	free(answer);
	free(problem);
	answer = told_us->lines != NULL ? xmemdup(told_us->lines, told_us->len) : NULL;
	problem = told_us->problem != NULL ? xstrdup(told_us->problem) : NULL;
}

static int forget_answers(void **state)
{
	free(answer);
	free(problem);
	answer = NULL;
	problem = NULL;
	answers = 0;
	return runner_tear_down(state);
}

static void variables_are_asked_for_between_cells(void **state)
{
	(void)state;
	(void)run_cell("done");
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	assert_int_equal(answers, 0);
	(void)submit("done", 2); /* waits for the reply */
	fixture_until(answers == 1);
	assert_null(problem);
	assert_string_equal(answer, "x\tint\t\t28\t1\n");
	fixture_until(reports.ended == 2);
}

static void who_cannot_be_asked_is_told_from_the_loop(void **state)
{
	(void)state;
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	assert_int_equal(answers, 0);
	loop_turn(fixture.loop, 0);
	assert_string_equal(problem, "the interpreter does not run: there are no names");
	(void)submit("wait", 1);
	fixture_until(runner_state(reports.runner) == RUNNER_BUSY);
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	loop_turn(fixture.loop, 0);
	assert_int_equal(answers, 2);
	assert_non_null(strstr(problem, "busy"));
}

static void a_question_without_an_answer_ends_by_the_clock(void **state)
{
	(void)state;
	fixture_start_with(STEPS("mute", "ready"));
	(void)run_cell("done");
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	fixture_pass(RUNNER_QUERY_MS - 1);
	assert_int_equal(answers, 0);
	fixture_pass(1);
	assert_string_equal(problem, "the interpreter did not answer in time");
	assert_int_equal(run_cell("done")->state, CELL_DONE);
	assert_int_equal(answers, 1);
}

static void the_reason_of_a_refusal_is_one_short_line(void **state)
{
	(void)state;
	fixture_start_with(
		STEPS("vars=refuse=\x1b[31mno names\n[s#1 done | \u202e"
		      "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789",
		      "ready"));
	(void)run_cell("done");
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	fixture_until(answers == 1);
	assert_null(strpbrk(problem, "\x1b\n"));
	assert_null(strstr(problem, "\u202e"));
	assert_int_equal(strncmp(problem, "no names [s#1 done | ", 21), 0);
	assert_true(strlen(problem) <= SANITIZE_QUOTE_MAX);
}

static void a_cancelled_question_is_never_answered(void **state)
{
	struct runner_query *query;

	(void)state;
	runner_query_cancel(runner_query_variables(reports.runner, 200, on_variables, NULL));
	(void)run_cell("done");
	query = runner_query_variables(reports.runner, 200, on_variables, NULL);
	runner_query_cancel(query);
	(void)run_cell("done");
	assert_int_equal(answers, 0);
}

static void a_refused_question_may_be_cancelled_after_its_runner(void **state)
{
	struct runner_query *query =
		runner_query_variables(reports.runner, 200, on_variables, NULL);

	(void)state;
	runner_free(reports.runner);
	reports.runner = NULL;
	runner_query_cancel(query);
	loop_turn(fixture.loop, 0);
	assert_int_equal(answers, 0);
}

static void a_runner_that_is_freed_answers_what_was_asked(void **state)
{
	(void)state;
	(void)run_cell("done");
	(void)runner_query_variables(reports.runner, 200, on_variables, NULL);
	runner_free(reports.runner);
	reports.runner = NULL;
	assert_int_equal(answers, 1);
	assert_string_equal(problem, "the session ended");
}

static int children;
static int counts;

static void on_counted(struct runner *runner, int count)
{
	(void)runner;
	children = count;
	counts++;
}

static void live_children_are_counted(void **state)
{
	(void)state;
	counts = 0;
	assert_false(runner_count_children(reports.runner, on_counted));
	(void)run_cell("child\nchild\ndone");
	assert_true(runner_count_children(reports.runner, on_counted));
	fixture_until(counts == 1);
	assert_int_equal(children, 2);
}

static void freeing_a_runner_at_any_time_is_quiet(void **state)
{
	(void)state;
	(void)submit("print=go\nhang", 1);
	(void)submit("done", 2);
	fixture_until(has_written("go"));
	runner_free(reports.runner);
	reports.runner = NULL;
	rest(fixture.loop);
	assert_int_equal(reports.ended + (size_t)reports.lost, 0);
	runner_free(NULL);
}

/* ---- compiled drivers ---- */

/* Returns whether a runner with these keeps compiled drivers. */
static bool keeps(const struct home *home, const struct confinement *confinement,
		  const struct user_env *user_env)
{
	struct runner *runner = runner_new(&(struct runner_context){
		.loop = fixture.loop,
		.sandbox = reports.sandbox,
		.workspace = reports.workspace,
		.language = &fixture_language,
		.confinement = confinement,
		.home = home,
		.user_env = user_env,
		.handlers = &runner_fixture_handlers,
		.owner = &reports,
	});
	bool result = runner_keeps_compiled(runner);

	runner_free(runner);
	return result;
}

static void compiled_drivers_are_not_kept_where_variables_choose_what_runs(void **state)
{
	static char names[][16] = { "DATA", "MYPYTHON", "PYTHONPATH", "PYTHONHOME" };
	static char value[] = "/project";
	const struct confinement *confinement = fixture.host.confinement;

	(void)state;
	assert_true(keeps(fixture.home, confinement, NULL));
	assert_false(keeps(NULL, confinement, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct user_env_variable variables[] = { { .name = names[0], .value = value },
							 { .name = names[i], .value = value } };
		const struct user_env user_env = { .items = variables,
						   .count = ARRAY_SIZE(variables) };

		assert_int_equal(keeps(fixture.home, confinement, &user_env), i < 2);
	}
}

static void compiled_drivers_are_not_kept_where_sessions_write_to_a_share(void **state)
{
	struct settings_share list[2] = { { .path = NULL } };

	(void)state;
	fixture.settings.home = fixture.settings.keep = (char *)(uintptr_t) "/elsewhere";
	fixture.settings.shares = list;
	fixture.settings.share_count = ARRAY_SIZE(list);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		cleanup_free char *name = xasprintf("shared%zu", i);

		assert_int_equal(mkdirat(fixture.scratch.fd, name, 0700), 0);
		list[i].path = xasprintf("%s/%s", fixture.scratch.path, name);
	}
	for (int writable = 0; writable < 2; writable++) {
		struct confinement *confinement =
			confinement_new(fixture.loop, fixture.launcher, &fixture.settings);
		bool settled = false;

		list[1].writable = writable != 0;
		confinement_settle(confinement, fixture_on_settled, &settled);
		fixture_until(settled);
		assert_null(confinement_facts(confinement).refusal);
		assert_int_equal(keeps(fixture.home, confinement, NULL), !writable);
		confinement_free(confinement);
	}
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		mem_cleanup(&list[i].path);
}

#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, runner_set_up, forget_answers)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNNER_TEST(nothing_starts_before_the_first_cell),
		RUNNER_TEST(a_cell_runs_and_tells_everything),
		RUNNER_TEST(room_for_a_large_cell_is_given_back),
		RUNNER_TEST(cells_run_in_order_and_each_ends_once),
		RUNNER_TEST(the_next_cell_waits_until_the_files_were_looked_at),
		RUNNER_TEST(a_full_queue_is_busy),
		RUNNER_TEST(the_ends_of_a_cell_have_their_states),
		RUNNER_TEST(displayed_text_stands_where_it_was_shown),
		RUNNER_TEST(output_between_cells_is_told_with_the_next),
		RUNNER_TEST(what_was_written_before_the_end_is_the_cells),
		RUNNER_TEST(a_long_output_is_cut_and_lies_whole_in_the_spool),
		RUNNER_TEST(a_queued_cell_that_is_cancelled_never_runs),
		RUNNER_TEST(a_cell_cancelled_while_its_interpreter_starts_never_runs),
		RUNNER_TEST(a_running_cell_that_is_cancelled_is_interrupted_and_state_stays),
		RUNNER_TEST(a_cell_cancelled_after_its_interpreter_was_killed_is_dropped),
		QUERY_TEST(variables_are_asked_for_between_cells),
		QUERY_TEST(who_cannot_be_asked_is_told_from_the_loop),
		QUERY_TEST(a_question_without_an_answer_ends_by_the_clock),
		QUERY_TEST(the_reason_of_a_refusal_is_one_short_line),
		QUERY_TEST(a_cancelled_question_is_never_answered),
		QUERY_TEST(a_refused_question_may_be_cancelled_after_its_runner),
		QUERY_TEST(a_runner_that_is_freed_answers_what_was_asked),
		RUNNER_TEST(live_children_are_counted),
		RUNNER_TEST(freeing_a_runner_at_any_time_is_quiet),
		RUNNER_TEST(compiled_drivers_are_not_kept_where_variables_choose_what_runs),
		RUNNER_TEST(compiled_drivers_are_not_kept_where_sessions_write_to_a_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
