/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "scratch.h"

struct fixture {
	struct scratch scratch;
	struct loop *loop;
	char script[128];
	struct helper *helper;
	json_t *request;
	int progress;
	uint64_t quiet_ms;
	bool done;
	json_t *result;
	struct err err;
};

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct fixture *f = helper_data(helper);

	(void)progress;
	f->progress++;
}

static void on_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct fixture *f = helper_data(helper);

	assert_true((result == NULL) != (err == NULL));
	assert_false(f->done);
	f->done = true;
	if (result != NULL)
		f->result = json_deep_copy(result);
	else if (err != NULL)
		f->err = *err;
	helper_free(helper);
	f->helper = NULL;
}

static const struct helper_handlers handlers = { .progress = on_progress, .done = on_done };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	(void)sigaction(SIGPIPE, &ignore, NULL);
	scratch_init(&f->scratch);
	(void)snprintf(f->script, sizeof(f->script), "%s/helper", f->scratch.path);
	f->loop = loop_new(clock_ms, &err);
	f->request = json_object();
	json_put_str(f->request, "op", "test");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	helper_free(f->helper);
	json_decref(f->result);
	json_decref(f->request);
	loop_free(f->loop);
	scratch_release(&f->scratch);
	free(f);
	return 0;
}

/* A shell script stands for the helper program. */
static void start_with(struct fixture *f, const char *script, const int *fds, size_t fd_count)
{
	struct helper_spec spec = { .path = f->script,
				    .request = f->request,
				    .fds = fds,
				    .fd_count = fd_count,
				    .quiet_ms = f->quiet_ms };
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", script);
	struct err err = { 0 };

	scratch_write(f->scratch.fd, "helper", text);
	assert_int_equal(chmod(f->script, 0700), 0);
	f->helper = helper_start(f->loop, &spec, &handlers, f, &err);
	if (f->helper == NULL)
		fail_msg("helper_start: %s", err.msg);
}

static void run(struct fixture *f, const char *script)
{
	start_with(f, script, NULL, 0);
	while (!f->done)
		loop_turn(f->loop, -1);
}

static const char *result_text(const struct fixture *f, const char *key)
{
	return json_string_value(json_object_get(f->result, key));
}

static uint64_t fake_ms;

static uint64_t fake_clock(void)
{
	return fake_ms;
}

static void the_end_leaves_no_helper_that_hangs_behind(void **state)
{
	struct fixture *f = *state;
	char pid[16] = "";
	char hung[16] = "";
	int ends[2];
	int status = 0;
	struct err err;

	loop_free(f->loop);
	f->loop = loop_new(fake_clock, &err);
	f->quiet_ms = 120000;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	start_with(f, "echo $$ >&3; exec sleep 1000", &ends[1], 1);
	assert_true(read(ends[0], pid, sizeof(pid) - 1) > 0);
	fake_ms += 29000;
	loop_turn(f->loop, 0);
	(void)helper_leave(f->helper, 0);
	start_with(f, "echo $$ >&3; exec sleep 1000", &ends[1], 1);
	assert_true(read(ends[0], hung, sizeof(hung) - 1) > 0);
	fake_ms += 30000;
	loop_turn(f->loop, 0);
	(void)helper_leave(f->helper, 0);
	f->helper = NULL;
	/* It is taken by its helper, when it ends at once. */
	if (waitpid((pid_t)strtol(hung, NULL, 10), &status, 0) > 0)
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* the first goes on */
	assert_int_equal(kill((pid_t)strtol(pid, NULL, 10), SIGKILL), 0);
	assert_true(waitpid(-1, NULL, 0) > 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* Words that come restart the time. */
static void a_helper_that_says_nothing_for_too_long_is_given_up(void **state)
{
	struct fixture *f = *state;
	struct err err;

	loop_free(f->loop);
	f->loop = loop_new(fake_clock, &err);
	f->quiet_ms = 60000;
	start_with(f, "echo '{\"progress\":{}}'; exec sleep 1000", NULL, 0);
	fake_ms += 50000;
	while (f->progress == 0)
		loop_turn(f->loop, 100);
	fake_ms += 50000;
	loop_turn(f->loop, 0);
	assert_false(f->done);
	fake_ms += 10000;
	loop_turn(f->loop, 0);
	assert_true(f->done);
	assert_int_equal(f->err.code, ERR_TIMEOUT);
	assert_string_equal(f->err.msg, "'helper' did not get on for 60 s");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* it is gone */
}

static void the_order_is_one_line_on_stdin(void **state)
{
	struct fixture *f = *state;

	run(f, "read -r line; echo \"{\\\"result\\\":{\\\"request\\\":$line}}\"");
	assert_non_null(f->result);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(f->result, "request"), "op")),
		"test");
}

static void progress_comes_before_the_result(void **state)
{
	struct fixture *f = *state;

	run(f, "echo '{\"progress\":{}}'; echo '{\"progress\":{}}'; echo '{\"result\":{}}'");
	assert_int_equal(f->progress, 2);
	assert_non_null(f->result);
}

static void an_error_is_handed_on(void **state)
{
	struct fixture *f = *state;

	run(f, "echo '{\"error\":{\"code\":\"denied\",\"message\":\"no\"}}'; exit 1");
	assert_int_equal(f->err.code, ERR_DENIED);
	assert_string_equal(f->err.msg, "no");
}

static void an_end_without_answer_is_internal(void **state)
{
	struct fixture *f = *state;

	run(f, "exit 3");
	assert_int_equal(f->err.code, ERR_INTERNAL);
	assert_string_equal(f->err.msg, "'helper' ended with code 3 and no answer");
}

static void a_signal_is_named(void **state)
{
	struct fixture *f = *state;

	run(f, "kill -SEGV $$");
	assert_int_equal(f->err.code, ERR_INTERNAL);
	assert_string_equal(f->err.msg, "'helper' was ended by signal 11");
}

static void a_malformed_answer_kills_the_helper(void **state)
{
	struct fixture *f = *state;

	run(f, "echo nonsense; exec sleep 1000");
	assert_int_equal(f->err.code, ERR_INTERNAL);
	assert_non_null(strstr(f->err.msg, "malformed"));
}

static void an_endless_answer_kills_the_helper(void **state)
{
	struct fixture *f = *state;

	run(f, "exec cat /dev/zero");
	assert_int_equal(f->err.code, ERR_LIMIT);
}

static void a_large_answer_is_read_whole_after_the_end(void **state)
{
	struct fixture *f = *state;

	run(f, "i=0; while [ $i -lt 2000 ]; do echo '{\"progress\":{\"text\":\"0123456789\"}}'; "
	       "i=$((i+1)); done; echo '{\"result\":{}}'");
	assert_int_equal(f->progress, 2000);
	assert_non_null(f->result);
}

static void a_large_order_does_not_block(void **state)
{
	struct fixture *f = *state;
	json_t *list = json_array();

	for (int i = 0; i < 50000; i++)
		json_append(list, json_make_str("0123456789012345678901234567890123456789"));
	json_put(f->request, "list", list);
	run(f, "read -r line; echo \"{\\\"result\\\":{\\\"text\\\":\\\"${#line}\\\"}}\"");
	assert_true(strtol(result_text(f, "text"), NULL, 10) > 2000000);
}

static void an_order_that_nobody_reads_does_no_harm(void **state)
{
	struct fixture *f = *state;
	json_t *list = json_array();

	for (int i = 0; i < 50000; i++)
		json_append(list, json_make_str("0123456789012345678901234567890123456789"));
	json_put(f->request, "list", list);
	run(f, "exec <&-; echo '{\"result\":{}}'");
	assert_non_null(f->result);
}

static void nothing_is_inherited_but_what_is_listed(void **state)
{
	struct fixture *f = *state;
	int leaked = open("/dev/null", O_RDONLY); /* as a careless host leaves it */
	int given = open(f->scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fds[] = { given, given };
	char *listed;

	assert_int_equal(setenv("PTYCELL_TEST_SECRET", "x", 1), 0);
	start_with(f,
		   "ls /proc/$$/fd >$0.fds; "
		   "echo \"{\\\"result\\\":{\\\"secret\\\":\\\"$PTYCELL_TEST_SECRET\\\","
		   "\\\"three\\\":\\\"$(readlink /proc/$$/fd/3)\\\"}}\"",
		   fds, 2);
	while (!f->done)
		loop_turn(f->loop, -1);
	/* 10 is the shell's own, on its script. */
	listed = scratch_read(f->scratch.fd, "helper.fds");
	/* From 10 on they are the shell's own. */
	assert_true(leaked < 10);
	assert_non_null(strstr(listed, "\n4\n"));
	for (const char *line = listed; line != NULL && *line != '\0';) {
		assert_false(line[1] == '\n' && line[0] > '4');
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	free(listed);
	assert_string_equal(result_text(f, "secret"), "");
	assert_string_equal(result_text(f, "three"), f->scratch.path);
	(void)close(leaked);
	(void)close(given);
}

static void cancelling_asks_and_freeing_kills(void **state)
{
	struct fixture *f = *state;

	start_with(f,
		   "trap 'echo \"{\\\"result\\\":{}}\"; exit 0' TERM; echo '{\"progress\":{}}'; "
		   "while :; do read -r line || sleep 0.01; done",
		   NULL, 0);
	while (f->progress == 0)
		loop_turn(f->loop, -1);
	helper_cancel(f->helper);
	while (!f->done)
		loop_turn(f->loop, -1);
	assert_non_null(f->result);
	f->done = false;
	start_with(f, "trap '' TERM; exec sleep 1000", NULL, 0);
	helper_free(f->helper);
	f->helper = NULL;
	assert_false(f->done);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_left_helper_goes_on(void **state)
{
	struct fixture *f = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/go", f->scratch.path);
	assert_int_equal(mkfifo(path, 0600), 0);
	start_with(f, "cd \"${0%/*}\"; read -r word <go; echo \"$word\" >went", NULL, 0);
	(void)helper_leave(f->helper, 0);
	f->helper = NULL;
	scratch_write(f->scratch.fd, "go", "on\n");
	assert_true(waitpid(-1, NULL, 0) > 0);
	assert_true(scratch_exists(f->scratch.fd, "went"));
}

static void a_program_that_is_missing_fails_at_once(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *path = xasprintf("%s/missing", f->scratch.path);
	struct helper_spec spec = { .path = path, .request = f->request };
	struct err err = { 0 };

	assert_null(helper_start(f->loop, &spec, &handlers, f, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(err.sys, ENOENT);
}

static void programs_beside_this_one_are_located(void **state)
{
	struct err err = { 0 };
	char *path = helper_locate("unit_helper_test_helper", &err);

	(void)state;
	assert_non_null(path);
	assert_int_equal(access(path, X_OK), 0);
	free(path);
	assert_null(helper_locate("ptycell-none", &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.msg, "libexec/ptycell"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(the_order_is_one_line_on_stdin),
		TEST(progress_comes_before_the_result),
		TEST(an_error_is_handed_on),
		TEST(an_end_without_answer_is_internal),
		TEST(a_signal_is_named),
		TEST(a_malformed_answer_kills_the_helper),
		TEST(an_endless_answer_kills_the_helper),
		TEST(a_large_answer_is_read_whole_after_the_end),
		TEST(a_large_order_does_not_block),
		TEST(an_order_that_nobody_reads_does_no_harm),
		TEST(nothing_is_inherited_but_what_is_listed),
		TEST(the_end_leaves_no_helper_that_hangs_behind),
		TEST(a_helper_that_says_nothing_for_too_long_is_given_up),
		TEST(cancelling_asks_and_freeing_kills),
		TEST(a_left_helper_goes_on),
		TEST(a_program_that_is_missing_fails_at_once),
		TEST(programs_beside_this_one_are_located),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
