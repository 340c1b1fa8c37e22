/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "workspace/values.h"

static struct err err;

static struct values_file *begin(const struct fixture *f, uint64_t max)
{
	struct values_file *file = values_begin(f->workspace, max, &err);

	assert_non_null(file);
	return file;
}

static struct values_record save(const struct fixture *f, const char *text, uint64_t cell)
{
	struct values_record record = {
		.cell = cell, .first_cell = 2, .gap = { 3, 4 }, .names = 3, .ms = 40
	};
	struct values_file *file = begin(f, 100);

	assert_true(values_write(file, text, strlen(text)));
	assert_int_equal(values_commit(file, &record, &err), 0);
	return record;
}

static struct values_record read_back(const struct fixture *f)
{
	struct values_record record;

	values_read(workspace_journal_fd(f->workspace), &record);
	return record;
}

static void assert_saved(const struct fixture *f, const char *text)
{
	const struct values_record record = read_back(f);
	cleanup_free char *found = scratch_read(workspace_journal_fd(f->workspace), record.file);

	assert_non_null(found);
	assert_string_equal(found, text);
}

static void nothing_is_saved_at_first(void **state)
{
	assert_string_equal(read_back(*state).file, "");
}

static void a_saved_file_counts_and_replaces_the_one_before(void **state)
{
	const struct fixture *f = *state;
	const struct values_record first = save(f, "one", 4);
	const struct values_record second = save(f, "two", 7);
	const struct values_record found = read_back(f);

	assert_saved(f, "two");
	assert_string_equal(found.file, second.file);
	assert_int_equal(found.cell, 7);
	assert_int_equal(found.first_cell, 2);
	assert_int_equal(found.gap.first, 3);
	assert_int_equal(found.gap.last, 4);
	assert_int_equal(found.names, 3);
	assert_int_equal(found.ms, 40);
	assert_false(scratch_exists(workspace_journal_fd(f->workspace), first.file));
}

static void a_file_that_is_dropped_or_lost_leaves_the_one_before(void **state)
{
	const struct fixture *f = *state;
	struct values_file *file;

	(void)save(f, "one", 4);
	file = begin(f, 100);
	assert_true(values_write(file, "two", 3));
	assert_saved(f, "one");
	values_drop(file);
	assert_saved(f, "one");
	scratch_write(workspace_journal_fd(f->workspace), "variables-killed", "half");
	values_tidy(f->workspace);
	assert_false(scratch_exists(workspace_journal_fd(f->workspace), "variables-killed"));
	assert_saved(f, "one");
}

static void a_piece_beyond_the_maximum_is_refused(void **state)
{
	struct values_file *file = begin(*state, 5);

	assert_true(values_write(file, "12345", 5));
	assert_false(values_write(file, "6", 1));
	values_drop(file);
	values_drop(NULL);
}

/* Files that grow beyond this fail as on a full disk. */
static void limit_files(rlim_t max)
{
	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ max, RLIM_INFINITY }), 0);
}

static void a_full_disk_is_reported(void **state)
{
	struct values_file *file = begin(*state, 100);

	limit_files(0);
	assert_false(values_write(file, "1", 1));
	limit_files(RLIM_INFINITY);
	values_drop(file);
}

static void a_record_that_cannot_be_written_leaves_the_one_before(void **state)
{
	const struct fixture *f = *state;
	struct values_record record = { .cell = 9 };
	struct values_file *file;

	(void)save(f, "one", 4);
	file = begin(f, 100);
	limit_files(0);
	assert_int_equal(values_commit(file, &record, &err), -1);
	limit_files(RLIM_INFINITY);
	assert_saved(f, "one");
	assert_int_equal(read_back(f).cell, 4);
}

static void a_file_that_is_gone_cannot_be_lent(void **state)
{
	const struct fixture *f = *state;
	const struct values_record record = { .file = "variables-gone" };
	cleanup_free char *path = values_lend(f->workspace, &record, &err);

	assert_null(path);
}

static void a_damaged_record_saves_nothing(void **state)
{
	static const char *const records[] = { "{",
					       "[]",
					       "{\"file\":1}",
					       "{\"file\":\"events\"}",
					       "{\"file\":\"variables-../../x\"}",
					       "{\"file\":\"variables-gone\"}" };
	const struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		scratch_write(workspace_journal_fd(f->workspace), "variables", records[i]);
		assert_string_equal(read_back(f).file, "");
	}
}

static void a_file_that_a_power_failure_tore_is_not_saved(void **state)
{
	const struct fixture *f = *state;
	const struct values_record record = save(f, "whole", 4);

	scratch_write(workspace_journal_fd(f->workspace), record.file, "who");
	assert_string_equal(read_back(f).file, "");
}

static mode_t mode_of(int fd, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode & 0777;
}

static void it_can_be_read_while_it_is_lent(void **state)
{
	const struct fixture *f = *state;
	const struct values_record record = save(f, "one", 4);
	const int journal = workspace_journal_fd(f->workspace);

	assert_int_equal(mode_of(journal, record.file), 0600);
	for (int i = 0; i < 2; i++) { /* a killed server may not have taken it back */
		cleanup_free char *path = values_lend(f->workspace, &record, &err);
		cleanup_free char *text = path != NULL ? scratch_read(AT_FDCWD, path) : NULL;

		assert_non_null(text);
		assert_string_equal(text, "one");
		assert_int_equal(mode_of(AT_FDCWD, path), 0444);
	}
	values_take_back(f->workspace, &record);
	assert_int_equal(mode_of(journal, record.file), 0600);
	assert_false(scratch_exists(workspace_spool_fd(f->workspace), "variables"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(nothing_is_saved_at_first),
		FIXTURE_TEST(a_saved_file_counts_and_replaces_the_one_before),
		FIXTURE_TEST(a_file_that_is_dropped_or_lost_leaves_the_one_before),
		FIXTURE_TEST(a_piece_beyond_the_maximum_is_refused),
		FIXTURE_TEST(a_full_disk_is_reported),
		FIXTURE_TEST(a_record_that_cannot_be_written_leaves_the_one_before),
		FIXTURE_TEST(a_file_that_is_gone_cannot_be_lent),
		FIXTURE_TEST(a_damaged_record_saves_nothing),
		FIXTURE_TEST(a_file_that_a_power_failure_tore_is_not_saved),
		FIXTURE_TEST(it_can_be_read_while_it_is_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
