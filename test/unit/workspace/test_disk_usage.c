/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>

#include "base/fd.h"
#include "workspace/disk_usage.h"

static uint64_t told;
static int times;

/* The next reads of a folder fail. */
static int bad_reads;

struct dirent *readdir(DIR *dirp)
{
	static struct dirent *(*real)(DIR *);

	if (bad_reads > 0) {
		bad_reads--;
		errno = EIO;
		return NULL;
	}
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	return real(dirp);
}

static void on_done(struct disk *disk, uint64_t bytes)
{
	(void)disk;
	told = bytes;
	times++;
}

static uint64_t measure(struct fixture *f)
{
	struct disk *disk = disk_new(f->loop, f->workspace, f);

	times = 0;
	disk_start(disk, on_done);
	disk_start(disk, on_done); /* one walks already */
	assert_int_equal(times, 0);
	while (times == 0)
		loop_turn(f->loop, -1);
	assert_ptr_equal(disk_data(disk), f);
	disk_free(disk);
	return told;
}

static void fill(int dir, const char *name, size_t bytes)
{
	cleanup_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct err err;
	static char block[4096] = { 1 };

	for (size_t done = 0; done < bytes; done += sizeof(block))
		assert_int_equal(fd_write_all(fd, block, sizeof(block), &err), 0);
}

static void files_count_by_the_blocks_they_take_wherever_they_are(void **state)
{
	struct fixture *f = *state;
	uint64_t before = measure(f);
	cleanup_fd int sparse = -1;

	fill(f->data, "a", 1 << 20);
	assert_int_equal(mkdirat(f->data, "node_modules", 0700), 0);
	fill(f->data, "node_modules/b", 1 << 20);
	assert_in_range(measure(f) - before, 2 << 20, (2 << 20) + 65536);
	sparse = openat(f->data, "a", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(sparse, (off_t)1 << 40), 0);
	assert_in_range(measure(f) - before, 2 << 20, (2 << 20) + 65536);
}

static void empty_files_count_too(void **state)
{
	struct fixture *f = *state;
	uint64_t before = measure(f);

	fill(f->data, "a", 0);
	fill(f->data, "b", 0);
	assert_int_equal(symlinkat("a", f->data, "link"), 0);
	assert_int_equal(measure(f) - before, 3 * DISK_ENTRY_MIN);
	assert_int_equal(linkat(f->data, "b", f->data, "c", 0), 0);
	assert_int_equal(measure(f) - before, 3 * DISK_ENTRY_MIN);
}

static void files_and_folders_are_counted(void **state)
{
	struct fixture *f = *state;
	struct disk *disk = disk_new(f->loop, f->workspace, f);
	uint64_t before;

	times = 0;
	disk_start(disk, on_done);
	while (times == 0)
		loop_turn(f->loop, -1);
	before = disk_entries(disk);
	fill(f->data, "a", 4096);
	assert_int_equal(mkdirat(f->data, "b", 0700), 0);
	fill(f->data, "b/c", 0);
	disk_start(disk, on_done);
	while (times == 1)
		loop_turn(f->loop, -1);
	assert_int_equal(disk_entries(disk) - before, 3);
	assert_int_equal(disk_largest(disk), 4096);
	assert_true(disk_walk_ms(disk) < 60000);
	disk_free(disk);
}

static void a_second_name_adds_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	fill(f->data, "a", 1 << 20);
	before = measure(f);
	assert_int_equal(linkat(f->data, "a", f->data, "output/b", 0), 0);
	assert_in_range(measure(f), before, before + 65536);
}

static void links_are_not_followed(void **state)
{
	struct fixture *f = *state;
	uint64_t before = measure(f);

	assert_int_equal(symlinkat("/usr", f->data, "link"), 0);
	assert_int_equal(symlinkat("..", f->data, "up"), 0);
	assert_in_range(measure(f), before, before + 65536);
}

static void a_folder_that_is_closed_to_us_hides_nothing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdirat(f->data, "shut", 0), 0);
	assert_true(geteuid() == 0 || measure(f) == DISK_UNKNOWN);
}

/* The session's files could not grow for a moment, and cat() of R wrote nothing without an error.
 */
static void want_of_descriptors_is_no_unknown_size(void **state)
{
	struct fixture *f = *state;
	uint64_t before = measure(f);
	struct disk *disk = disk_new(f->loop, f->workspace, f);
	struct rlimit full;
	struct rlimit none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &full), 0);
	none = full;
	none.rlim_cur = 0;
	times = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	disk_start(disk, on_done);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	while (times == 0)
		loop_turn(f->loop, -1);
	assert_int_equal(told, before);
	disk_free(disk);
}

static void a_folder_that_was_not_read_to_its_end_is_read_again(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	fill(f->data, "large", 1 << 20);
	before = measure(f);
	bad_reads = 2;
	assert_int_equal(measure(f), before);
	assert_int_equal(bad_reads, 0);
}

/* More folders in each other than are held open, and files beside the way down. */
static void what_lies_deep_is_not_hidden(void **state)
{
	struct fixture *f = *state;
	uint64_t before = measure(f);
	struct err err;
	int dir = fd_dup(f->data, &err);
	int files = 0;

	for (int i = 0; i < 5 * DISK_OPEN_MAX; i++) {
		int next;

		assert_int_equal(mkdirat(dir, "d", 0700), 0);
		if (i % 40 == 0) {
			fill(dir, "a", 1 << 20);
			fill(dir, "z", 1 << 20);
			files += 2;
		}
		next = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd_close(&dir);
		dir = next;
	}
	fd_close(&dir);
	assert_in_range(measure(f) - before, (uint64_t)files << 20,
			((uint64_t)files << 20) + (uint64_t)5 * DISK_OPEN_MAX * 4096 + 65536);
}

static void freeing_ends_a_walk_without_a_word(void **state)
{
	struct fixture *f = *state;
	struct disk *disk = disk_new(f->loop, f->workspace, f);

	times = 0;
	disk_start(disk, on_done);
	disk_free(disk);
	loop_turn(f->loop, 0);
	assert_int_equal(times, 0);
	disk_free(NULL);
	assert_true(disk_free_bytes(f->workspace) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(files_count_by_the_blocks_they_take_wherever_they_are),
		FIXTURE_TEST(empty_files_count_too),
		FIXTURE_TEST(files_and_folders_are_counted),
		FIXTURE_TEST(a_second_name_adds_nothing),
		FIXTURE_TEST(links_are_not_followed),
		FIXTURE_TEST(a_folder_that_is_closed_to_us_hides_nothing),
		FIXTURE_TEST(want_of_descriptors_is_no_unknown_size),
		FIXTURE_TEST(a_folder_that_was_not_read_to_its_end_is_read_again),
		FIXTURE_TEST(what_lies_deep_is_not_hidden),
		FIXTURE_TEST(freeing_ends_a_walk_without_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
