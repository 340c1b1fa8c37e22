/* SPDX-License-Identifier: MIT */
/* test_queries.c - helper programs that do not behave as ptycell-sql does. */
#include "../workspace/fixture.h"

#include <dirent.h>
#include <signal.h>

#include "base/mem.h"
#include "json/make.h"
#include "query/queries.h"

#define ANSWER                                                                                     \
	"{\"columns\":[{\"name\":\"a\",\"type\":\"integer\"}],\"rows\":[[1]],\"row_count\":1}"
/* Reads an order and sets n to the number of its query. */
#define READ "read -r line || exit 0; n=${line#*\\\"query\\\":}; n=${n%%[,\\}]*}; "
#define SAY(what) "echo \"{\\\"progress\\\":{\\\"query\\\":$n,\"'" what "}}'; "
#define SAY_ANSWER SAY("\"answer\":" ANSWER)

struct asked {
	struct query *query;
	int rows;
	int done;
	bool answered;
	struct err err;
};

struct test {
	struct fixture *fixture;
	struct queries *queries;
	json_t *database;
	char script[128];
};

static void on_progress(void *data, uint64_t rows)
{
	struct asked *asked = data;

	asked->rows += (int)rows;
}

static void on_done(void *data, const json_t *answer, const struct err *err)
{
	struct asked *asked = data;

	assert_true((answer == NULL) != (err == NULL));
	asked->done++;
	asked->answered = answer != NULL;
	if (err != NULL)
		asked->err = *err;
}

static const struct query_handlers handlers = { .progress = on_progress, .done = on_done };

/* A shell script stands for the program. */
static void use(struct test *t, const char *script)
{
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", script);

	scratch_write(t->fixture->scratch.fd, "program", text);
	assert_int_equal(chmod(t->script, 0700), 0);
}

static void start(struct test *t, struct asked *asked)
{
	const struct query_spec spec = { .workspace = t->fixture->workspace,
					 .database = t->database,
					 .sql = "SELECT 1",
					 .sql_len = 8,
					 .file = "input/sql_result_00000000.csv",
					 .inline_rows = 30,
					 .timeout_ms = 60000 };
	struct err err = { 0 };

	*asked = (struct asked){ .done = 0 };
	asked->query = queries_start(t->queries, &spec, &handlers, asked, &err);
	if (asked->query == NULL)
		fail_msg("queries_start: %s", err.msg);
}

static void await(struct test *t, const struct asked *asked)
{
	while (asked->done == 0)
		loop_turn(t->fixture->loop, -1);
	assert_int_equal(asked->done, 1);
}

static void ask(struct test *t, struct asked *asked)
{
	start(t, asked);
	await(t, asked);
}

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	void *fixture = NULL;

	(void)sigaction(SIGPIPE, &ignore, NULL);
	assert_int_equal(fixture_setup(&fixture), 0);
	t->fixture = fixture;
	(void)snprintf(t->script, sizeof(t->script), "%s/program", t->fixture->scratch.path);
	t->queries = queries_new(t->fixture->loop, t->script);
	t->database = json_object();
	json_put_str(t->database, "kind", "files");
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;
	void *fixture = t->fixture;

	queries_free(t->queries);
	json_decref(t->database);
	assert_int_equal(fixture_teardown(&fixture), 0);
	free(t);
	return 0;
}

static void one_program_answers_query_after_query(void **state)
{
	struct test *t = *state;
	struct asked asked;

	use(t, "while :; do " READ SAY("\"rows\":5") SAY_ANSWER "done");
	for (int i = 0; i < 3; i++) {
		ask(t, &asked);
		assert_true(asked.answered);
		assert_int_equal(asked.rows, 5);
	}
}

static void its_end_costs_one_error_and_the_next_query_runs(void **state)
{
	static const char *const ends[] = { "kill -9 $$", "exit 0", "printf '{\"progr'; kill -9 $$",
					    "echo garbage" };
	struct test *t = *state;
	struct asked asked;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		cleanup_free char *script = xasprintf(READ "%s", ends[i]);

		use(t, script);
		ask(t, &asked);
		assert_false(asked.answered);
		assert_int_equal(asked.err.code, ERR_INTERNAL);
		assert_non_null(strstr(asked.err.msg, "run the query again"));
		use(t, READ SAY_ANSWER);
		ask(t, &asked);
		assert_true(asked.answered);
	}
}

static void an_answer_that_is_none_is_an_error(void **state)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"{\"columns\":[],\"rows\":[[1]],\"row_count\":1}",
		"{\"columns\":[{}],\"rows\":[[1]],\"row_count\":1}",
		"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]],\"more\":[[1,2]],\"row_count\":1}",
		"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]],\"more\":1,\"row_count\":1}",
		"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]],\"row_count\":-1}",
		"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]],\"row_count\":1,\"blobs\":1001}",
		"{\"columns\":[{\"name\":\"a\"}],\"rows\":[[1]],\"row_count\":1,\"bytes\":\"x\"}",
	};
	struct test *t = *state;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		cleanup_free char *script =
			xasprintf("while :; do " READ SAY("\"answer\":%s") "done", answers[i]);
		struct asked asked;

		use(t, script);
		ask(t, &asked);
		assert_false(asked.answered);
		queries_end_folder(t->queries, workspace_name(t->fixture->workspace));
	}
}

static void answers_to_other_queries_are_passed_over(void **state)
{
	struct test *t = *state;
	struct asked asked;

	use(t, READ "n=$((n + 1)); " SAY_ANSWER "n=$((n - 1)); " SAY_ANSWER "read -r line");
	ask(t, &asked);
	assert_true(asked.answered);
}

/* It does not end when it is told to, as one that waits for its next order already. */
static void a_cancel_that_comes_with_the_answer_holds_nobody_up(void **state)
{
	struct test *t = *state;
	struct asked first;
	struct asked second;

	use(t, "trap '' TERM; while :; do " READ SAY("\"rows\":1") SAY_ANSWER "done");
	start(t, &first);
	start(t, &second);
	queries_cancel(first.query);
	await(t, &first);
	await(t, &second);
	assert_true(second.answered);
}

static void one_that_does_not_stop_is_killed(void **state)
{
	struct test *t = *state;
	struct asked first;
	struct asked second;

	use(t, "trap '' TERM; " READ SAY("\"rows\":1") "while :; do sleep 0.01; done");
	start(t, &first);
	while (first.rows == 0)
		loop_turn(t->fixture->loop, -1);
	queries_cancel(first.query);
	use(t, READ SAY_ANSWER);
	start(t, &second);
	await(t, &first);
	assert_int_equal(first.err.code, ERR_CANCELLED);
	await(t, &second);
	assert_true(second.answered);
}

static size_t count_inputs(const struct test *t)
{
	int fd = openat(t->fixture->data, "input", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += !str_eq(entry->d_name, ".") && !str_eq(entry->d_name, "..");
	(void)closedir(dir);
	return count;
}

static void what_a_killed_one_left_is_removed(void **state)
{
	struct test *t = *state;
	struct asked asked;

	use(t, READ "cd /proc/self/fd/3/input; touch .sql_result_00000000.csv.part "
		    "sql_result_00000000_1.bin sql_result_00000000_2.bin mine; kill -9 $$");
	ask(t, &asked);
	assert_false(asked.answered);
	assert_int_equal(count_inputs(t), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_program_answers_query_after_query),
		TEST(its_end_costs_one_error_and_the_next_query_runs),
		TEST(an_answer_that_is_none_is_an_error),
		TEST(answers_to_other_queries_are_passed_over),
		TEST(a_cancel_that_comes_with_the_answer_holds_nobody_up),
		TEST(one_that_does_not_stop_is_killed),
		TEST(what_a_killed_one_left_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
