/* SPDX-License-Identifier: MIT */
/* The last inspection of a session, and what it leaves for the next answer of another one. */
#include "inspector_fixture.h"

#include <sched.h>

#include "workspace/home.h"
#include "workspace/unreported.h"

static void the_last_inspection_holds_names_and_reports_nothing(void **state)
{
	struct watch w;

	make_shares(&w, *state, SHARES_MAX);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[SHARES_MAX - 1]);
	make_hook(w.fds[SHARES_MAX - 1], "post-commit");
	(void)inspector_request(w.inspector);
	look_for_the_last_time(&w);
	assert_held(w.fds[SHARES_MAX - 1]);
	assert_int_equal(w.ended, 1);
	assert_int_equal(w.notice_count, 0);
	release(&w);
}

static void assert_unreported(struct watch *w, const char *text)
{
	cleanup_free char *told = unreported_take(w->f->home);

	if (told == NULL || strstr(told, text) == NULL)
		fail_msg("no '%s' in '%s'", text, told == NULL ? "" : told);
	assert_null(strstr(told, "\n"));
	assert_null(unreported_take(w->f->home));
}

static void what_the_last_inspection_finds_is_left_for_another_answer(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	assert_null(unreported_take(w.f->home));
	look_for_the_last_time(&w);
	assert_true(w.unreported);
	assert_int_equal(w.notice_count, 0);
	assert_unreported(
		&w, "Of the session 'sales', which has ended: Renamed in the shared folder: ");
	release(&w);
}

static void what_an_answer_had_is_not_left_for_another_one(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	look(&w);
	assert_int_equal(w.notice_count, 1);
	inspector_note_answer(w.inspector);
	look_for_the_last_time(&w);
	assert_false(w.unreported);
	assert_null(unreported_take(w.f->home));
	release(&w);
}

static void what_no_answer_had_is_left_by_a_session_that_ends(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	look(&w);
	look_for_the_last_time(&w);
	assert_true(w.unreported);
	assert_unreported(&w, "/hooks/post-commit' to ");
	release(&w);
}

static void a_last_inspection_that_fails_is_left_as_incomplete(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_script(&w, SCRIPT "exit 1\n");
	start_and_learn(&w, helper);
	inspector_note_run(w.inspector);
	look_for_the_last_time(&w);
	assert_true(w.unreported);
	assert_unreported(
		&w, "ended before ptycell had looked a last time through the shared folder '");
	/* One that does not even start, too. */
	start(&w, "/nonexistent/ptycell-files");
	inspector_note_run(w.inspector);
	look_for_the_last_time(&w);
	assert_unreported(&w, "ended before ptycell had looked");
	release(&w);
}

static void a_last_inspection_with_a_limit_is_left_as_such(void **state)
{
	cleanup_free char *helper = NULL;
	struct watch w;

	make_shares(&w, *state, 1);
	helper = write_limited(&w, "\"entries\":100000000,", "entries");
	start_and_learn(&w, helper);
	inspector_note_run(w.inspector);
	look_for_the_last_time(&w);
	assert_unreported(&w, "too many entries to look at all of them");
	release(&w);
}

static void a_session_whose_code_never_ran_leaves_nothing(void **state)
{
	struct watch w;

	make_shares(&w, *state, 1);
	start_and_learn(&w, HELPER);
	inspector_free(mem_steal(&w.inspector));
	assert_null(unreported_take(w.f->home));
	release(&w);
}

static void a_session_that_ends_without_a_last_inspection_says_so(void **state)
{
	struct watch w;

	make_shares(&w, *state, SHARES_MAX);
	start_and_learn(&w, HELPER);
	inspector_note_run(w.inspector);
	inspector_note_run(w.inspector);
	inspector_quiet(w.inspector);
	inspector_free(w.inspector);
	w.inspector = NULL;
	assert_unreported(&w, "' and 5 more. A git repository");
	release(&w);
}

/* The end of the server waits for it, and lets a slow one run on. */
static void the_last_inspection_outlives_the_home(void **state)
{
	struct fixture *f = *state;
	struct watch w;
	struct inspector *inspector;

	make_shares(&w, f, 1);
	start_and_learn(&w, HELPER);
	make_repository(w.fds[0]);
	make_hook(w.fds[0], "post-commit");
	inspector = w.inspector;
	w.inspector = NULL;
	inspector_quiet(inspector);
	inspector_finish(inspector, on_last_done, &w);
	workspace_free(f->workspace);
	f->workspace = NULL;
	home_close(f->home);
	f->home = NULL;
	assert_false(w.last_is_done);
	while (has_hook(w.fds[0], "post-commit"))
		(void)sched_yield();
	assert_held(w.fds[0]);
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_last_inspection_holds_names_and_reports_nothing),
		FIXTURE_TEST(what_the_last_inspection_finds_is_left_for_another_answer),
		FIXTURE_TEST(what_an_answer_had_is_not_left_for_another_one),
		FIXTURE_TEST(what_no_answer_had_is_left_by_a_session_that_ends),
		FIXTURE_TEST(a_last_inspection_that_fails_is_left_as_incomplete),
		FIXTURE_TEST(a_last_inspection_with_a_limit_is_left_as_such),
		FIXTURE_TEST(a_session_whose_code_never_ran_leaves_nothing),
		FIXTURE_TEST(a_session_that_ends_without_a_last_inspection_says_so),
		FIXTURE_TEST(the_last_inspection_outlives_the_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
