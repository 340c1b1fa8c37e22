/* SPDX-License-Identifier: MIT */
/* The cache of packages: records by key, and what ptycell-files takes away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/file.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "install/cache.h"
#include "json/make.h"
#include "patience.h"
#include "scratch.h"
#include "workspace/home.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

enum { LONG_AGO_S = 1000000 };

static struct scratch scratch;
static struct loop *loop;
static struct home *home;
static struct cache *cache;

static int set_up(void **state)
{
	struct err err = { 0 };
	char path[128];

	(void)state;
	scratch_init(&scratch);
	(void)snprintf(path, sizeof(path), "%s/home", scratch.path);
	loop = loop_new(clock_ms, &err);
	home = home_open(path, &err);
	cache = home != NULL ? cache_open(home, &err) : NULL;
	if (cache == NULL)
		fail_msg("%s", err.msg);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cache_free(cache);
	home_close(home);
	loop_free(loop);
	scratch_release(&scratch);
	return 0;
}

/* An entry of one file of this size, used that long after the beginning of time. */
static char *make_entry(const char *prefix, size_t size, time_t used)
{
	char *name = random_name_new(prefix);
	cleanup_free char *folder = xasprintf("home/packages/sets/%s", name);
	cleanup_free char *files = xasprintf("%s/files", folder);
	cleanup_free char *file = xasprintf("%s/a.py", files);
	cleanup_free char *manifest = xasprintf("home/packages/sets/%s/manifest", name);
	cleanup_free char *text = xcalloc(1, size + 1);
	cleanup_free char *line = xasprintf("%zu 0 444 a.py\n", size);
	const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };

	memset(text, 'x', size);
	assert_int_equal(mkdirat(scratch.fd, folder, 0700), 0);
	assert_int_equal(mkdirat(scratch.fd, files, 0700), 0);
	scratch_write(scratch.fd, file, text);
	scratch_write(scratch.fd, manifest, line);
	assert_int_equal(utimensat(scratch.fd, manifest, times, 0), 0);
	return name;
}

static bool is_there(const char *entry)
{
	return faccessat(cache_sets_fd(cache), entry, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void put(const char *key, const char *entry)
{
	cleanup_json json_t *record = json_object();

	json_put_str(record, "entry", entry);
	cache_put(cache, key, record);
}

static void wait_until_gone(const char *path)
{
	patience_turn_until(loop, !scratch_exists(scratch.fd, path));
}

/* Half a record of a server that was killed long ago; its path. */
static char *make_half_record(void)
{
	const struct timespec times[2] = { { .tv_sec = LONG_AGO_S }, { .tv_sec = LONG_AGO_S } };
	cleanup_free char *name = random_name_new(".new-");
	char *path = xasprintf("home/packages/index/%s", name);

	scratch_write(scratch.fd, path, "half a rec");
	assert_int_equal(utimensat(scratch.fd, path, times, 0), 0);
	return path;
}

/* Until all is done with entries: records come after them. */
static void trim(uint64_t bytes_max, const char *gone)
{
	cleanup_free char *last = make_half_record();

	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", bytes_max);
	wait_until_gone(last);
	if (gone != NULL)
		assert_false(is_there(gone));
}

static void a_record_is_found_by_its_whole_key_while_its_entry_is_there(void **state)
{
	cleanup_free char *entry = make_entry("", 10, 1);
	json_t *found;

	(void)state;
	assert_null(cache_find(cache, "a", 0));
	put("a", entry);
	found = cache_find(cache, "a", 3600);
	assert_string_equal(json_string_value(json_object_get(found, "entry")), entry);
	json_decref(found);
	assert_null(cache_find(cache, "b", 0));
	trim(0, entry);
	assert_null(cache_find(cache, "a", 0));
}

/* The only file of index/, whatever its name. */
static void rewrite_record(const char *text)
{
	cleanup_free char *line =
		xasprintf("for f in %s/home/packages/index/*; do printf '%%s' '%s' > $f; done",
			  scratch.path, text);
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		(void)execlp("sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_record_that_is_none_is_not_there(void **state)
{
	cleanup_free char *entry = make_entry("", 10, 1);
	cleanup_free char *old =
		xasprintf("{\"key\": \"a\", \"entry\": \"%s\", \"made\": 1}", entry);
	cleanup_free char *other =
		xasprintf("{\"key\": \"b\", \"entry\": \"%s\", \"made\": 1}", entry);
	const char *const bad[] = { "",
				    "x",
				    "[]",
				    "{}",
				    "{\"key\": \"a\"}",
				    "{\"key\": \"a\", \"entry\": \"../sets\"}",
				    other };
	json_t *found;

	(void)state;
	put("a", entry);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		rewrite_record(bad[i]);
		if (cache_find(cache, "a", 0) != NULL)
			fail_msg("taken: %s", bad[i]);
	}
	for (int fresh = 0; fresh <= 1; fresh++) {
		cleanup_json json_t *record =
			json_pack("{sssi}", "entry", entry, "fresh", fresh * 1000);

		cache_put(cache, "a", record);
		found = cache_find(cache, "a", 3600);
		assert_true((found != NULL) == (fresh == 1));
		json_decref(found);
		found = cache_find(cache, "a", 0);
		assert_non_null(found);
		json_decref(found);
	}
	rewrite_record(old);
	assert_null(cache_find(cache, "a", 3600));
	found = cache_find(cache, "a", 0);
	assert_non_null(found);
	json_decref(found);
}

static void what_was_unused_for_longest_goes_first_and_only_as_much_as_must(void **state)
{
	cleanup_free char *second = make_entry("", 1000, LONG_AGO_S + 1);
	cleanup_free char *first = make_entry("", 1000, LONG_AGO_S);
	cleanup_free char *third = make_entry("", 1000, LONG_AGO_S + 2);

	(void)state;
	trim(3000, NULL);
	assert_true(is_there(first));
	trim(2999, first);
	assert_true(is_there(second) && is_there(third));
	trim(1000, second);
	assert_true(is_there(third));
	trim(999, third);
}

/* That of a set that was made while the clock was ahead: it must not stay for ever. */
static void a_last_use_that_is_yet_to_come_counts_as_long_ago(void **state)
{
	cleanup_free char *used = make_entry("", 1000, LONG_AGO_S);
	cleanup_free char *ahead = make_entry("", 1000, time(NULL) + 15 * 365 * 86400L);

	(void)state;
	trim(1000, ahead);
	assert_true(is_there(used));
}

static void what_is_in_use_stays(void **state)
{
	cleanup_free char *linked = make_entry("", 1000, LONG_AGO_S);
	cleanup_free char *locked = make_entry("", 1000, LONG_AGO_S);
	cleanup_free char *used = make_entry("", 1000, time(NULL));
	cleanup_free char *idle = make_entry("", 1000, LONG_AGO_S + 1);
	cleanup_free char *file = xasprintf("%s/files/a.py", linked);
	cleanup_fd int lock = openat(cache_sets_fd(cache), locked, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(linkat(cache_sets_fd(cache), file, scratch.fd, "of a session", 0), 0);
	assert_int_equal(flock(lock, LOCK_SH), 0);
	trim(0, idle);
	assert_true(is_there(linked) && is_there(locked) && is_there(used));
	assert_int_equal(unlinkat(scratch.fd, "of a session", 0), 0);
	fd_close(&lock);
	trim(0, linked);
	assert_false(is_there(locked));
	assert_true(is_there(used));
}

/* Trimming stops at a manifest that somebody is yet to write. */
static void what_is_used_after_it_was_looked_at_stays(void **state)
{
	cleanup_free char *held = make_entry("", 10, LONG_AGO_S);
	cleanup_free char *path =
		xasprintf("%s/home/packages/sets/%s/manifest", scratch.path, held);
	cleanup_free char *last = make_half_record();
	char *idle[8];
	int go = -1;

	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		idle[i] = make_entry("", 10, LONG_AGO_S);
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 0);
	patience_turn_until(loop, (go = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		cleanup_free char *manifest = xasprintf("%s/manifest", idle[i]);

		assert_int_equal(utimensat(cache_sets_fd(cache), manifest, NULL, 0), 0);
	}
	fd_close(&go);
	wait_until_gone(last);
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++) {
		assert_true(is_there(idle[i]));
		free(idle[i]);
	}
}

struct outcome {
	bool told;
	enum err_code code;
};

static void on_linked(struct helper *helper, const json_t *result, const struct err *err)
{
	struct outcome *outcome = helper_data(helper);

	outcome->told = true;
	outcome->code = result != NULL ? ERR_NONE : err->code;
}

/* "1: -> FLOCK  ADVISORY  READ 1234 00:2d:5678 0 EOF", where 5678 is the inode. */
static bool has_waiter(const char *locks, ino_t inode)
{
	cleanup_free char *end = xasprintf(":%llu 0 EOF", (unsigned long long)inode);
	const char *line = locks;

	while ((line = strstr(line, "-> FLOCK  ADVISORY  READ")) != NULL) {
		size_t len = strcspn(line, "\n");

		if (memmem(line, len, end, strlen(end)) != NULL)
			return true;
		line += len;
	}
	return false;
}

/* Whether somebody waits to lock the file that is open as `fd`. */
static bool is_wanted(int fd)
{
	struct stat st;
	struct err err;
	cleanup_free char *locks = fd_read_file(AT_FDCWD, "/proc/locks", 1 << 20, NULL, &err);

	assert_int_equal(fstat(fd, &st), 0);
	return locks != NULL && has_waiter(locks, st.st_ino);
}

static void remove_entry(const char *entry)
{
	static const char *const below[] = { "/files/a.py", "/files", "/manifest", "" };

	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		cleanup_free char *path = xasprintf("%s%s", entry, below[i]);

		assert_int_equal(
			unlinkat(cache_sets_fd(cache), path, i % 2 != 0 ? AT_REMOVEDIR : 0), 0);
	}
}

static void an_entry_that_goes_before_it_is_locked_is_not_there(void **state)
{
	static const struct helper_handlers handlers = { .done = on_linked };
	cleanup_free char *entry = make_entry("", 10, LONG_AGO_S);
	cleanup_fd int lock = openat(cache_sets_fd(cache), entry, O_RDONLY | O_CLOEXEC);
	cleanup_json json_t *request =
		json_pack("{ss ss ss}", "op", "link", "entry", entry, "to", "python");
	const struct helper_spec spec = { .path = TEST_BUILD "/ptycell-files",
					  .request = request,
					  .fds = (const int[]){ cache_sets_fd(cache), scratch.fd },
					  .fd_count = 2 };
	struct outcome outcome = { .told = false };
	struct err err = { 0 };
	struct helper *helper;

	(void)state;
	assert_int_equal(flock(lock, LOCK_EX), 0);
	helper = helper_start(loop, &spec, &handlers, &outcome, &err);
	assert_non_null(helper);
	patience_turn_until(loop, is_wanted(lock));
	remove_entry(entry);
	fd_close(&lock);
	while (!outcome.told)
		loop_turn(loop, -1);
	helper_free(helper);
	assert_int_equal(outcome.code, ERR_NOT_FOUND);
}

static void leftovers_go_unless_somebody_still_makes_them(void **state)
{
	cleanup_free char *dead = make_entry(".new-", 10, LONG_AGO_S);
	cleanup_free char *half = make_entry(".old-", 10, LONG_AGO_S);
	cleanup_free char *made = make_entry(".new-", 10, LONG_AGO_S);
	cleanup_fd int lock = openat(cache_sets_fd(cache), made, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(flock(lock, LOCK_EX), 0);
	trim(1 << 20, dead);
	assert_false(is_there(half));
	assert_true(is_there(made));
}

static void records_without_an_entry_go(void **state)
{
	const struct timespec times[2] = { { .tv_sec = LONG_AGO_S }, { .tv_sec = LONG_AGO_S } };
	cleanup_free char *path = make_half_record();
	cleanup_free char *fresh = xasprintf("%s2", path);

	(void)state;
	scratch_write(scratch.fd, "home/packages/index/0123", "{\"entry\": \"aaaaaaaaaaaaaaaa\"}");
	assert_int_equal(utimensat(scratch.fd, "home/packages/index/0123", times, 0), 0);
	scratch_write(scratch.fd, fresh, "somebody writes this one");
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 0);
	wait_until_gone(path);
	wait_until_gone("home/packages/index/0123");
	assert_true(scratch_exists(scratch.fd, fresh));
}

static void a_wish_while_it_is_at_work_is_not_lost(void **state)
{
	cleanup_free char *entry = make_entry("", 1000, LONG_AGO_S);
	cleanup_free char *path = xasprintf("home/packages/sets/%s", entry);

	(void)state;
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 1000);
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 0);
	wait_until_gone(path);
}

static void the_end_does_not_wait_for_the_trimmer(void **state)
{
	(void)state;
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 0);
	cache_trim(cache, loop, TEST_BUILD "/ptycell-files", 0);
	cache_free(cache);
	cache = NULL;
	cache_free(NULL);
}

static void a_folder_that_cannot_be_had_is_told(void **state)
{
	struct err err = { 0 };

	(void)state;
	cache_free(cache);
	cache = NULL;
	assert_int_equal(renameat(scratch.fd, "home/packages", scratch.fd, "away"), 0);
	scratch_write(scratch.fd, "home/packages", "a file");
	assert_null(cache_open(home, &err));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(unlinkat(scratch.fd, "home/packages", 0), 0);
	assert_int_equal(symlinkat("../away", scratch.fd, "home/packages"), 0);
	assert_null(cache_open(home, &err));
	assert_int_equal(unlinkat(scratch.fd, "home/packages", 0), 0);
}

static void it_exists_from_its_first_opening_on(void **state)
{
	struct err err;
	cleanup_free char *path = xasprintf("%s/other", scratch.path);
	struct home *other = home_open(path, &err);

	(void)state;
	assert_non_null(other);
	assert_false(cache_exists(other));
	cache_free(cache);
	cache = cache_open(other, &err);
	assert_non_null(cache);
	assert_true(cache_exists(other));
	home_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_is_found_by_its_whole_key_while_its_entry_is_there),
		TEST(a_record_that_is_none_is_not_there),
		TEST(what_was_unused_for_longest_goes_first_and_only_as_much_as_must),
		TEST(a_last_use_that_is_yet_to_come_counts_as_long_ago),
		TEST(what_is_in_use_stays),
		TEST(what_is_used_after_it_was_looked_at_stays),
		TEST(an_entry_that_goes_before_it_is_locked_is_not_there),
		TEST(leftovers_go_unless_somebody_still_makes_them),
		TEST(records_without_an_entry_go),
		TEST(a_wish_while_it_is_at_work_is_not_lost),
		TEST(the_end_does_not_wait_for_the_trimmer),
		TEST(a_folder_that_cannot_be_had_is_told),
		TEST(it_exists_from_its_first_opening_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
