/* SPDX-License-Identifier: MIT */
/* Whole outputs of cells: their export beside the results, in later lives and by the rescue. */
#include "rescue_fixture.h"

#include "workspace/keeper.h"
#include "workspace/keeplog.h"
#include "workspace/rescue_record.h"

static bool copied;
static size_t copies;
static char problem[256];

static void on_copied(struct keeper *keeper, const struct keep_result *result)
{
	(void)keeper;
	copied = true;
	copies = result->copied;
	(void)snprintf(problem, sizeof(problem), "%s", result->error != NULL ? result->error : "");
}

static struct keeper *new_keeper(struct fixture *f, uint64_t quota, bool resumed)
{
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = f->workspace,
								  .helper = HELPER,
								  .root = root,
								  .notebook = true,
								  .session_id = "sales",
								  .resumed = resumed });

	keeper_set_quota(keeper, quota);
	return keeper;
}

/* Copies a result, which may be NULL, and what is due. */
static void copy(struct fixture *f, struct keeper *keeper, const char *path)
{
	copied = false;
	keeper_copy(keeper, &path, path != NULL, on_copied);
	while (!copied)
		loop_turn(f->loop, -1);
}

static void assert_exported(const struct keeper *keeper, const char *name, const char *expected)
{
	cleanup_free char *path = xasprintf("%s/%s", strrchr(keeper_folder(keeper), '/') + 1, name);

	assert_kept(path, expected);
}

static void a_whole_output_is_exported_beside_the_results(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, 20, false);
	cleanup_free char *to = NULL;

	scratch_write(workspace_spool_fd(f->workspace), "cell-1-bash.txt", "1234567890");
	scratch_write(f->data, "output/a", "a");
	to = keeper_mark_output(keeper, "cell-1-bash.txt", "cell-1.txt", 10);
	assert_string_equal(to, "outputs/cell-1.txt");
	copy(f, keeper, "output/a");
	assert_int_equal(copies, 2);
	assert_exported(keeper, "outputs/cell-1.txt", "1234567890");
	assert_true(keeper_is_settled(keeper));
	/* 9 of 20 bytes are left, of which an output may take half. */
	assert_null(keeper_mark_output(keeper, "cell-2-bash.txt", "cell-2.txt", 5));
	mem_cleanup(&to);
	to = keeper_mark_output(keeper, "cell-2-bash.txt", "cell-2.txt", 4);
	assert_string_equal(to, "outputs/cell-2.txt");
	keeper_free(keeper);
}

static void a_whole_output_is_read_from_the_spool_alone(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, UINT64_MAX, false);
	cleanup_free char *to = NULL;

	assert_int_equal(symlinkat("/etc/passwd", workspace_spool_fd(f->workspace), "link.txt"), 0);
	scratch_write(f->data, "output/a", "a");
	to = keeper_mark_output(keeper, "link.txt", "cell-1.txt", 10);
	copy(f, keeper, "output/a");
	assert_int_equal(copies, 1);
	assert_non_null(strstr(problem, "'cell-1.txt' was not saved"));
	assert_true(keeper_is_settled(keeper));
	keeper_free(keeper);
}

static void an_output_that_cannot_be_saved_now_is_told_once_and_due(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, UINT64_MAX, false);
	cleanup_free char *to = NULL;

	scratch_write(f->data, "output/a", "a");
	copy(f, keeper, "output/a");
	to = keeper_mark_output(keeper, "cell-1-bash.txt", "cell-1.txt", 3);
	copy(f, keeper, NULL);
	assert_non_null(strstr(problem, "'cell-1.txt' was not saved"));
	copy(f, keeper, NULL);
	assert_string_equal(problem, "");
	keeper_free(keeper);
}

static void a_whole_output_of_the_life_before_is_known(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, 1 << 20, false);
	cleanup_free char *first = NULL;
	cleanup_free char *again = NULL;
	cleanup_free char *lost = NULL;

	scratch_write(workspace_spool_fd(f->workspace), "cell-1-bash.txt", "one");
	first = keeper_mark_output(keeper, "cell-1-bash.txt", "cell-1.txt", 3);
	copy(f, keeper, NULL);
	keeper_free(keeper);
	keeper = new_keeper(f, 1 << 20, true);
	again = keeper_mark_output(keeper, "cell-1-bash.txt", "cell-1.txt", 3);
	assert_string_equal(again, first);
	assert_true(keeper_is_settled(keeper));
	keeper_free(keeper);
	/* Without a record of the copy it is found by its content. */
	assert_int_equal(unlinkat(workspace_journal_fd(f->workspace), KEEPLOG_FILE, 0), 0);
	keeper = new_keeper(f, 1 << 20, true);
	lost = keeper_mark_output(keeper, "cell-1-bash.txt", "cell-1.txt", 3);
	copy(f, keeper, NULL);
	assert_exported(keeper, "outputs/cell-1.txt", "one");
	assert_exported(keeper, "outputs/cell-1-2.txt", NULL);
	keeper_free(keeper);
}

/* A journal whose first cell has a whole output; the second one ran when its server was killed. */
static void write_long_events(int journal)
{
	cleanup_buf struct buf events = BUF_INIT(BUF_UNBOUNDED);

	buf_puts(&events, "ptycell events 1\n");
	put_event(&events, "{\"event\":\"session\",\"session_id\":\"trip\"}", "");
	put_event(&events, "{\"event\":\"asked\",\"cell\":1,\"language\":\"bash\"}", "one");
	put_event(&events, "{\"event\":\"began\",\"cell\":1}", "");
	put_event(&events,
		  "{\"event\":\"ended\",\"cell\":1,\"state\":\"done\",\"ran\":true,\"text\":\"\","
		  "\"whole_output\":\"outputs/cell-1.txt\"}",
		  "");
	put_event(&events, "{\"event\":\"asked\",\"cell\":2,\"language\":\"bash\"}", "two");
	put_event(&events, "{\"event\":\"began\",\"cell\":2}", "");
	scratch_write(journal, "events", buf_str(&events));
}

static off_t size_of(const char *path)
{
	cleanup_free char *whole = xasprintf("%s/%s", root, path);
	struct stat st;

	return stat(whole, &st) < 0 ? -1 : st.st_size;
}

static void whole_outputs_are_saved_beside_the_notebook(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *left = xcalloc(1, (1 << 20) + 2);
	cleanup_free char *name = NULL;
	cleanup_free char *text = NULL;
	cleanup_free char *book = NULL;
	size_t len = 0;

	write_long_events(server.journal);
	(void)memset(left, 'x', (1 << 20) + 1);
	scratch_write(workspace_spool_fd(server.session), "cell-1-bash.txt", "all of one");
	scratch_write(workspace_spool_fd(server.session), "cell-2-bash.txt", left);
	scratch_write(server.data, "output/outputs", "of the user");
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	for (int again = 0; again < 2; again++) {
		struct rescue_spec spec = spec_for(f, name);

		spec.quota_bytes = 8 << 20;
		run(f, &spec);
		assert_kept("trip/outputs", "of the user");
		assert_kept("trip/outputs-2/cell-1.txt", "all of one");
		assert_int_equal(size_of("trip/outputs-2/cell-2.txt"), (1 << 20) + 1);
		assert_kept("trip/outputs-2/cell-1-2.txt", NULL);
	}
	book = xasprintf("%s/trip/" NOTEBOOK, root);
	text = fd_read_file(AT_FDCWD, book, 2 << 20, &len, &err);
	assert_non_null(text);
	assert_non_null(strstr(text, "1048577 bytes of output"));
	assert_non_null(strstr(text, "outputs-2/cell-2.txt"));
}

static void a_killed_cell_with_a_short_output_has_it_in_the_notebook_alone(void **state)
{
	struct fixture *f = *state;
	struct server server = start_server(f);
	cleanup_free char *name = NULL;
	cleanup_free char *text = NULL;

	write_events(server.journal);
	scratch_write(workspace_spool_fd(server.session), "cell-2-python.txt", "left by two");
	rescue_record_write(server.journal, root, "trip", NOTEBOOK, NULL);
	name = take_killed(f, &server);
	rescue(f, name);
	text = read_kept("trip/" NOTEBOOK);
	assert_non_null(text);
	assert_non_null(strstr(text, "left by two"));
	assert_kept("trip/outputs/cell-2.txt", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESCUE_TEST(a_whole_output_is_exported_beside_the_results),
		RESCUE_TEST(a_whole_output_is_read_from_the_spool_alone),
		RESCUE_TEST(an_output_that_cannot_be_saved_now_is_told_once_and_due),
		RESCUE_TEST(a_whole_output_of_the_life_before_is_known),
		RESCUE_TEST(whole_outputs_are_saved_beside_the_notebook),
		RESCUE_TEST(a_killed_cell_with_a_short_output_has_it_in_the_notebook_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
