/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "workspace/spool.h"

static const char *file_name(const struct spool *spool)
{
	return strrchr(spool_path(spool), '/') + 1;
}

static void the_file_comes_with_the_first_byte(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 14, "python", 100);

	assert_null(spool_path(spool));
	spool_write(spool, "", 0);
	assert_string_equal(file_name(spool), "cell-14-python.txt");
	assert_false(scratch_exists(workspace_spool_fd(f->workspace), file_name(spool)));
	spool_write(spool, "a", 1);
	assert_true(scratch_exists(workspace_spool_fd(f->workspace), file_name(spool)));
	spool_free(spool);
}

static void the_file_is_read_only_and_outlives_the_spool(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 1, "python", 100);
	struct stat st;
	char *path;
	char *text;

	spool_write(spool, "one ", 4);
	spool_write(spool, "two", 3);
	path = strdup(spool_path(spool));
	spool_free(spool);
	text = scratch_read(AT_FDCWD, path);
	assert_string_equal(text, "one two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0444);
	free(text);
	free(path);
}

static void bytes_past_the_maximum_are_counted(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 1, "python", 5);
	char *text;

	spool_write(spool, "abc", 3);
	spool_write(spool, "defg", 4);
	spool_write(spool, "h", 1);
	assert_int_equal(spool_dropped(spool), 3);
	assert_null(spool_error(spool));
	text = scratch_read(AT_FDCWD, spool_path(spool));
	assert_string_equal(text, "abcde");
	free(text);
	spool_free(spool);
}

static void a_discarded_spool_has_no_file(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 1, "python", 100);

	spool_write(spool, "abc", 3);
	spool_discard(spool);
	spool_write(spool, "def", 3);
	assert_false(scratch_exists(workspace_spool_fd(f->workspace), file_name(spool)));
	assert_int_equal(spool_dropped(spool), 3);
	spool_free(spool);
}

static void a_planted_link_is_replaced_and_not_written_through(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 1, "python", 100);
	char *text;

	scratch_write(f->scratch.fd, "victim", "untouched");
	assert_int_equal(symlinkat("../../../../../victim", workspace_spool_fd(f->workspace),
				   "cell-1-python.txt"),
			 0);
	spool_write(spool, "abc", 3);
	assert_null(spool_error(spool));
	text = scratch_read(f->scratch.fd, "victim");
	assert_string_equal(text, "untouched");
	free(text);
	text = scratch_read(AT_FDCWD, spool_path(spool));
	assert_string_equal(text, "abc");
	free(text);
	spool_free(spool);
}

static void trouble_with_the_disk_stops_the_spool_and_is_told(void **state)
{
	struct fixture *f = *state;
	struct spool *spool = spool_new(f->workspace, 1, "python", 100);

	/* A folder of that name cannot be unlinked. */
	assert_int_equal(mkdirat(workspace_spool_fd(f->workspace), "cell-1-python.txt", 0700), 0);
	spool_write(spool, "abc", 3);
	spool_write(spool, "abc", 3);
	assert_non_null(spool_error(spool));
	assert_int_equal(spool_dropped(spool), 6);
	spool_free(spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_file_comes_with_the_first_byte),
		FIXTURE_TEST(the_file_is_read_only_and_outlives_the_spool),
		FIXTURE_TEST(bytes_past_the_maximum_are_counted),
		FIXTURE_TEST(a_discarded_spool_has_no_file),
		FIXTURE_TEST(a_planted_link_is_replaced_and_not_written_through),
		FIXTURE_TEST(trouble_with_the_disk_stops_the_spool_and_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
