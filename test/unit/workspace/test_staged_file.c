/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>

#include "base/fd.h"
#include "workspace/home.h"
#include "workspace/staged_file.h"

static size_t count_entries(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += entry->d_name[0] != '.';
	(void)closedir(dir);
	return count;
}

static void assert_file(int dir_fd, const char *path, const char *expected)
{
	char *text = scratch_read(dir_fd, path);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

/* Beside data, spool, packages, their link for Node, and journal. */
static size_t parts_left(const struct fixture *f)
{
	return count_entries(home_fd(f->home), workspace_name(f->workspace)) - 5;
}

static struct staged_file *written_part(const struct fixture *f, const char *text)
{
	struct err err;
	struct staged_file *part = staged_file_new(f->workspace, &err);

	assert_non_null(part);
	assert_int_equal(fd_write_all(staged_file_fd(part), text, strlen(text), &err), 0);
	return part;
}

static void a_part_is_out_of_the_sessions_sight_until_it_is_placed(void **state)
{
	struct fixture *f = *state;
	struct staged_file *part = written_part(f, "whole");
	struct err err;

	assert_int_equal(count_entries(f->data, "input"), 0);
	assert_int_equal(count_entries(f->data, "."), 2);
	assert_int_equal(parts_left(f), 1);
	assert_int_equal(staged_file_place(part, "input/a/b.csv", false, &err), 0);
	staged_file_free(part);
	assert_int_equal(parts_left(f), 0);
	assert_file(f->data, "input/a/b.csv", "whole");
}

static void a_part_that_is_not_placed_leaves_nothing(void **state)
{
	struct fixture *f = *state;

	staged_file_free(written_part(f, "half"));
	assert_int_equal(parts_left(f), 0);
	staged_file_free(NULL);
}

static void a_name_that_is_taken_is_told_before_and_after(void **state)
{
	struct fixture *f = *state;
	struct staged_file *part = written_part(f, "new");
	struct err err;

	scratch_write(f->data, "input/a", "old");
	assert_int_equal(staged_file_check(part, "input/a", false, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(staged_file_place(part, "input/a", false, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_file(f->data, "input/a", "old");
	assert_int_equal(staged_file_check(part, "input/a", true, &err), 0);
	assert_int_equal(staged_file_place(part, "input/a", true, &err), 0);
	assert_file(f->data, "input/a", "new");
	staged_file_free(part);
}

static void a_folder_in_the_way_stays(void **state)
{
	struct fixture *f = *state;
	struct staged_file *part = written_part(f, "new");
	struct err err;

	assert_int_equal(mkdirat(f->data, "input/d", 0700), 0);
	for (int overwrite = 0; overwrite < 2; overwrite++) {
		assert_int_equal(staged_file_check(part, "input/d", overwrite, &err), -1);
		assert_int_equal(err.code, ERR_DENIED);
		assert_int_equal(staged_file_place(part, "input/d", overwrite, &err), -1);
		assert_int_equal(err.code, ERR_DENIED);
	}
	staged_file_free(part);
}

/* CB-04 */
static void no_path_leads_out_and_no_link_is_followed(void **state)
{
	static const char *const paths[] = { "../x", "/etc/x", "", "input/../../x", "link/x" };
	struct fixture *f = *state;
	struct staged_file *part = written_part(f, "new");
	struct err err;

	assert_int_equal(symlinkat("..", f->data, "link"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(staged_file_check(part, paths[i], true, &err), -1);
		assert_int_equal(staged_file_place(part, paths[i], true, &err), -1);
		assert_true(err.code == ERR_INVALID || err.code == ERR_DENIED);
	}
	staged_file_free(part);
	assert_int_equal(parts_left(f), 0);
}

static void a_planted_link_is_replaced_and_its_target_stays(void **state)
{
	struct fixture *f = *state;
	struct staged_file *part = written_part(f, "new");
	struct err err;

	scratch_write(f->scratch.fd, "secret", "secret");
	assert_int_equal(symlinkat("../../../../../../secret", f->data, "input/l"), 0);
	assert_int_equal(staged_file_place(part, "input/l", true, &err), 0);
	staged_file_free(part);
	assert_file(f->data, "input/l", "new");
	assert_file(f->scratch.fd, "secret", "secret");
}

static void what_root_places_is_the_folders_owners(void **state)
{
	struct fixture *f = *state;
	struct staged_file *part;
	struct stat st;
	struct err err;

	if (geteuid() != 0)
		skip();
	part = written_part(f, "x");
	assert_int_equal(fchownat(f->data, "input", 65534, 65534, 0), 0);
	assert_int_equal(staged_file_place(part, "input/a", false, &err), 0);
	assert_int_equal(fstatat(f->data, "input/a", &st, 0), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_mode & 07777, 0600);
	staged_file_free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_part_is_out_of_the_sessions_sight_until_it_is_placed),
		FIXTURE_TEST(a_part_that_is_not_placed_leaves_nothing),
		FIXTURE_TEST(a_name_that_is_taken_is_told_before_and_after),
		FIXTURE_TEST(a_folder_in_the_way_stays),
		FIXTURE_TEST(no_path_leads_out_and_no_link_is_followed),
		FIXTURE_TEST(a_planted_link_is_replaced_and_its_target_stays),
		FIXTURE_TEST(what_root_places_is_the_folders_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
