/* SPDX-License-Identifier: MIT */
/* runner_fixture.h - one runner of the language "fake", and its reports. Include after cmocka.h. */
#ifndef TEST_RUNNER_FIXTURE_H
#define TEST_RUNNER_FIXTURE_H

#include "runner/runner_internal.h"
#include "sandbox/policy.h"
#include "session_fixture.h"

enum { ENDED_MAX = 80 };

struct reports {
	struct workspace *workspace;
	struct sandbox *sandbox;
	struct runner *runner;
	struct cell *cells[ENDED_MAX]; /* in the order in which they ended */
	void *datas[ENDED_MAX];
	size_t ended;
	bool hold; /* the test calls runner_next itself */
	char *why; /* the reason of the last loss */
	int lost;
	bool lost_told;
	const char *refusal; /* of each cell that would start; or NULL */
	int started;
	uint64_t starting_ms; /* how long the report of a start takes */
	int waits;
	int resumed;
	int unanswered;
	int stuck;
	int overdue;
	size_t wrote;
	uint64_t numbers;
};

static struct reports reports;

FIXTURE_FN void on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	assert_true(reports.ended < ENDED_MAX);
	reports.cells[reports.ended] = cell_own;
	reports.datas[reports.ended++] = data;
	if (!reports.hold)
		runner_next(runner);
}

FIXTURE_FN void on_lost(struct runner *runner, const char *why, bool is_told)
{
	(void)runner;
	free(reports.why);
	reports.why = xstrdup(why);
	reports.lost++;
	reports.lost_told = is_told;
}

FIXTURE_FN uint64_t on_number(struct runner *runner)
{
	assert_ptr_equal(runner_owner(runner), &reports);
	return ++reports.numbers;
}

FIXTURE_FN char *on_refusal(struct runner *runner)
{
	(void)runner;
	return reports.refusal == NULL ? NULL : xstrdup(reports.refusal);
}

FIXTURE_FN void on_starting(struct runner *runner)
{
	(void)runner;
	reports.started++;
	fixture_now += reports.starting_ms;
}

FIXTURE_FN void on_waits(struct runner *runner)
{
	assert_non_null(runner_wait(runner));
	reports.waits++;
}

FIXTURE_FN void on_resumed(struct runner *runner)
{
	(void)runner;
	reports.resumed++;
}

FIXTURE_FN void on_unanswered(struct runner *runner)
{
	(void)runner;
	reports.unanswered++;
}

FIXTURE_FN void on_stuck(struct runner *runner, const char *how)
{
	(void)runner;
	assert_non_null(how);
	reports.stuck++;
}

FIXTURE_FN void on_overdue(struct runner *runner)
{
	const struct cell *cell = runner_observe(runner);

	assert_int_equal(cell->state, CELL_TIMED_OUT);
	assert_true(cell_goes_on(cell));
	reports.overdue++;
}

FIXTURE_FN void on_wrote(struct runner *runner, const char *data, size_t len)
{
	(void)runner;
	(void)data;
	reports.wrote += len;
}

static const struct runner_handlers runner_fixture_handlers = {
	.ended = on_ended,
	.lost = on_lost,
	.next_number = on_number,
	.refusal = on_refusal,
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
	memset(&reports, 0, sizeof(reports));
	reports.workspace = workspace_new(fixture.home, &err);
	assert_non_null(reports.workspace);
	policy_init(&policy);
	policy.tier = POLICY_UNCONFINED;
	folders.data = workspace_data_fd(reports.workspace);
	reports.sandbox = sandbox_open(fixture.launcher, &policy, &folders, NULL);
	reports.runner = runner_new(&(struct runner_context){
		.loop = fixture.loop,
		.sandbox = reports.sandbox,
		.workspace = reports.workspace,
		.language = &fixture_language,
		.confinement = fixture.host.confinement,
		.handlers = &runner_fixture_handlers,
		.owner = &reports,
		.spool_max = 1 << 20,
		.output_chars = 8000,
	});
	return 0;
}

FIXTURE_FN int runner_tear_down(void **state)
{
	(void)state;
	runner_free(reports.runner);
	sandbox_close(reports.sandbox, NULL, NULL);
	workspace_free(reports.workspace);
	for (size_t i = 0; i < reports.ended; i++)
		cell_free(reports.cells[i]);
	free(reports.why);
	fixture_close();
	return 0;
}

/* A number as `data`, which comes back with the end of the cell. */
#define TAG(n) ((void *)(uintptr_t)(n))

FIXTURE_FN struct queued_cell *submit(const char *code, uintptr_t tag)
{
	struct err err;
	struct queued_cell *run =
		runner_submit(reports.runner, code, strlen(code), 30000, TAG(tag), &err);

	assert_non_null(run);
	return run;
}

/* Submits one cell and waits for its end. */
FIXTURE_FN const struct cell *run_cell(const char *code)
{
	size_t before = reports.ended;

	(void)submit(code, before + 1);
	fixture_until(reports.ended == before + 1);
	return reports.cells[before];
}

FIXTURE_FN const char *text_of(const struct cell *cell)
{
	return buf_str(&cell->text);
}

/* Returns whether the running cell has written this text. */
FIXTURE_FN bool has_written(const char *text)
{
	const struct transcript *transcript = reports.runner->transcript;
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (transcript == NULL)
		return false;
	transcript_last_line(transcript, &line);
	return strstr(buf_str(&line), text) != NULL;
}

#define RUNNER_TEST(name) cmocka_unit_test_setup_teardown(name, runner_set_up, runner_tear_down)

#endif
