/* SPDX-License-Identifier: MIT */
/* runner_fixture.h - one runner of the language "fake", and what it tells. After cmocka.h. */
#ifndef TEST_RUNNER_FIXTURE_H
#define TEST_RUNNER_FIXTURE_H

#include "runner/runner_internal.h"
#include "sandbox/policy.h"
#include "session_fixture.h"

enum { ENDED_MAX = 80 };

struct told {
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct runner *runner;
	struct cell *cells[ENDED_MAX]; /* in the order they ended */
	void *datas[ENDED_MAX];
	size_t ended;
	bool hold; /* runner_next is the test's */
	char *why; /* of the last loss */
	int lost;
	bool lost_told;
	int started;
	int waits;
	int resumed;
	int unanswered;
	int stuck;
	int overdue;
	size_t wrote;
	uint64_t numbers;
};

static struct told told;

FIXTURE_FN void on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	assert_true(told.ended < ENDED_MAX);
	told.cells[told.ended] = cell_own;
	told.datas[told.ended++] = data;
	if (!told.hold)
		runner_next(runner);
}

FIXTURE_FN void on_lost(struct runner *runner, const char *why, bool is_told)
{
	(void)runner;
	free(told.why);
	told.why = xstrdup(why);
	told.lost++;
	told.lost_told = is_told;
}

FIXTURE_FN uint64_t on_number(struct runner *runner)
{
	assert_ptr_equal(runner_owner(runner), &told);
	return ++told.numbers;
}

FIXTURE_FN void on_starting(struct runner *runner)
{
	(void)runner;
	told.started++;
}

FIXTURE_FN void on_waits(struct runner *runner)
{
	assert_non_null(runner_wait(runner));
	told.waits++;
}

FIXTURE_FN void on_resumed(struct runner *runner)
{
	(void)runner;
	told.resumed++;
}

FIXTURE_FN void on_unanswered(struct runner *runner)
{
	(void)runner;
	told.unanswered++;
}

FIXTURE_FN void on_stuck(struct runner *runner, const char *how)
{
	(void)runner;
	assert_non_null(how);
	told.stuck++;
}

FIXTURE_FN void on_overdue(struct runner *runner)
{
	const struct cell *cell = runner_look(runner);

	assert_int_equal(cell->state, CELL_TIMED_OUT);
	assert_true(cell_goes_on(cell));
	told.overdue++;
}

FIXTURE_FN void on_wrote(struct runner *runner, const char *data, size_t len)
{
	(void)runner;
	(void)data;
	told.wrote += len;
}

static const struct runner_handlers runner_fixture_handlers = {
	.ended = on_ended,
	.lost = on_lost,
	.next_number = on_number,
	.starting = on_starting,
	.waits = on_waits,
	.resumed = on_resumed,
	.unanswered = on_unanswered,
	.stuck = on_stuck,
	.overdue = on_overdue,
	.wrote = on_wrote,
};

FIXTURE_FN int runner_set_up(void **state)
{
	struct sandbox_folders folders = { 0 };
	struct policy policy;
	struct err err;

	(void)state;
	fixture_open();
	memset(&told, 0, sizeof(told));
	told.workspace = workspace_new(fixture.home, &err);
	assert_non_null(told.workspace);
	policy_init(&policy);
	policy.tier = POLICY_UNCONFINED;
	folders.data = workspace_data_fd(told.workspace);
	told.sandbox = sandbox_open(fixture.launcher, &policy, &folders, NULL);
	told.runner = runner_new(&(struct runner_context){
		.loop = fixture.loop,
		.sandbox = told.sandbox,
		.workspace = told.workspace,
		.language = &fixture_language,
		.confinement = fixture.host.confinement,
		.handlers = &runner_fixture_handlers,
		.owner = &told,
		.spool_max = 1 << 20,
		.output_chars = 8000,
	});
	return 0;
}

FIXTURE_FN int runner_tear_down(void **state)
{
	(void)state;
	runner_free(told.runner);
	sandbox_close(told.sandbox, NULL, NULL);
	workspace_free(told.workspace);
	for (size_t i = 0; i < told.ended; i++)
		cell_free(told.cells[i]);
	free(told.why);
	fixture_close();
	return 0;
}

/* A number as `data`: what came with the end of the cell that was submitted as the `n`th. */
#define TAG(n) ((void *)(uintptr_t)(n))

FIXTURE_FN struct run *submit(const char *code, uintptr_t tag)
{
	struct err err;
	struct run *run = runner_submit(told.runner, code, strlen(code), 30000, TAG(tag), &err);

	assert_non_null(run);
	return run;
}

/* Submits one cell and waits for its end. */
FIXTURE_FN const struct cell *run_cell(const char *code)
{
	size_t before = told.ended;

	(void)submit(code, before + 1);
	fixture_until(told.ended == before + 1);
	return told.cells[before];
}

FIXTURE_FN const char *text_of(const struct cell *cell)
{
	return buf_str(&cell->text);
}

/* What the running cell has written so far. */
FIXTURE_FN bool has_written(const char *text)
{
	const struct transcript *transcript = told.runner->transcript;
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (transcript == NULL)
		return false;
	transcript_last_line(transcript, &line);
	return strstr(buf_str(&line), text) != NULL;
}

#define RUNNER_TEST(name) cmocka_unit_test_setup_teardown(name, runner_set_up, runner_tear_down)

#endif
