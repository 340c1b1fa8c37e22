/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/removal.h"

#define HELPER TEST_BUILD "/ptycell-files"

struct outcome {
	bool told;
	size_t copied;
	size_t failed;
	char error[256];
	char renamed[256];
};

static void on_done(struct keeper *keeper, const struct keep_result *result)
{
	struct outcome *outcome = keeper_data(keeper);

	outcome->told = true;
	outcome->copied = result->copied;
	outcome->failed = result->failed;
	(void)snprintf(outcome->error, sizeof(outcome->error), "%s",
		       result->error == NULL ? "" : result->error);
	(void)snprintf(outcome->renamed, sizeof(outcome->renamed), "%s",
		       result->renamed == NULL ? "" : result->renamed);
}

static struct keeper *new_keeper(struct fixture *f, uint64_t quota, struct outcome *outcome)
{
	char root[128];

	(void)snprintf(root, sizeof(root), "%s/kept", f->scratch.path);
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = f->workspace,
								  .helper = HELPER,
								  .root = root,
								  .notebook = true,
								  .session_id = "sales/../1",
								  .data = outcome });

	keeper_set_quota(keeper, quota);
	return keeper;
}

static void copy(struct fixture *f, struct keeper *keeper, const char *path)
{
	struct outcome *outcome = keeper_data(keeper);

	outcome->told = false;
	keeper_copy(keeper, &path, 1, on_done);
	while (!outcome->told)
		loop_turn(f->loop, -1);
}

static void assert_kept(const struct keeper *keeper, const char *name, const char *expected)
{
	char path[512];
	char *text;

	assert_non_null(keeper_folder(keeper));
	(void)snprintf(path, sizeof(path), "%s/%s", keeper_folder(keeper), name);
	text = scratch_read(AT_FDCWD, path);
	if (text == NULL)
		fail_msg("no '%s'", path);
	assert_string_equal(text, expected);
	free(text);
}

/* CB-17, CB-18, CB-24 */
static void results_are_copied_with_their_folders_and_replaced(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	assert_int_equal(mkdirat(f->data, "output/sub", 0700), 0);
	scratch_write(f->data, "output/a.csv", "one");
	scratch_write(f->data, "output/sub/a.csv", "sub");
	assert_null(keeper_folder(keeper));
	copy(f, keeper, "output/a.csv");
	assert_int_equal(outcome.copied, 1);
	copy(f, keeper, "output/sub/a.csv");
	scratch_write(f->data, "output/a.csv", "two two");
	copy(f, keeper, "output/a.csv");
	assert_string_equal(outcome.error, "");
	assert_kept(keeper, "a.csv", "two two");
	assert_kept(keeper, "sub/a.csv", "sub");
	assert_null(strstr(keeper_folder(keeper), "/../"));
	keeper_free(keeper);
}

/* CB-22, CB-23 */
static void links_and_other_kinds_are_not_copied(void **state)
{
	static const char *const paths[] = { "output/host", "output/dangling", "output/fifo",
					     "output/none" };
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	assert_int_equal(symlinkat("/etc/passwd", f->data, "output/host"), 0);
	assert_int_equal(symlinkat("none", f->data, "output/dangling"), 0);
	assert_int_equal(mkfifoat(f->data, "output/fifo", 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		copy(f, keeper, paths[i]);
		assert_int_equal(outcome.copied, 0);
		assert_int_equal(outcome.failed, 1);
		assert_string_not_equal(outcome.error, "");
	}
	/* Without a result there is no folder either. */
	assert_null(keeper_folder(keeper));
	assert_false(scratch_exists(f->scratch.fd, "kept"));
	keeper_free(keeper);
}

static void the_quota_is_told_and_nothing_is_cut(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 10, &outcome);

	scratch_write(f->data, "output/a", "12345678");
	scratch_write(f->data, "output/b", "123");
	copy(f, keeper, "output/a");
	assert_int_equal(outcome.copied, 1);
	copy(f, keeper, "output/b");
	assert_int_equal(outcome.failed, 1);
	assert_non_null(strstr(outcome.error, "PTYCELL_KEEP_MAX"));
	/* Replacing gives room back. */
	scratch_write(f->data, "output/a", "1");
	copy(f, keeper, "output/a");
	copy(f, keeper, "output/b");
	assert_int_equal(outcome.copied, 1);
	assert_kept(keeper, "b", "123");
	keeper_free(keeper);
}

/* S1 */
static void names_that_run_something_are_altered_and_that_is_told_once(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	assert_int_equal(mkdirat(f->data, "output/.VSCode", 0700), 0);
	scratch_write(f->data, "output/.VSCode/tasks.json", "1");
	scratch_write(f->data, "output/HEAD", "2");
	scratch_write(f->data, "output/_HEAD", "3");
	scratch_write(f->data, "output/plain", "4");
	copy(f, keeper, "output/plain");
	assert_string_equal(outcome.renamed, "");
	copy(f, keeper, "output/.VSCode/tasks.json");
	assert_non_null(strstr(outcome.renamed, "'.VSCode/tasks.json' as '_.VSCode/tasks.json'"));
	copy(f, keeper, "output/HEAD");
	copy(f, keeper, "output/_HEAD");
	assert_string_equal(outcome.renamed, "");
	assert_kept(keeper, "_.VSCode/tasks.json", "1");
	assert_kept(keeper, "_HEAD", "3");
	assert_kept(keeper, "_HEAD-2", "2");
	/* The altered copy is known again. */
	scratch_write(f->data, "output/HEAD", "5 5");
	copy(f, keeper, "output/HEAD");
	assert_kept(keeper, "_HEAD-2", "5 5");
	keeper_free(keeper);
}

static void names_that_cannot_be_shown_are_altered_and_that_is_told_once(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	scratch_write(f->data, "output/می\xe2\x80\x8cخواهم", "1");
	scratch_write(f->data, "output/a\xe2\x80\x8c b", "2");
	scratch_write(f->data, "output/c\n", "3");
	scratch_write(f->data, "output/HEAD", "4");
	copy(f, keeper, "output/می\xe2\x80\x8cخواهم");
	assert_string_equal(outcome.renamed, "");
	copy(f, keeper, "output/a\xe2\x80\x8c b");
	assert_string_equal(outcome.renamed,
			    "\"a\\u200c b\" as 'a_ b', because the name has characters that "
			    "cannot be shown. Others like it are saved so, too.");
	copy(f, keeper, "output/c\n");
	assert_string_equal(outcome.renamed, "");
	copy(f, keeper, "output/HEAD");
	assert_non_null(strstr(outcome.renamed, "'HEAD' as '_HEAD', because other programs run"));
	assert_kept(keeper, "می\xe2\x80\x8cخواهم", "1");
	assert_kept(keeper, "a_ b", "2");
	assert_kept(keeper, "c_", "3");
	keeper_free(keeper);
}

static void a_file_of_the_person_stays(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);
	char path[512];

	scratch_write(f->data, "output/a.csv", "ours");
	copy(f, keeper, "output/a.csv");
	(void)snprintf(path, sizeof(path), "%s/a.csv", keeper_folder(keeper));
	scratch_write(AT_FDCWD, path, "edited by the person");
	scratch_write(f->data, "output/a.csv", "ours again");
	copy(f, keeper, "output/a.csv");
	assert_kept(keeper, "a.csv", "edited by the person");
	assert_kept(keeper, "a-2.csv", "ours again");
	keeper_free(keeper);
}

static void a_file_that_becomes_a_folder_is_kept_beside(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	scratch_write(f->data, "output/a.d", "file");
	copy(f, keeper, "output/a.d");
	assert_int_equal(unlinkat(f->data, "output/a.d", 0), 0);
	assert_int_equal(mkdirat(f->data, "output/a.d", 0700), 0);
	assert_int_equal(mkdirat(f->data, "output/a.d/sub", 0700), 0);
	scratch_write(f->data, "output/a.d/b", "1");
	scratch_write(f->data, "output/a.d/sub/c", "2");
	copy(f, keeper, "output/a.d/b");
	copy(f, keeper, "output/a.d/sub/c");
	scratch_write(f->data, "output/a.d/b", "1 again");
	copy(f, keeper, "output/a.d/b");
	assert_string_equal(outcome.error, "");
	assert_kept(keeper, "a.d", "file");
	assert_kept(keeper, "a-2.d/b", "1 again");
	assert_kept(keeper, "a-2.d/sub/c", "2");
	keeper_free(keeper);
}

static void a_folder_that_becomes_a_file_is_kept_beside(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	assert_int_equal(mkdirat(f->data, "output/a", 0700), 0);
	scratch_write(f->data, "output/a/b", "1");
	copy(f, keeper, "output/a/b");
	assert_int_equal(unlinkat(f->data, "output/a/b", 0), 0);
	assert_int_equal(unlinkat(f->data, "output/a", AT_REMOVEDIR), 0);
	scratch_write(f->data, "output/a", "file");
	copy(f, keeper, "output/a");
	scratch_write(f->data, "output/a", "file again");
	copy(f, keeper, "output/a");
	assert_string_equal(outcome.error, "");
	assert_kept(keeper, "a/b", "1");
	assert_kept(keeper, "a-2", "file again");
	keeper_free(keeper);
}

static void a_link_planted_among_the_kept_is_not_written_through(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);
	char path[512];
	char *text;

	scratch_write(f->scratch.fd, "victim", "untouched");
	assert_int_equal(mkdirat(f->scratch.fd, "outside", 0700), 0);
	scratch_write(f->data, "output/a", "1");
	copy(f, keeper, "output/a");
	(void)snprintf(path, sizeof(path), "%s/b", keeper_folder(keeper));
	assert_int_equal(symlink("../../victim", path), 0);
	(void)snprintf(path, sizeof(path), "%s/sub", keeper_folder(keeper));
	assert_int_equal(symlink("../../outside", path), 0);
	scratch_write(f->data, "output/b", "2");
	copy(f, keeper, "output/b");
	assert_kept(keeper, "b-2", "2");
	assert_int_equal(mkdirat(f->data, "output/sub", 0700), 0);
	scratch_write(f->data, "output/sub/c", "3");
	copy(f, keeper, "output/sub/c");
	assert_kept(keeper, "sub-2/c", "3");
	assert_false(scratch_exists(f->scratch.fd, "outside/c"));
	text = scratch_read(f->scratch.fd, "victim");
	assert_string_equal(text, "untouched");
	free(text);
	keeper_free(keeper);
}

static void copies_are_private_and_keep_their_time(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000, .tv_nsec = 7 } };
	struct stat st;
	char path[512];

	scratch_write(f->data, "output/a", "1");
	assert_int_equal(fchmodat(f->data, "output/a", 0777, 0), 0);
	assert_int_equal(utimensat(f->data, "output/a", times, 0), 0);
	copy(f, keeper, "output/a");
	(void)snprintf(path, sizeof(path), "%s/a", keeper_folder(keeper));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_int_equal(stat(keeper_folder(keeper), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	keeper_free(keeper);
}

static void keeping_off_and_strange_paths_copy_nothing(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = f->workspace,
								  .helper = HELPER,
								  .notebook = true,
								  .session_id = "x",
								  .data = &outcome });

	scratch_write(f->data, "output/a", "1");
	copy(f, keeper, "output/a");
	assert_int_equal(outcome.copied, 0);
	keeper_free(keeper);
	keeper = new_keeper(f, 1000, &outcome);
	copy(f, keeper, "input/a");
	assert_int_equal(outcome.copied, 0);
	copy(f, keeper, "output/../../x");
	assert_int_equal(outcome.failed, 1);
	keeper_free(keeper);
}

static void a_copy_outlives_its_keeper_and_the_removal_waits_for_it(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, UINT64_MAX, &outcome);
	static const char *const paths[] = { "output/0", "output/1", "output/2", "output/3" };
	char *shown;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		scratch_write(f->data, paths[i], "result");
	copy(f, keeper, paths[0]);
	shown = strdup(keeper_folder(keeper));
	keeper_copy(keeper, paths, ARRAY_SIZE(paths), on_done);
	keeper_free(keeper);
	removal_start(f->loop, f->home, HELPER, workspace_name(f->workspace), NULL, NULL);
	home_close(f->home);
	f->home = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char path[512];
		char *text;

		(void)snprintf(path, sizeof(path), "%s/%s", shown, strchr(paths[i], '/') + 1);
		text = scratch_read(AT_FDCWD, path);
		assert_non_null(text);
		assert_string_equal(text, "result");
		free(text);
	}
	free(shown);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The helper is killed by SIGXFSZ in the middle of the file. */
static void a_copy_that_is_cut_short_leaves_nothing_behind(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, UINT64_MAX, &outcome);
	cleanup_free char *text = xcalloc(1, 100001);
	char path[512];
	struct dirent **names;

	(void)memset(text, 'x', 100000);
	scratch_write(f->data, "output/a", "a");
	copy(f, keeper, "output/a");
	scratch_write(f->data, "output/b", text);
	limit_file_size(50000);
	copy(f, keeper, "output/b");
	limit_file_size(RLIM_INFINITY);
	assert_non_null(strstr(outcome.error, "signal"));
	(void)snprintf(path, sizeof(path), "%s", keeper_folder(keeper));
	assert_int_equal(scandir(path, &names, NULL, alphasort), 3); /* with . and .. */
	assert_string_equal(names[2]->d_name, "a");
	for (int i = 0; i < 3; i++)
		free(names[i]);
	free(names);
	keeper_free(keeper);
}

static uint64_t fake_ms;

static uint64_t fake_clock(void)
{
	return fake_ms;
}

static void write_helper(const struct fixture *f, const char *script)
{
	scratch_write(f->scratch.fd, "helper", script);
	assert_int_equal(fchmodat(f->scratch.fd, "helper", 0700, 0), 0);
}

/* Copies with a helper that hangs; what is told after so many seconds. */
static void assert_given_up(struct loop *loop, struct keeper *keeper, int seconds)
{
	static const char *const path = "output/a";
	struct outcome *outcome = keeper_data(keeper);

	outcome->told = false;
	keeper_copy(keeper, &path, 1, on_done);
	fake_ms += (uint64_t)(seconds - 1) * 1000;
	loop_turn(loop, 0);
	assert_false(outcome->told);
	fake_ms += 1000;
	loop_turn(loop, 0);
	assert_true(outcome->told);
	assert_non_null(strstr(outcome->error, "did not get on for"));
	assert_int_equal(keeper_count_due(keeper, &(const char *){ NULL }), 1);
}

static void a_copy_that_hangs_is_given_up_and_the_next_one_sooner(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct err err;
	struct loop *loop = loop_new(fake_clock, &err);
	cleanup_free char *helper = xasprintf("%s/helper", f->scratch.path);
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = loop,
								  .workspace = f->workspace,
								  .helper = helper,
								  .root = f->scratch.path,
								  .notebook = true,
								  .session_id = "s",
								  .data = &outcome });

	keeper_set_quota(keeper, 1000);
	scratch_write(f->data, "output/a", "a");
	write_helper(f, "#!/bin/sh\nexec sleep 1000\n");
	assert_given_up(loop, keeper, 120);
	assert_given_up(loop, keeper, 5);
	write_helper(f, "#!/bin/sh\nread -r order\nexit 1\n");
	keeper_free(keeper);
	home_close(f->home);
	f->home = NULL;
	loop_free(loop);
}

static void copy_notebook(struct fixture *f, struct keeper *keeper, uint64_t size,
			  const char *suffix)
{
	struct outcome *outcome = keeper_data(keeper);

	outcome->told = false;
	export_notebook(keeper, size, suffix, on_done);
	while (!outcome->told)
		loop_turn(f->loop, -1);
}

static void the_notebook_is_so_much_of_the_journals_and_its_end(void **state)
{
	struct fixture *f = *state;
	int journal = workspace_journal_fd(f->workspace);
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);

	scratch_write(journal, "notebook.ipynb", "head,one,TAIL");
	copy_notebook(f, keeper, 8, "]");
	assert_string_equal(outcome.error, "");
	assert_kept(keeper, "notebook.ipynb", "head,one]");
	scratch_write(journal, "notebook.ipynb", "head,one,two,TAIL");
	copy_notebook(f, keeper, 12, "]");
	assert_kept(keeper, "notebook.ipynb", "head,one,two]");
	copy_notebook(f, keeper, 100, "]");
	assert_non_null(strstr(outcome.error, "shorter"));
	assert_kept(keeper, "notebook.ipynb", "head,one,two]");
	keeper_free(keeper);
}

static void notebook_and_results_share_a_folder_and_do_not_wait_for_each_other(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);
	const char *path = "output/notebook.ipynb";

	scratch_write(workspace_journal_fd(f->workspace), "notebook.ipynb", "ours");
	scratch_write(f->data, path, "theirs");
	export_notebook(keeper, 4, "", on_done);
	keeper_copy(keeper, &path, 1, on_done);
	for (int told = 0; told < 2; told += outcome.told ? 1 : 0) {
		outcome.told = false;
		loop_turn(f->loop, -1);
	}
	assert_string_equal(outcome.error, "");
	assert_kept(keeper, "notebook.ipynb", "theirs");
	assert_kept(keeper, "ptycell.ipynb", "ours");
	keeper_free(keeper);
}

/* R8: no answer waits for the disk. */
static void results_are_written_to_the_disk_with_the_notebook_behind_them(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	cleanup_free char *helper = xasprintf("%s/helper", f->scratch.path);
	cleanup_free char *script =
		xasprintf("#!/bin/sh\nread -r order\nprintf '%%s\\n' \"$order\" >>'%s/orders'\n"
			  "printf '%%s\\n' \"$order\" | " HELPER " \"$@\"\n",
			  f->scratch.path);
	struct keeper *keeper = keeper_new(&(struct keeper_spec){ .loop = f->loop,
								  .workspace = f->workspace,
								  .helper = helper,
								  .root = f->scratch.path,
								  .notebook = true,
								  .session_id = "s",
								  .data = &outcome });
	cleanup_free char *orders = NULL;
	const char *second;

	write_helper(f, script);
	keeper_set_quota(keeper, 1000);
	scratch_write(f->data, "output/a", "a");
	scratch_write(workspace_journal_fd(f->workspace), "notebook.ipynb", "one");
	copy(f, keeper, "output/a");
	copy_notebook(f, keeper, 3, "]");
	copy_notebook(f, keeper, 3, "]");
	assert_string_equal(outcome.error, "");
	orders = scratch_read(f->scratch.fd, "orders");
	assert_non_null(strstr(orders, "\"durable\":false,\"sync\":[]"));
	second = strstr(orders, "\"durable\":true,\"sync\":[\"a\"]");
	assert_non_null(second);
	assert_non_null(strstr(second, "\"durable\":true,\"sync\":[]"));
	keeper_free(keeper);
}

static void the_last_notebook_follows_one_that_is_under_way_when_the_keeper_is_freed(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	struct keeper *keeper = new_keeper(f, 1000, &outcome);
	char path[512];
	char *text = NULL;

	scratch_write(workspace_journal_fd(f->workspace), "notebook.ipynb", "one,two,three");
	copy_notebook(f, keeper, 3, "]");
	(void)snprintf(path, sizeof(path), "%s/notebook.ipynb", keeper_folder(keeper));
	export_notebook(keeper, 7, "]", on_done);
	export_notebook(keeper, 9, "]", on_done);
	export_notebook(keeper, 13, "]", on_done);
	keeper_free(keeper);
	for (;;) {
		free(text);
		text = scratch_read(AT_FDCWD, path);
		if (strcmp(text, "one,two,three]") == 0)
			break;
		loop_turn(f->loop, 100);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(results_are_copied_with_their_folders_and_replaced),
		FIXTURE_TEST(links_and_other_kinds_are_not_copied),
		FIXTURE_TEST(the_quota_is_told_and_nothing_is_cut),
		FIXTURE_TEST(names_that_run_something_are_altered_and_that_is_told_once),
		FIXTURE_TEST(names_that_cannot_be_shown_are_altered_and_that_is_told_once),
		FIXTURE_TEST(a_file_of_the_person_stays),
		FIXTURE_TEST(a_file_that_becomes_a_folder_is_kept_beside),
		FIXTURE_TEST(a_folder_that_becomes_a_file_is_kept_beside),
		FIXTURE_TEST(a_link_planted_among_the_kept_is_not_written_through),
		FIXTURE_TEST(copies_are_private_and_keep_their_time),
		FIXTURE_TEST(keeping_off_and_strange_paths_copy_nothing),
		FIXTURE_TEST(a_copy_outlives_its_keeper_and_the_removal_waits_for_it),
		FIXTURE_TEST(a_copy_that_is_cut_short_leaves_nothing_behind),
		FIXTURE_TEST(a_copy_that_hangs_is_given_up_and_the_next_one_sooner),
		FIXTURE_TEST(the_notebook_is_so_much_of_the_journals_and_its_end),
		FIXTURE_TEST(notebook_and_results_share_a_folder_and_do_not_wait_for_each_other),
		FIXTURE_TEST(results_are_written_to_the_disk_with_the_notebook_behind_them),
		FIXTURE_TEST(
			the_last_notebook_follows_one_that_is_under_way_when_the_keeper_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
