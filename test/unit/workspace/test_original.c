/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>

#include "base/fd.h"
#include "base/mem.h"

static struct original *written(const struct fixture *f, const char *text)
{
	struct err err;
	struct original *original = original_new(f->workspace, &err);

	assert_non_null(original);
	assert_int_equal(fd_write_all(original_fd(original), text, strlen(text), &err), 0);
	return original;
}

static void originals_are_listed_in_the_order_in_which_they_came(void **state)
{
	struct fixture *f = *state;
	int journal = workspace_journal_fd(f->workspace);
	struct original_list list;

	original_list(journal, &list);
	assert_int_equal(list.count, 0);
	original_list_release(&list);
	fixture_upload(f, "input/a.csv", "one");
	fixture_upload(f, "input/sub/b-c.csv", "other");
	fixture_upload(f, "input/a.csv", "again");
	original_list(journal, &list);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.bytes, 13);
	assert_string_equal(original_import_name(list.files[0].name), "a.csv");
	assert_string_equal(original_import_name(list.files[1].name), "b-c.csv");
	assert_string_equal(original_import_name(list.files[2].name), "a.csv");
	assert_int_equal(list.files[0].size, 3);
	original_list_release(&list);
}

static void one_that_is_not_placed_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct original *original = written(f, "half");
	struct original_list list;

	original_list(workspace_journal_fd(f->workspace), &list);
	assert_int_equal(list.count, 0);
	original_list_release(&list);
	original_free(original);
	assert_int_equal(
		unlinkat(workspace_journal_fd(f->workspace), ORIGINAL_FOLDER, AT_REMOVEDIR), 0);
	original_free(NULL);
}

static void another_name_is_that_of_no_original(void **state)
{
	(void)state;
	assert_string_equal(original_import_name("input/a.csv"), "input/a.csv");
	assert_string_equal(original_import_name("0123456789abcdef_a"), "0123456789abcdef_a");
	assert_string_equal(original_import_name("0123456789abcdef-a-b"), "a-b");
}

static void where_no_folder_can_be_made_there_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct original_list list;
	struct err err = { 0 };

	scratch_write(workspace_journal_fd(f->workspace), ORIGINAL_FOLDER, "x");
	assert_null(original_new(f->workspace, &err));
	assert_int_not_equal(err.code, ERR_NONE);
	original_list(workspace_journal_fd(f->workspace), &list);
	assert_int_equal(list.count, 0);
	original_list_release(&list);
}

static void a_file_that_is_gone_cannot_be_named(void **state)
{
	struct fixture *f = *state;
	struct original *original = written(f, "x");
	cleanup_fd int folder = openat(workspace_journal_fd(f->workspace), ORIGINAL_FOLDER,
				       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = { 0 };
	struct dirent *entry;
	DIR *dir = fdopendir(fd_steal(&folder));

	while ((entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	(void)closedir(dir);
	assert_int_equal(original_place(original, "input/a", &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	original_free(original);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(originals_are_listed_in_the_order_in_which_they_came),
		FIXTURE_TEST(one_that_is_not_placed_leaves_nothing),
		FIXTURE_TEST(another_name_is_that_of_no_original),
		FIXTURE_TEST(where_no_folder_can_be_made_there_is_an_error),
		FIXTURE_TEST(a_file_that_is_gone_cannot_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
