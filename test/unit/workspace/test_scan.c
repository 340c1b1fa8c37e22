/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "workspace/scan.h"

static void on_done(struct scan *scan)
{
	assert_non_null(scan_data(scan));
}

static void run(struct fixture *f, struct scan *scan)
{
	scan_start(scan, on_done);
	while (scan_running(scan))
		loop_turn(f->loop, 0);
}

/* A scan whose start is the workspace as it stands. */
static struct scan *started(struct fixture *f)
{
	struct scan *scan = scan_new(f->loop, f->workspace, f);

	run(f, scan);
	return scan;
}

static char kind_letter(enum change_kind kind)
{
	return "+~-"[kind];
}

/* Runs a scan and compares its changes with "+new ~changed -deleted". */
static void assert_changes(struct fixture *f, struct scan *scan, const char *expected)
{
	char text[1024] = "";
	const struct change *changes;
	size_t count;

	run(f, scan);
	changes = scan_changes(scan, &count);
	for (size_t i = 0; i < count; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%c%s",
			       i > 0 ? " " : "", kind_letter(changes[i].kind),
			       changes[i].file.path);
	assert_string_equal(text, expected);
}

/* Lets the files outgrow the clocks' steps: then only times and sizes are looked at. */
static void make_old(struct fixture *f, struct scan *scan)
{
	loop_turn(f->loop, 25);
	run(f, scan);
}

static void what_a_disowned_scan_found_is_found_again(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	scratch_write(f->data, "a", "a");
	assert_changes(f, scan, "+a");
	scan_disown(scan);
	scratch_write(f->data, "b", "b");
	loop_turn(f->loop, 25); /* as make_old: nothing differs from the disowned scan */
	assert_changes(f, scan, "+a +b");
	scan_disown(scan);
	assert_changes(f, scan, "+a +b");
	assert_changes(f, scan, "");
	assert_int_equal(unlinkat(f->data, "a", 0), 0);
	assert_changes(f, scan, "-a");
	scan_disown(scan);
	assert_changes(f, scan, "-a");
	scan_free(scan);
}

/* Lets the process open so many descriptors more, or again as many as it may. */
static void allow_descriptors(int more)
{
	struct rlimit limit;
	int lowest = open("/dev/null", O_RDONLY);

	(void)close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(lowest + more);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void what_cannot_be_looked_at_is_told_and_found_later(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	assert_int_equal(mkdirat(f->data, "output/d", 0700), 0);
	scratch_write(f->data, "output/d/old", "old");
	scan = started(f);
	make_old(f, scan);
	assert_int_equal(scan_error(scan), 0);
	scratch_write(f->data, "output/d/new", "new");
	allow_descriptors(0);
	assert_changes(f, scan, "");
	assert_int_equal(scan_error(scan), EMFILE);
	assert_changes(f, scan, "");
	allow_descriptors(-1);
	assert_changes(f, scan, "+output/d/new");
	assert_int_equal(scan_error(scan), 0);
	assert_changes(f, scan, "");
	scan_free(scan);
}

/* The folder can be opened, and no file in it. */
static void a_young_file_that_cannot_be_read_is_not_called_changed(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	scratch_write(f->data, "a", "a");
	scan = started(f);
	scratch_write(f->data, "b", "b");
	allow_descriptors(1);
	assert_changes(f, scan, "+b");
	assert_int_equal(scan_error(scan), EMFILE);
	allow_descriptors(-1);
	assert_changes(f, scan, "+b");
	assert_changes(f, scan, "");
	scan_free(scan);
}

static void the_first_scan_cannot_be_disowned(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	scratch_write(f->data, "a", "a");
	scan = started(f);
	scan_disown(scan);
	assert_changes(f, scan, "");
	scan_free(scan);
}

static void the_first_scan_has_files_and_no_changes(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = scan_new(f->loop, f->workspace, f);
	const struct file_info *files;
	size_t count;

	scratch_write(f->data, "input/b.csv", "abc");
	scratch_write(f->data, "a", "");
	assert_changes(f, scan, "");
	files = scan_files(scan, &count);
	assert_int_equal(count, 2);
	assert_string_equal(files[0].path, "a");
	assert_string_equal(files[1].path, "input/b.csv");
	assert_int_equal(files[1].size, 3);
	assert_false(files[1].is_link);
	assert_true(files[1].mtime_ns > 0);
	assert_false(scan_capped(scan));
	scan_free(scan);
}

/* AR01, CB-17, CB-18 */
static void new_changed_deleted_and_renamed_files_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	scratch_write(f->data, "changed", "1");
	scratch_write(f->data, "deleted", "1");
	scratch_write(f->data, "renamed", "1");
	scan = started(f);
	scratch_write(f->data, "changed", "22");
	assert_int_equal(unlinkat(f->data, "deleted", 0), 0);
	assert_int_equal(renameat(f->data, "renamed", f->data, "to"), 0);
	assert_int_equal(mkdirat(f->data, "output/sub", 0700), 0);
	scratch_write(f->data, "output/sub/new", "1");
	assert_changes(f, scan, "~changed -deleted +output/sub/new -renamed +to");
	assert_changes(f, scan, "");
	scan_free(scan);
}

/* AR02: at once after the scan, where a coarse clock may not have moved. */
static void a_rewrite_of_equal_size_is_a_change(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	scratch_write(f->data, "output/a", "first");
	assert_changes(f, scan, "+output/a");
	for (int i = 0; i < 200; i++) {
		scratch_write(f->data, "output/a", i % 2 == 0 ? "other" : "first");
		assert_changes(f, scan, "~output/a");
	}
	assert_changes(f, scan, "");
	scan_free(scan);
}

/* The content decides when every time and number is the same: as on a coarse clock. */
static void equal_times_do_not_hide_a_young_files_change(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);
	char *map;
	int fd;

	scratch_write(f->data, "output/a", "first");
	fd = openat(f->data, "output/a", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	map[0] = 'F';
	assert_changes(f, scan, "+output/a");
	/* The page is writable already, so this store touches no time. */
	map[1] = 'I';
	assert_changes(f, scan, "~output/a");
	(void)munmap(map, 5);
	(void)close(fd);
	scan_free(scan);
}

/* AR03 */
static void a_time_set_back_does_not_hide_a_change(void **state)
{
	struct fixture *f = *state;
	struct timespec past[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct scan *scan;

	scratch_write(f->data, "a", "first");
	assert_int_equal(utimensat(f->data, "a", past, 0), 0);
	scan = started(f);
	make_old(f, scan);
	scratch_write(f->data, "a", "other");
	assert_int_equal(utimensat(f->data, "a", past, 0), 0);
	assert_changes(f, scan, "~a");
	scan_free(scan);
}

/* AR04 */
static void a_write_through_a_mapping_is_a_change(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;
	char *map;
	int fd;

	scratch_write(f->data, "a", "first");
	scan = started(f);
	make_old(f, scan);
	fd = openat(f->data, "a", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 5, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	map[0] = 'F';
	(void)munmap(map, 5);
	(void)close(fd);
	assert_changes(f, scan, "~a");
	scan_free(scan);
}

/* AR05, CB-22 */
static void links_are_listed_as_links(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);
	const struct change *changes;
	size_t count;

	assert_int_equal(symlinkat("/etc/passwd", f->data, "output/host"), 0);
	assert_int_equal(symlinkat("nowhere", f->data, "output/dangling"), 0);
	assert_changes(f, scan, "+output/dangling +output/host");
	changes = scan_changes(scan, &count);
	assert_true(changes[0].file.is_link);
	assert_true(changes[1].file.is_link);
	assert_int_equal(changes[1].file.size, strlen("/etc/passwd"));
	scan_free(scan);
}

/* AR06 */
static void a_linked_folder_is_not_entered(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	assert_int_equal(symlinkat("/etc", f->data, "etc"), 0);
	assert_int_equal(symlinkat(".", f->data, "loop"), 0);
	assert_changes(f, scan, "+etc +loop");
	scan_free(scan);
}

static void a_file_that_becomes_a_link_is_changed(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	scratch_write(f->data, "a", "x");
	scan = started(f);
	assert_int_equal(unlinkat(f->data, "a", 0), 0);
	assert_int_equal(symlinkat("x", f->data, "a"), 0);
	assert_changes(f, scan, "~a");
	scan_free(scan);
}

/* AR07 */
static void a_fifo_neither_blocks_nor_counts(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	assert_int_equal(mkfifoat(f->data, "fifo", 0600), 0);
	assert_changes(f, scan, "");
	scan_free(scan);
}

/* AR08 */
static void a_file_too_many_is_left_out_and_told(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = scan_new(f->loop, f->workspace, f);
	const struct file_info *files;
	char name[32];
	size_t count;

	for (int i = 0; i < SCAN_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "output/%05d", i);
		assert_int_equal(mknodat(f->data, name, S_IFREG | 0600, 0), 0);
	}
	assert_changes(f, scan, "");
	assert_false(scan_capped(scan));
	scratch_write(f->data, "output/one more", "");
	run(f, scan);
	assert_true(scan_capped(scan));
	files = scan_files(scan, &count);
	assert_int_equal(count, SCAN_FILES_MAX);
	for (size_t i = 1; i < count; i++)
		assert_true(strcmp(files[i - 1].path, files[i].path) < 0);
	/* Which ones are left out may differ from scan to scan: nothing is told as deleted. */
	assert_int_equal(unlinkat(f->data, "output/00007", 0), 0);
	assert_changes(f, scan, "");
	assert_false(scan_capped(scan));
	scan_free(scan);
}

/* Whoever nests long names has few files, and long paths. */
static void paths_that_are_too_long_together_are_left_out_and_told(void **state)
{
	enum { DEEP = 15, FILES = SCAN_PATHS_MAX / 3500 };
	struct fixture *f = *state;
	struct scan *scan;
	const struct file_info *files;
	char name[251] = "";
	int fd = dup(f->data);
	size_t count;

	memset(name, 'd', sizeof(name) - 1);
	for (int i = 0; i < DEEP; i++) {
		int next;

		assert_int_equal(mkdirat(fd, name, 0700), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
	for (int i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof(name), "%05d", i);
		assert_int_equal(mknodat(fd, name, S_IFREG | 0600, 0), 0);
	}
	scan = started(f);
	assert_true(scan_capped(scan));
	files = scan_files(scan, &count);
	assert_true(count > 0 && count <= SCAN_PATHS_MAX / strlen(files[0].path));
	assert_int_equal(unlinkat(fd, "00007", 0), 0);
	assert_changes(f, scan, "");
	(void)close(fd);
	scan_free(scan);
}

static void a_large_scan_leaves_the_loop_its_turns(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = scan_new(f->loop, f->workspace, f);
	char name[32];
	int turns = 0;

	for (int i = 0; i < SCAN_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "output/%05d", i);
		assert_int_equal(mknodat(f->data, name, S_IFREG | 0600, 0), 0);
	}
	scan_start(scan, on_done);
	assert_true(scan_running(scan));
	for (; scan_running(scan); turns++)
		loop_turn(f->loop, 0);
	assert_true(turns > 1);
	scan_free(scan);
}

static void what_nobody_wants_listed_is_not_entered(void **state)
{
	static const char *const names[] = { ".git", "node_modules", ".venv", "__pycache__",
					     ".cache" };
	struct fixture *f = *state;
	struct scan *scan = started(f);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64];

		assert_int_equal(mkdirat(f->data, names[i], 0700), 0);
		(void)snprintf(path, sizeof(path), "%s/file", names[i]);
		scratch_write(f->data, path, "x");
	}
	scratch_write(f->data, ".hidden", "x");
	assert_changes(f, scan, "+.hidden");
	scan_free(scan);
}

static void depth_beyond_the_longest_path_is_cut_and_told(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;
	int fd = dup(f->data);

	for (int i = 0; i < 3000; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
	scan = started(f);
	assert_true(scan_capped(scan));
	scan_free(scan);
}

/* AR10 */
static void a_file_written_between_two_scans_is_in_the_next(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	assert_changes(f, scan, "");
	scratch_write(f->data, "late", "x");
	assert_changes(f, scan, "+late");
	scan_free(scan);
}

/* AR11: a library that writes, renames and touches leaves one change. */
static void a_figure_written_twice_is_listed_once(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	scratch_write(f->data, "output/.plot.tmp", "png");
	assert_int_equal(renameat(f->data, "output/.plot.tmp", f->data, "output/plot.png"), 0);
	scratch_write(f->data, "output/plot.png", "png2");
	assert_changes(f, scan, "+output/plot.png");
	scan_free(scan);
}

static void a_running_scan_may_be_freed(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = scan_new(f->loop, f->workspace, f);
	char name[32];

	for (int i = 0; i < SCAN_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "output/%05d", i);
		assert_int_equal(mknodat(f->data, name, S_IFREG | 0600, 0), 0);
	}
	scan_start(scan, on_done);
	assert_true(scan_running(scan));
	scan_free(scan);
}

static void names_that_are_no_text_are_kept_as_bytes(void **state)
{
	struct fixture *f = *state;
	struct scan *scan = started(f);

	scratch_write(f->data, "\377\n\033[31m", "x");
	assert_changes(f, scan, "+\377\n\033[31m");
	scan_free(scan);
}

/* Those that rest are looked at without listing a folder; what changes below them is found. */
static void a_resting_workspace_hides_no_change(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;

	scratch_write(f->data, "top", "x");
	scratch_write(f->data, "output/a", "x");
	assert_int_equal(mkdirat(f->data, "output/deep", 0700), 0);
	scratch_write(f->data, "output/deep/b", "x");
	scan = started(f);
	make_old(f, scan);
	assert_changes(f, scan, "");
	scratch_write(f->data, "output/deep/b", "y");
	assert_changes(f, scan, "~output/deep/b");
	make_old(f, scan);
	scratch_write(f->data, "top", "longer");
	assert_changes(f, scan, "~top");
	make_old(f, scan);
	scratch_write(f->data, "output/deep/c", "z");
	assert_changes(f, scan, "+output/deep/c");
	make_old(f, scan);
	assert_int_equal(unlinkat(f->data, "output/a", 0), 0);
	assert_changes(f, scan, "-output/a");
	make_old(f, scan);
	assert_int_equal(renameat(f->data, "output/deep", f->data, "moved"), 0);
	assert_int_equal(symlinkat("../moved", f->data, "output/deep"), 0);
	assert_changes(f, scan, "+moved/b +moved/c +output/deep -output/deep/b -output/deep/c");
	make_old(f, scan);
	assert_changes(f, scan, "");
	scan_free(scan);
}

/* A folder and a file replaced by their like, as old as they were. */
static void a_replaced_folder_is_not_taken_for_the_one_before(void **state)
{
	static const struct timespec then[2] = { { .tv_sec = 1000, .tv_nsec = 5 },
						 { .tv_sec = 1000, .tv_nsec = 5 } };
	struct fixture *f = *state;
	struct scan *scan;

	assert_int_equal(mkdirat(f->data, "d", 0700), 0);
	assert_int_equal(mkdirat(f->data, "e", 0700), 0);
	scratch_write(f->data, "d/a", "x");
	scratch_write(f->data, "e/b", "x");
	assert_int_equal(utimensat(f->data, "d", then, 0), 0);
	assert_int_equal(utimensat(f->data, "e", then, 0), 0);
	scan = started(f);
	make_old(f, scan);
	assert_int_equal(renameat2(f->data, "d", f->data, "e", RENAME_EXCHANGE), 0);
	assert_int_equal(utimensat(f->data, ".", then, 0), 0);
	assert_changes(f, scan, "-d/a +d/b +e/a -e/b");
	scan_free(scan);
}

static void an_unchanged_workspace_is_scanned_at_once(void **state)
{
	struct fixture *f = *state;
	struct scan *scan;
	char name[32];
	bool at_once = false;

	for (int i = 0; i < 10; i++) {
		(void)snprintf(name, sizeof(name), "output/%d", i);
		scratch_write(f->data, name, "x");
	}
	scan = started(f);
	make_old(f, scan);
	/* On a busy machine a slice may end while somebody else runs. */
	for (int i = 0; i < 1000 && !at_once; i++) {
		scan_start(scan, on_done);
		at_once = !scan_running(scan);
		while (scan_running(scan))
			loop_turn(f->loop, 0);
	}
	assert_true(at_once);
	scan_free(scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(the_first_scan_has_files_and_no_changes),
		FIXTURE_TEST(what_a_disowned_scan_found_is_found_again),
		FIXTURE_TEST(what_cannot_be_looked_at_is_told_and_found_later),
		FIXTURE_TEST(a_young_file_that_cannot_be_read_is_not_called_changed),
		FIXTURE_TEST(the_first_scan_cannot_be_disowned),
		FIXTURE_TEST(new_changed_deleted_and_renamed_files_are_told_once),
		FIXTURE_TEST(a_rewrite_of_equal_size_is_a_change),
		FIXTURE_TEST(equal_times_do_not_hide_a_young_files_change),
		FIXTURE_TEST(a_time_set_back_does_not_hide_a_change),
		FIXTURE_TEST(a_write_through_a_mapping_is_a_change),
		FIXTURE_TEST(links_are_listed_as_links),
		FIXTURE_TEST(a_linked_folder_is_not_entered),
		FIXTURE_TEST(a_file_that_becomes_a_link_is_changed),
		FIXTURE_TEST(a_fifo_neither_blocks_nor_counts),
		FIXTURE_TEST(a_file_too_many_is_left_out_and_told),
		FIXTURE_TEST(paths_that_are_too_long_together_are_left_out_and_told),
		FIXTURE_TEST(a_large_scan_leaves_the_loop_its_turns),
		FIXTURE_TEST(what_nobody_wants_listed_is_not_entered),
		FIXTURE_TEST(depth_beyond_the_longest_path_is_cut_and_told),
		FIXTURE_TEST(a_file_written_between_two_scans_is_in_the_next),
		FIXTURE_TEST(a_figure_written_twice_is_listed_once),
		FIXTURE_TEST(a_running_scan_may_be_freed),
		FIXTURE_TEST(names_that_are_no_text_are_kept_as_bytes),
		FIXTURE_TEST(a_resting_workspace_hides_no_change),
		FIXTURE_TEST(a_replaced_folder_is_not_taken_for_the_one_before),
		FIXTURE_TEST(an_unchanged_workspace_is_scanned_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
