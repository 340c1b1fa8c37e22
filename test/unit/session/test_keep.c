/* SPDX-License-Identifier: MIT */
/* test_keep.c - exports of results and inputs: which an answer waits for, and which go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "resume_fixture.h"
#include "workspace/keeper.h"
#include "workspace/original.h"

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

/* Makes the original of an upload. */
static void upload(const struct session *session, const char *path, const char *text)
{
	struct err err;
	struct original *original = original_new(session->workspace, &err);

	assert_non_null(original);
	assert_int_equal(fd_write_all(original_fd(original), text, strlen(text), &err), 0);
	assert_int_equal(original_place(original, path, &err), 0);
	original_free(original);
}

static void inputs_are_exported_with_the_first_cell(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.notebook = NOTEBOOK_ON;
	upload(session, "input/a.csv", "1,2\n");
	session_keep_inputs(session);
	assert_false(session->behind.running);
	assert_null(session_keep_folder(session));
	run_cell(session, "done");
	session_keep_first_inputs(session);
	session_keep_first_inputs(session);
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "input/a.csv"), 4);
	/* Later ones are exported at once. */
	upload(session, "input/b.csv", "1,2,3\n");
	session_keep_inputs(session);
	assert_true(session->behind.running);
	fixture_until(!session->behind.running);
	assert_int_equal(kept_size(session, "input/b.csv"), 6);
	/* Those that are exported are not due again. */
	session_keep_inputs(session);
	assert_false(session->behind.running);
}

static void originals_of_a_session_have_half_of_what_is_kept(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.notebook = NOTEBOOK_ON;
	assert_int_equal(session_original_room(session), session->limits.keep_max / 2);
	session->limits.keep_max = 10;
	upload(session, "input/a.csv", "123");
	assert_int_equal(session_original_room(session), 2);
	upload(session, "input/b.csv", "123");
	assert_int_equal(session_original_room(session), 0);
}

static void nobody_needs_originals_where_no_cell_runs_again(void **state)
{
	struct session *session = open_one("a");

	(void)state;
	fixture.settings.notebook = NOTEBOOK_OFF;
	fixture.settings.resume = 0;
	assert_int_equal(session_original_room(session), 0);
	fixture.settings.resume = 1;
	assert_int_not_equal(session_original_room(session), 0);
}

static void an_upload_without_an_original_is_told(void **state)
{
	struct session *session = open_one("a");
	cleanup_free char *notice = NULL;

	(void)state;
	session_miss_original(session, "input/a.csv", "the disk is full");
	notice = session_take_notice(session);
	assert_non_null(strstr(notice, "input/a.csv"));
	assert_non_null(strstr(notice, "(the disk is full)"));
}

/* Has a cell leave a notebook that is to be exported. */
static struct session *owe_a_notebook(void)
{
	struct session *session;

	fixture.settings.notebook = NOTEBOOK_ON;
	session = open_one("a");
	run_cell(session, "done");
	session_keep_notebook(session);
	return session;
}

/* Lets time pass in which calls follow one another closely. */
static void call_for_ms(struct session *session, uint64_t ms)
{
	const uint64_t pause_ms = 40;

	for (uint64_t passed = 0; passed < ms; passed += pause_ms) {
		fixture_pass(pause_ms);
		session_touch(session);
	}
}

static void the_notebook_is_put_off_while_calls_follow_one_another(void **state)
{
	struct session *session = owe_a_notebook();

	(void)state;
	call_for_ms(session, 4000);
	assert_true(session->notebook_stale);
	assert_false(session->notebook_copying);
	fixture_pass(50);
	fixture_until(!session->notebook_stale && !session->notebook_copying);
	assert_true(kept_size(session, "notebook.ipynb") > 0);
}

static void the_notebook_is_not_put_off_for_ever(void **state)
{
	struct session *session = owe_a_notebook();

	(void)state;
	call_for_ms(session, 6000);
	assert_false(session->notebook_stale);
	fixture_until(!session->notebook_copying);
	assert_true(kept_size(session, "notebook.ipynb") > 0);
}

#define KEEP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_keep, tear_down_keep)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEEP_TEST(the_export_of_a_large_result_goes_on_behind_the_answer),
		KEEP_TEST(a_cell_without_results_does_not_wait_for_that_export),
		KEEP_TEST(what_was_not_exported_when_the_session_ended_is_exported_then),
		KEEP_TEST(inputs_are_exported_with_the_first_cell),
		KEEP_TEST(originals_of_a_session_have_half_of_what_is_kept),
		KEEP_TEST(nobody_needs_originals_where_no_cell_runs_again),
		KEEP_TEST(an_upload_without_an_original_is_told),
		KEEP_TEST(the_notebook_is_put_off_while_calls_follow_one_another),
		KEEP_TEST(the_notebook_is_not_put_off_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
