/* SPDX-License-Identifier: MIT */
/* Folders of ended sessions that are too old, too many, or as hostile code left them. */
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "fixture.h"
#include "workspace/home.h"
#include "workspace/lasting.h"
#include "workspace/sweeper.h"

#define HELPER TEST_BUILD "/ptycell-files"

enum { DAY = 86400, DEPTH = 3000 };

static struct err err;
static bool told;

static void on_done(void *data)
{
	(void)data;
	told = true;
}

static void sweep(struct fixture *f, uint64_t age_s, uint64_t bytes_max)
{
	told = false;
	sweeper_start(&(struct sweeper_spec){ .loop = f->loop,
					      .home = f->home,
					      .helper = HELPER,
					      .age_s = age_s,
					      .bytes_max = bytes_max },
		      on_done, NULL);
	while (!told)
		loop_turn(f->loop, -1);
}

/* Ends the fixture's session and makes another one. */
static void end(struct fixture *f, const char *id, int days_ago)
{
	const struct timespec times[] = { { .tv_sec = time(NULL) - days_ago * DAY },
					  { .tv_sec = time(NULL) - days_ago * DAY } };
	struct lasting_record record = { .session_id = xstrdup(id) };

	assert_int_equal(lasting_write(workspace_journal_fd(f->workspace), &record, &err), 0);
	assert_int_equal(utimensat(workspace_journal_fd(f->workspace), LASTING_RECORD, times, 0),
			 0);
	assert_true(lasting_release(f->home, workspace_name(f->workspace)));
	lasting_record_release(&record);
	workspace_free(f->workspace);
	f->workspace = workspace_new(f->home, &err);
	f->data = workspace_data_fd(f->workspace);
}

static size_t left(const struct fixture *f, const char *id)
{
	cleanup_lasting struct lasting_found found;

	lasting_find(f->home, id, &found);
	return found.count;
}

static void fill(const struct fixture *f, const char *name, size_t mb)
{
	int fd = openat(f->data, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(posix_fallocate(fd, 0, (off_t)mb << 20), 0);
	(void)close(fd);
}

static void the_old_go(void **state)
{
	struct fixture *f = *state;

	end(f, "old", 8);
	end(f, "new", 6);
	sweep(f, (uint64_t)7 * DAY, 1 << 30);
	assert_int_equal(left(f, "old"), 0);
	assert_int_equal(left(f, "new"), 1);
}

static void of_too_many_the_longest_unused_go(void **state)
{
	struct fixture *f = *state;

	fill(f, "a", 3);
	end(f, "second", 2);
	fill(f, "a", 3);
	end(f, "third", 1);
	fill(f, "a", 3);
	end(f, "first", 3);
	sweep(f, (uint64_t)7 * DAY, 7 << 20);
	assert_int_equal(left(f, "first"), 0);
	assert_int_equal(left(f, "second"), 1);
	assert_int_equal(left(f, "third"), 1);
	/* Sizes are stored: the second time gives the same. */
	sweep(f, (uint64_t)7 * DAY, 7 << 20);
	assert_int_equal(left(f, "second"), 1);
	sweep(f, (uint64_t)7 * DAY, 1 << 20);
	assert_int_equal(left(f, "second"), 0);
	assert_int_equal(left(f, "third"), 0);
}

static void what_a_live_server_has_stays(void **state)
{
	struct fixture *f = *state;
	struct lasting_record record = { .session_id = xstrdup("live") };

	fill(f, "a", 3);
	assert_int_equal(lasting_write(workspace_journal_fd(f->workspace), &record, &err), 0);
	lasting_record_release(&record);
	sweep(f, 1, 0);
	assert_true(scratch_exists(f->data, "a"));
}

static void make_depth(int dir_fd)
{
	int fd = dup(dir_fd);

	for (int i = 0; i < DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
}

static void what_hostile_code_left_is_measured_and_removed(void **state)
{
	struct fixture *f = *state;
	char name[256];

	(void)memset(name, '\n', sizeof(name) - 1);
	name[255] = '\0';
	fill(f, name, 3);
	assert_int_equal(symlinkat("/", f->data, "root"), 0);
	assert_int_equal(symlinkat("loop", f->data, "loop"), 0);
	assert_int_equal(mkfifoat(f->data, "fifo", 0600), 0);
	assert_int_equal(mkdirat(f->data, "closed", 0700), 0);
	fill(f, "closed/big", 3);
	assert_int_equal(fchmodat(f->data, "closed", 0, 0), 0);
	assert_int_equal(fchmod(f->data, 0), 0);
	end(f, "hostile", 1);
	sweep(f, (uint64_t)7 * DAY, 7 << 20);
	assert_int_equal(left(f, "hostile"), 1);
	sweep(f, (uint64_t)7 * DAY, 5 << 20);
	assert_int_equal(left(f, "hostile"), 0);
	assert_true(scratch_exists(AT_FDCWD, "/etc/passwd"));
}

static void a_folder_too_deep_to_be_measured_goes_first(void **state)
{
	struct fixture *f = *state;

	end(f, "older", 2);
	make_depth(f->data);
	end(f, "deep", 1);
	sweep(f, (uint64_t)7 * DAY, 1 << 30);
	assert_int_equal(left(f, "deep"), 0);
	assert_int_equal(left(f, "older"), 1);
}

static void what_is_not_as_made_is_left_alone(void **state)
{
	struct fixture *f = *state;
	int home = home_fd(f->home);

	sweep(f, 1, 0); /* there is nothing yet */
	end(f, "a", 9);
	assert_int_equal(mkdirat(home, LASTING_FOLDER "/mine", 0700), 0);
	assert_int_equal(symlinkat("/tmp", home, LASTING_FOLDER "/aaaabbbbccccdddd"), 0);
	sweep(f, 1, 0);
	assert_int_equal(left(f, "a"), 0);
	assert_true(scratch_exists(home, LASTING_FOLDER "/mine"));
	assert_true(scratch_exists(home, LASTING_FOLDER "/aaaabbbbccccdddd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_old_go),
		FIXTURE_TEST(of_too_many_the_longest_unused_go),
		FIXTURE_TEST(what_a_live_server_has_stays),
		FIXTURE_TEST(what_hostile_code_left_is_measured_and_removed),
		FIXTURE_TEST(a_folder_too_deep_to_be_measured_goes_first),
		FIXTURE_TEST(what_is_not_as_made_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
