/* SPDX-License-Identifier: MIT */
/* test_keep.c - exports of results and inputs: which an answer waits for, and which go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume_fixture.h"
#include "workspace/keeper.h"

/* More than an answer waits for to the end. */
#define LARGE_BYTES ((off_t)65 << 20)

static int gate_fd = -1;
static char helper[128];
static char gate[128]; /* while this FIFO is there, exports wait */

/* Writes a helper that waits at the gate. */
static void make_helper(void)
{
	cleanup_free char *text = NULL;

	(void)snprintf(helper, sizeof(helper), "%s/helper", fixture.scratch.path);
	(void)snprintf(gate, sizeof(gate), "%s/gate", fixture.scratch.path);
	text = xasprintf("#!/bin/sh\n[ -p %s ] && read -r go < %s\nexec %s \"$@\"\n", gate, gate,
			 fixture.host.files_helper);
	scratch_write(AT_FDCWD, helper, text);
	assert_int_equal(chmod(helper, 0700), 0);
	fixture.host.files_helper = helper;
}

static void open_gate(void)
{
	gate_fd = open(gate, O_RDWR | O_CLOEXEC);
	assert_int_equal(unlink(gate), 0);
	assert_int_equal(write(gate_fd, "\n", 1), 1);
}

static int set_up_keep(void **state)
{
	(void)set_up(state);
	make_helper();
	fixture.settings.keep = keep;
	fixture.settings.limits.keep_max = (uint64_t)1 << 30;
	return 0;
}

static int tear_down_keep(void **state)
{
	if (gate_fd >= 0)
		(void)close(gate_fd);
	gate_fd = -1;
	return tear_down(state);
}

/* Makes a result that is large, but takes no room on the disk. */
static void make_large(const struct session *session, const char *path)
{
	cleanup_fd int fd = openat(workspace_data_fd(session->workspace), path,
				   O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, LARGE_BYTES), 0);
}

static off_t kept_size(const struct session *session, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", session_keep_folder(session), name);
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

/* Has a cell leave a large result, whose export goes on behind the answer. */
static struct session *answer_before_the_export(void)
{
	struct session *session = open_one("a");

	run_cell(session, "done");
	free(session_take_notice(session));
	make_large(session, "output/large");
	assert_int_equal(mkfifo(gate, 0600), 0);
	start(session, "done");
	fixture_until(loop_timer_active(&session->behind.wait));
	assert_int_equal(answered, 1);
	fixture_pass(200);
	assert_int_equal(answered, 2);
	assert_true(session->behind.running);
	return session;
}

static void the_export_of_a_large_result_goes_on_behind_the_answer(void **state)
{
	struct session *session = answer_before_the_export();
	cleanup_free char *notice = NULL;
	cleanup_free char *expected = NULL;

	(void)state;
	open_gate();
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "large"), LARGE_BYTES);
	assert_int_equal(session->behind.bytes, 0);
	notice = session_take_notice(session);
	expected = xasprintf("The results that were still being saved are saved in '%s' now.",
			     session_keep_folder(session));
	assert_string_equal(notice, expected);
}

static void a_cell_without_results_does_not_wait_for_that_export(void **state)
{
	struct session *session = answer_before_the_export();

	(void)state;
	run_cell(session, "done");
	assert_int_equal(answered, 3);
	assert_true(session->behind.running);
	open_gate();
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "large"), LARGE_BYTES);
}

static void what_was_not_exported_when_the_session_ended_is_exported_then(void **state)
{
	struct session *session = answer_before_the_export();
	cleanup_free char *path = xasprintf("%s/small", keeper_planned(session->keeper));
	struct stat st;

	(void)state;
	scratch_write(workspace_data_fd(session->workspace), "output/small", "1");
	open_gate();
	restart();
	fixture_until(stat(path, &st) == 0 && st.st_size == 1);
	rest(fixture.loop);
}

static void inputs_are_exported_with_the_first_cell(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.notebook = NOTEBOOK_ON;
	scratch_write(workspace_data_fd(session->workspace), "input/a.csv", "1,2\n");
	session_file_placed(session, "input/a.csv");
	session_keep_input(session, "input/a.csv");
	assert_int_equal(session->input_count, 1);
	assert_null(session_keep_folder(session));
	run_cell(session, "done");
	session_keep_first_inputs(session);
	assert_int_equal(session->input_count, 0);
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "input/a.csv"), 4);
	/* Later ones are exported at once. */
	scratch_write(workspace_data_fd(session->workspace), "input/b.csv", "1,2,3\n");
	session_keep_input(session, "input/b.csv");
	assert_int_equal(session->input_count, 0);
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "input/b.csv"), 6);
}

#define KEEP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_keep, tear_down_keep)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEEP_TEST(the_export_of_a_large_result_goes_on_behind_the_answer),
		KEEP_TEST(a_cell_without_results_does_not_wait_for_that_export),
		KEEP_TEST(what_was_not_exported_when_the_session_ended_is_exported_then),
		KEEP_TEST(inputs_are_exported_with_the_first_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
