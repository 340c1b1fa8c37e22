/* SPDX-License-Identifier: MIT */
/*
 * Exports of a session that is resumed: another keeper goes on in the folder of the first one. Or
 * the helper was killed, and another one goes on.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/crc.h"
#include "base/mem.h"
#include "fixture.h"
#include "workspace/keeper.h"
#include "workspace/keeplog.h"
#include "workspace/original.h"

#define HELPER TEST_BUILD "/ptycell-files"
#define DATABASE "12345678DUCK    "

static bool told;
static const char *helper = HELPER;
static struct keep_result last;
static struct keeper_notebook notebook;

static void on_done(struct keeper *keeper, const struct keep_result *result)
{
	(void)keeper;
	told = true;
	last = *result;
	last.error = NULL;
	last.renamed = NULL;
}

static struct keeper *new_keeper(struct fixture *f, bool resumed)
{
	cleanup_free char *root = xasprintf("%s/kept", f->scratch.path);
	struct keeper *keeper =
		keeper_new(&(struct keeper_spec){ .loop = f->loop,
						  .workspace = f->workspace,
						  .helper = helper,
						  .root = root,
						  .notebook = true,
						  .session_id = "sales",
						  .resumed = resumed,
						  .notebooks = &notebook,
						  .notebook_count = notebook.size > 0 });

	keeper_set_quota(keeper, 1 << 20);
	return keeper;
}

static void wait_until_told(struct fixture *f)
{
	while (!told)
		loop_turn(f->loop, -1);
}

static void copy(struct fixture *f, struct keeper *keeper, const char *path)
{
	told = false;
	keeper_copy(keeper, &path, path != NULL, on_done);
	wait_until_told(f);
}

static void copy_notebook(struct fixture *f, struct keeper *keeper, const char *text)
{
	scratch_write(workspace_journal_fd(f->workspace), "notebook.ipynb", "");
	told = false;
	export_notebook(keeper, 0, text, on_done);
	wait_until_told(f);
	assert_int_equal(last.copied, 1);
}

static char *path_of(const struct keeper *keeper, const char *name)
{
	assert_non_null(keeper_folder(keeper));
	return xasprintf("%s/%s", keeper_folder(keeper), name);
}

static void assert_kept(const struct keeper *keeper, const char *name, const char *expected)
{
	cleanup_free char *path = path_of(keeper, name);
	cleanup_free char *text = scratch_read(AT_FDCWD, path);

	if (expected == NULL && text != NULL)
		fail_msg("there is a '%s'", path);
	if (expected != NULL && text == NULL)
		fail_msg("no '%s'", path);
	if (expected != NULL)
		assert_string_equal(text, expected);
}

static void forget_log(struct fixture *f)
{
	assert_int_equal(unlinkat(workspace_journal_fd(f->workspace), KEEPLOG_FILE, 0), 0);
}

/* Marks what a killed server may not have copied. */
static void mark(const struct fixture *f, struct keeper *keeper, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(f->data, path, &st, 0), 0);
	keeper_mark_missing(keeper, path, (uint64_t)st.st_size,
			    (uint64_t)st.st_mtim.tv_sec * 1000000000U +
				    (uint64_t)st.st_mtim.tv_nsec);
}

static void a_copy_of_the_life_before_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *folder = NULL;

	scratch_write(f->data, "output/a.csv", "one");
	copy(f, keeper, "output/a.csv");
	copy_notebook(f, keeper, "first");
	folder = xstrdup(keeper_folder(keeper));
	keeper_free(keeper);
	keeper = new_keeper(f, true);
	assert_string_equal(keeper_folder(keeper), folder);
	scratch_write(f->data, "output/a.csv", "two");
	copy(f, keeper, "output/a.csv");
	copy_notebook(f, keeper, "second");
	assert_kept(keeper, "a.csv", "two");
	assert_kept(keeper, "a-2.csv", NULL);
	assert_kept(keeper, "notebook.ipynb", "second");
	assert_kept(keeper, "notebook-2.ipynb", NULL);
	keeper_free(keeper);
}

static void names_stay_as_they_were_given(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);

	scratch_write(f->data, "beside.txt", "beside");
	scratch_write(f->data, "output/notebook.ipynb", "its own");
	copy(f, keeper, "beside.txt");
	copy_notebook(f, keeper, "ours");
	copy(f, keeper, "output/notebook.ipynb");
	assert_int_equal(mkdirat(f->data, "output/files", 0700), 0);
	scratch_write(f->data, "output/files/beside.txt", "of the folder");
	copy(f, keeper, "output/files/beside.txt");
	keeper_free(keeper);
	for (int life = 2; life < 4; life++) {
		cleanup_free char *text = xasprintf("life %d", life);

		keeper = new_keeper(f, true);
		scratch_write(f->data, "output/notebook.ipynb", text);
		scratch_write(f->data, "output/files/beside.txt", text);
		copy(f, keeper, "output/files/beside.txt");
		copy(f, keeper, "output/notebook.ipynb");
		copy_notebook(f, keeper, text);
		assert_kept(keeper, "notebook.ipynb", text);
		assert_kept(keeper, "files/beside.txt", text);
		assert_kept(keeper, "notebook-2.ipynb", NULL);
		assert_kept(keeper, "files-2/beside.txt", "beside");
		keeper_free(keeper);
	}
}

static void a_file_that_the_user_changed_stays(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *path = NULL;

	scratch_write(f->data, "output/a.csv", "one");
	copy(f, keeper, "output/a.csv");
	path = path_of(keeper, "a.csv");
	keeper_free(keeper);
	scratch_write(AT_FDCWD, path, "mine now");
	keeper = new_keeper(f, true);
	scratch_write(f->data, "output/a.csv", "two");
	copy(f, keeper, "output/a.csv");
	assert_kept(keeper, "a.csv", "mine now");
	assert_kept(keeper, "a-2.csv", "two");
	keeper_free(keeper);
}

static void what_a_killed_server_had_copied_is_not_copied_again(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);

	scratch_write(f->data, "output/a.csv", "one");
	scratch_write(f->data, "output/b.csv", "two");
	copy(f, keeper, "output/a.csv");
	keeper_free(keeper);
	forget_log(f);
	keeper = new_keeper(f, true);
	mark(f, keeper, "output/a.csv");
	mark(f, keeper, "output/b.csv");
	assert_false(keeper_is_settled(keeper));
	copy(f, keeper, NULL);
	assert_int_equal(last.copied, 1);
	assert_int_equal(last.failed, 0);
	assert_true(keeper_is_settled(keeper));
	assert_kept(keeper, "a.csv", "one");
	assert_kept(keeper, "a-2.csv", NULL);
	assert_kept(keeper, "b.csv", "two");
	/* It is known now. */
	mark(f, keeper, "output/a.csv");
	assert_true(keeper_is_settled(keeper));
	scratch_write(f->data, "output/a.csv", "three");
	mark(f, keeper, "output/a.csv");
	copy(f, keeper, NULL);
	assert_kept(keeper, "a.csv", "three");
	keeper_free(keeper);
}

/* Puts a file of the user's into the folder. */
static void put_own(const struct keeper *keeper, const char *name, const char *text)
{
	cleanup_free char *path = path_of(keeper, name);

	scratch_write(AT_FDCWD, path, text);
}

/* The record of both copies is lost. */
static void a_log_is_not_taken_for_that_of_another_database(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);

	scratch_write(f->data, "output/a.db", DATABASE "now");
	copy(f, keeper, "output/a.db");
	put_own(keeper, "a.db", DATABASE "before");
	put_own(keeper, "a-2.db", DATABASE "now");
	put_own(keeper, "a-2.db-wal", "log before");
	put_own(keeper, "a-2-2.db-wal", "log now");
	keeper_free(keeper);
	forget_log(f);
	keeper = new_keeper(f, true);
	scratch_write(f->data, "output/a.db-wal", "log now");
	mark(f, keeper, "output/a.db");
	mark(f, keeper, "output/a.db-wal");
	copy(f, keeper, NULL);
	assert_int_equal(last.failed, 1);
	assert_kept(keeper, "a-2.db-wal", "log before");
	keeper_free(keeper);
}

static void a_notebook_that_was_copied_last_is_known_by_its_bytes(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *path = NULL;

	copy_notebook(f, keeper, "first");
	path = path_of(keeper, "notebook.ipynb");
	keeper_free(keeper);
	forget_log(f);
	notebook = (struct keeper_notebook){ .size = 5, .crc = crc_32c(0, "first", 5) };
	keeper = new_keeper(f, true);
	copy_notebook(f, keeper, "second");
	assert_kept(keeper, "notebook.ipynb", "second");
	keeper_free(keeper);
	forget_log(f);
	scratch_write(AT_FDCWD, path, "mine!");
	keeper = new_keeper(f, true);
	copy_notebook(f, keeper, "third");
	assert_kept(keeper, "notebook.ipynb", "mine!");
	assert_kept(keeper, "notebook-2.ipynb", "third");
	keeper_free(keeper);
	notebook.size = 0;
}

static void a_log_that_is_none_or_was_torn_does_no_harm(void **state)
{
	static const char *const logs[] = {
		"",
		"\n\n{}\n[]\n",
		"{\"from\":\"../../etc\",\"to\":\"/etc/passwd\"}\n",
		"{\"from\":\"output/a.csv\",\"to\":\"a.csv\",\"size\":-5}\n",
		"{\"from\":\"/\",\"to\":\"../x\"}\n{\"from\":\"outp",
	};
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);

	scratch_write(f->data, "output/a.csv", "one");
	copy(f, keeper, "output/a.csv");
	keeper_free(keeper);
	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		scratch_write(workspace_journal_fd(f->workspace), KEEPLOG_FILE, logs[i]);
		keeper = new_keeper(f, true);
		mark(f, keeper, "output/a.csv");
		copy(f, keeper, NULL);
		assert_int_equal(last.failed, 0);
		assert_kept(keeper, "a.csv", "one");
		assert_kept(keeper, "a-2.csv", NULL);
		keeper_free(keeper);
	}
}

static void a_folder_that_the_user_removed_is_made_again(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *away = xasprintf("%s/away", f->scratch.path);

	scratch_write(f->data, "output/a.csv", "one");
	scratch_write(f->data, "output/b.csv", "two");
	copy(f, keeper, "output/a.csv");
	assert_int_equal(rename(keeper_folder(keeper), away), 0);
	keeper_free(keeper);
	keeper = new_keeper(f, true);
	copy(f, keeper, "output/b.csv");
	assert_kept(keeper, "b.csv", "two");
	assert_kept(keeper, "a.csv", NULL);
	keeper_free(keeper);
}

static void a_link_in_place_of_the_folder_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *away = xasprintf("%s/away", f->scratch.path);
	cleanup_free char *folder = NULL;

	scratch_write(f->data, "output/a.csv", "one");
	copy(f, keeper, "output/a.csv");
	folder = xstrdup(keeper_folder(keeper));
	keeper_free(keeper);
	assert_int_equal(rename(folder, away), 0);
	assert_int_equal(symlink("/tmp", folder), 0);
	keeper = new_keeper(f, true);
	scratch_write(f->data, "output/a.csv", "two");
	copy(f, keeper, "output/a.csv");
	assert_string_not_equal(keeper_folder(keeper), folder);
	assert_kept(keeper, "a.csv", "two");
	keeper_free(keeper);
}

static void place_original(const struct fixture *f, const char *path, const char *text)
{
	struct err err;
	struct original *original = original_new(f->workspace, &err);

	assert_non_null(original);
	assert_int_equal(write(original_fd(original), text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(original_place(original, path, &err), 0);
	original_free(original);
}

/* Copies all inputs that no copy is known of. */
static void copy_inputs(struct fixture *f, struct keeper *keeper)
{
	cleanup_original_list struct original_list all;

	original_list(workspace_journal_fd(f->workspace), &all);
	for (size_t i = 0; i < all.count; i++)
		assert_true(keeper_mark_input(keeper, all.files[i].name));
	copy(f, keeper, NULL);
}

static void inputs_that_a_killed_server_had_copied_are_not_copied_again(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);

	place_original(f, "input/a.csv", "one");
	place_original(f, "input/a.csv", "two");
	copy_inputs(f, keeper);
	keeper_free(keeper);
	forget_log(f);
	keeper = new_keeper(f, true);
	place_original(f, "input/a.csv", "three");
	copy_inputs(f, keeper);
	assert_kept(keeper, "input/a.csv", "one");
	assert_kept(keeper, "input/a-2.csv", "two");
	assert_kept(keeper, "input/a-3.csv", "three");
	assert_kept(keeper, "input/a-4.csv", NULL);
	keeper_free(keeper);
}

/* The copy has its name, but the helper was killed before it told that. */
static void what_a_killed_helper_had_copied_is_known_again(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *dies = xasprintf("%s/dies", f->scratch.path);
	cleanup_free char *path = xasprintf("%s/helper", f->scratch.path);
	cleanup_free char *script =
		xasprintf("#!/bin/sh\n[ -e '%s' ] || exec " HELPER " \"$@\"\n" HELPER
			  " \"$@\" > /dev/null\nkill -9 $$\n",
			  dies);
	struct keeper *keeper;

	scratch_write(f->scratch.fd, "helper", script);
	assert_int_equal(fchmodat(f->scratch.fd, "helper", 0700, 0), 0);
	helper = path;
	keeper = new_keeper(f, false);
	helper = HELPER;
	scratch_write(f->data, "output/a.csv", "one");
	copy(f, keeper, "output/a.csv");
	scratch_write(f->scratch.fd, "dies", "");
	scratch_write(f->data, "output/a.csv", "two");
	copy(f, keeper, "output/a.csv");
	assert_int_equal(last.failed, 1);
	assert_kept(keeper, "a.csv", "two");
	assert_int_equal(unlinkat(f->scratch.fd, "dies", 0), 0);
	scratch_write(f->data, "output/a.csv", "three");
	copy(f, keeper, NULL);
	assert_int_equal(last.failed, 0);
	assert_kept(keeper, "a.csv", "three");
	assert_kept(keeper, "a-2.csv", NULL);
	keeper_free(keeper);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As on a full disk. The folder is the keeper's, though nothing is in it. */
static void a_folder_that_was_made_in_vain_is_gone_on_with(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *path = xstrdup(keeper_path(keeper));
	cleanup_free char *kept = xasprintf("%s/a.csv", path);

	scratch_write(f->data, "output/a.csv", "one");
	limit_file_size(1);
	copy(f, keeper, "output/a.csv");
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(last.failed, 1);
	assert_true(scratch_exists(AT_FDCWD, path));
	keeper_free(keeper);
	while (!scratch_exists(AT_FDCWD, kept))
		loop_turn(f->loop, -1);
}

/* The user has put a link in place of the empty folder. */
static void a_folder_that_was_made_in_vain_and_replaced_is_made_again(void **state)
{
	struct fixture *f = *state;
	struct keeper *keeper = new_keeper(f, false);
	cleanup_free char *path = xstrdup(keeper_path(keeper));

	scratch_write(f->data, "output/a.csv", "one");
	limit_file_size(1);
	copy(f, keeper, "output/a.csv");
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	copy(f, keeper, "output/a.csv");
	assert_int_equal(last.failed, 0);
	assert_string_not_equal(keeper_path(keeper), path);
	assert_kept(keeper, "a.csv", "one");
	keeper_free(keeper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_copy_of_the_life_before_is_replaced),
		FIXTURE_TEST(names_stay_as_they_were_given),
		FIXTURE_TEST(a_file_that_the_user_changed_stays),
		FIXTURE_TEST(what_a_killed_server_had_copied_is_not_copied_again),
		FIXTURE_TEST(inputs_that_a_killed_server_had_copied_are_not_copied_again),
		FIXTURE_TEST(what_a_killed_helper_had_copied_is_known_again),
		FIXTURE_TEST(a_folder_that_was_made_in_vain_is_gone_on_with),
		FIXTURE_TEST(a_folder_that_was_made_in_vain_and_replaced_is_made_again),
		FIXTURE_TEST(a_log_is_not_taken_for_that_of_another_database),
		FIXTURE_TEST(a_notebook_that_was_copied_last_is_known_by_its_bytes),
		FIXTURE_TEST(a_log_that_is_none_or_was_torn_does_no_harm),
		FIXTURE_TEST(a_folder_that_the_user_removed_is_made_again),
		FIXTURE_TEST(a_link_in_place_of_the_folder_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
