/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/keeplog.h"

#include "workspace/random_name.h"
#include "workspace/removal.h"
#include "workspace/rescue_record.h"

#define HELPER TEST_BUILD "/ptycell-files"

enum { RSS_MAX_KB = 20 * 1024, DEPTH = 20000 };

struct outcome {
	bool told;
	bool ok;
};

static void on_done(void *data, bool ok)
{
	struct outcome *outcome = data;

	outcome->told = true;
	outcome->ok = ok;
}

/* Removes `name` and turns the loop until told. */
static bool run(struct fixture *f, const char *name)
{
	struct outcome outcome = { .told = false };

	removal_start(f->loop, f->home, HELPER, name, on_done, &outcome);
	while (!outcome.told)
		loop_turn(f->loop, -1);
	return outcome.ok;
}

static bool remove_workspace(struct fixture *f)
{
	return run(f, workspace_name(f->workspace));
}

static size_t count_entries(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(dir);
	return count;
}

/* Only the server's own folder is left, and in it no session. */
static void assert_home_clean(const struct fixture *f)
{
	assert_int_equal(count_entries(home_fd(f->home)), 1);
	assert_int_equal(count_entries(home_sessions_fd(f->home)), 0);
}

static void make_depth(int dir_fd, int depth)
{
	int fd = dup(dir_fd);

	for (int i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
	scratch_write(fd, "bottom", "x");
	(void)close(fd);
}

static void make_entries(int dir_fd, int count)
{
	for (int i = 0; i < count; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(mknodat(dir_fd, name, S_IFREG | 0600, 0), 0);
	}
}

/* The largest of all helpers that have ended so far. */
static void assert_helpers_stayed_small(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	print_message("peak of the helpers: %ld KB\n", usage.ru_maxrss);
	if (usage.ru_maxrss >= RSS_MAX_KB)
		fail_msg("a helper took %ld KB", usage.ru_maxrss);
}

static void a_workspace_is_removed_whole(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->data, "input/a", "x");
	scratch_write(workspace_spool_fd(f->workspace), "cell-1-python.txt", "x");
	assert_true(remove_workspace(f));
	assert_home_clean(f);
}

static void the_name_is_gone_at_once(void **state)
{
	struct fixture *f = *state;

	removal_start(f->loop, f->home, HELPER, workspace_name(f->workspace), NULL, NULL);
	assert_int_equal(count_entries(home_sessions_fd(f->home)), 0);
}

/* The next server saves what the last one had not, and removes the folder then. */
static void a_folder_whose_results_are_due_stays_once(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *name = xstrdup(".remove-aaaabbbbccccdddd");
	int journal = workspace_journal_fd(f->workspace);

	rescue_record_write(journal, "/nonexistent", "trip", NULL, NULL);
	keeplog_set_due(journal, true);
	assert_int_equal(
		renameat(home_fd(f->home), workspace_name(f->workspace), home_fd(f->home), name),
		0);
	assert_true(run(f, name));
	assert_true(scratch_exists(journal, RESCUE_RECORD));
	assert_true(run(f, name));
	assert_home_clean(f);
}

/* Session code can write the records of a session into its own folder, which becomes a spent one.
 */
static void nothing_is_due_in_a_folder_that_code_made(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };
	cleanup_free char *name = xasprintf("%s/spent", workspace_name(f->workspace));
	int journal = -1;
	int held;

	assert_int_equal(mkdirat(home_fd(f->home), name, 0700), 0);
	mem_cleanup(&name);
	name = xasprintf("%s/spent/journal", workspace_name(f->workspace));
	assert_int_equal(mkdirat(home_fd(f->home), name, 0700), 0);
	journal = openat(home_fd(f->home), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rescue_record_write(journal, "/nonexistent", "trip", NULL, NULL);
	keeplog_set_due(journal, true);
	mem_cleanup(&name);
	name = xasprintf("%s/spent/data", workspace_name(f->workspace));
	assert_int_equal(mkdirat(home_fd(f->home), name, 0700), 0);
	held = openat(home_fd(f->home), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX), 0);
	mem_cleanup(&name);
	name = xasprintf("%s/spent", workspace_name(f->workspace));
	removal_start_spent(f->loop, f->home, HELPER, name, on_done, &outcome);
	while (!outcome.told)
		loop_turn(f->loop, -1);
	assert_true(outcome.ok);
	(void)close(held);
	(void)close(journal);
	assert_true(remove_workspace(f));
	assert_home_clean(f);
}

static void removing_what_is_gone_succeeds(void **state)
{
	struct fixture *f = *state;

	assert_true(remove_workspace(f));
	assert_true(remove_workspace(f));
}

static void a_name_that_climbs_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_false(run(f, "../x"));
	assert_false(run(f, "/tmp"));
	assert_false(run(f, ""));
}

static void a_helper_that_is_missing_is_told_from_the_loop(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };

	removal_start(f->loop, f->home, "/nonexistent/ptycell-files", workspace_name(f->workspace),
		      on_done, &outcome);
	assert_false(outcome.told);
	loop_turn(f->loop, 0);
	assert_true(outcome.told);
	assert_false(outcome.ok);
}

static void links_are_removed_and_not_followed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdirat(f->scratch.fd, "victim", 0700), 0);
	scratch_write(f->scratch.fd, "victim/file", "x");
	assert_int_equal(symlinkat(f->scratch.path, f->data, "folder"), 0);
	assert_int_equal(symlinkat("../../../../../victim", f->data, "output/victim"), 0);
	assert_int_equal(symlinkat("../../../../../victim/file", f->data, "output/file"), 0);
	assert_int_equal(mkfifoat(f->data, "fifo", 0), 0);
	assert_true(remove_workspace(f));
	assert_home_clean(f);
	assert_true(scratch_exists(f->scratch.fd, "victim/file"));
}

static void any_depth_is_removed_in_constant_memory(void **state)
{
	struct fixture *f = *state;

	make_depth(f->data, DEPTH);
	assert_true(remove_workspace(f));
	assert_home_clean(f);
	assert_helpers_stayed_small();
}

/* It waits for who locks the folder, and the loop does not wait for it. */
static void many_entries_are_removed_while_the_loop_turns(void **state)
{
	struct fixture *f = *state;
	struct outcome outcome = { .told = false };

	make_entries(f->data, 5000);
	assert_int_equal(flock(f->data, LOCK_SH), 0);
	removal_start(f->loop, f->home, HELPER, workspace_name(f->workspace), on_done, &outcome);
	for (int i = 0; i < 10; i++)
		loop_turn(f->loop, 0);
	assert_false(outcome.told);
	assert_int_equal(flock(f->data, LOCK_UN), 0);
	while (!outcome.told)
		loop_turn(f->loop, -1);
	assert_true(outcome.ok);
	assert_home_clean(f);
	assert_helpers_stayed_small();
}

static void many_nested_folders_are_removed(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 60; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "output/%d", i);
		assert_int_equal(mkdirat(f->data, name, 0700), 0);
		for (int j = 0; j < 20; j++) {
			(void)snprintf(name, sizeof(name), "output/%d/%d", i, j);
			assert_int_equal(mkdirat(f->data, name, 0700), 0);
			(void)snprintf(name, sizeof(name), "output/%d/%d/file", i, j);
			scratch_write(f->data, name, "x");
		}
	}
	assert_true(remove_workspace(f));
	assert_home_clean(f);
}

/* Root passes over modes, so a user does it. */
static void run_as_user(const char *path, void (*body)(const char *path))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (geteuid() == 0 &&
		    (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		body(path);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void check(bool ok, int code)
{
	if (!ok)
		_exit(code);
}

/* The build may lie in a home that the user may not enter. */
static void copy_helper(int folder)
{
	cleanup_fd int from = open(HELPER, O_RDONLY | O_CLOEXEC);
	cleanup_fd int to =
		openat(folder, "ptycell-files", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;

	assert_int_equal(fstat(from, &st), 0);
	assert_int_equal(sendfile(to, from, NULL, (size_t)st.st_size), st.st_size);
	assert_int_equal(fchmod(to, 0755), 0);
}

static void lock_and_remove(const char *path)
{
	static const char *const folders[] = { "a", "a/b", "a/b/c", "x", "x/y" };
	struct err err;
	struct loop *loop = loop_new(clock_ms, &err);
	struct home *home = home_open(path, &err);
	struct workspace *workspace = home == NULL ? NULL : workspace_new(home, &err);
	struct outcome outcome = { .told = false };
	char helper[160];
	int data;

	(void)snprintf(helper, sizeof(helper), "%s/../ptycell-files", path);
	check(loop != NULL && workspace != NULL, 3);
	data = workspace_data_fd(workspace);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		check(mkdirat(data, folders[i], 0700) == 0, 4);
	scratch_write(data, "a/b/c/file", "x");
	scratch_write(data, "x/y/file", "x");
	check(fchmodat(data, "x/y", 0500, 0) == 0 && fchmodat(data, "x", 0500, 0) == 0, 5);
	for (size_t i = 3; i-- > 0;)
		check(fchmodat(data, folders[i], 0, 0) == 0, 6);
	check(fchmod(data, 0) == 0, 7);
	check(chmod(path, 0700) == 0, 8);
	check(fchmodat(home_fd(home), workspace_name(workspace), 0, 0) == 0, 9);
	removal_start(loop, home, helper, workspace_name(workspace), on_done, &outcome);
	while (!outcome.told)
		loop_turn(loop, -1);
	check(outcome.ok, 11);
	check(count_entries(home_fd(home)) == 1, 12);
	workspace_free(workspace);
	home_close(home);
	loop_free(loop);
}

static void forbidding_modes_are_lifted(void **state)
{
	struct fixture *f = *state;
	char path[128];

	assert_int_equal(fchmod(f->scratch.fd, 0777), 0);
	copy_helper(f->scratch.fd);
	(void)snprintf(path, sizeof(path), "%s/users", f->scratch.path);
	run_as_user(path, lock_and_remove);
}

static int set_immutable(int dir_fd, const char *name, bool on)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	int flags = on ? FS_IMMUTABLE_FL : 0;
	int result = ioctl(fd, FS_IOC_SETFLAGS, &flags);

	(void)close(fd);
	return result;
}

static void what_cannot_be_removed_is_told_and_the_rest_goes(void **state)
{
	struct fixture *f = *state;
	int top = openat(home_fd(f->home), workspace_name(f->workspace), O_RDONLY | O_CLOEXEC);

	scratch_write(f->data, "input/fixed", "x");
	scratch_write(f->data, "input/other", "x");
	make_depth(f->data, 50);
	if (set_immutable(f->data, "input/fixed", true) < 0)
		skip();
	assert_false(remove_workspace(f));
	assert_int_equal(count_entries(home_fd(f->home)), 2);
	assert_true(count_entries(top) == 1);
	/* What was left can be found and removed by the next try. */
	for (char *name; (name = home_take_stale(f->home)) != NULL; free(name))
		fail_msg("a list made before the removal has '%s'", name);
	(void)close(top);
	top = openat(home_fd(f->home), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(top);

	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		char path[600];
		int folder;

		if (!random_name_matches(entry->d_name, HOME_REMOVE_PREFIX))
			continue;
		folder = openat(top, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (struct dirent *sub; folder >= 0;) {
			DIR *inner = fdopendir(folder);

			while ((sub = readdir(inner)) != NULL) {
				(void)snprintf(path, sizeof(path), "%s/fixed", sub->d_name);
				(void)set_immutable(folder, path, false);
			}
			(void)closedir(inner);
			folder = -1;
		}
		assert_true(run(f, entry->d_name));
	}
	(void)closedir(dir);
	assert_home_clean(f);
}

/* Moves folders in and out of the tree, and swaps one with a link, as fast as it can. */
static pid_t start_renamer(int data, int outside)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 0;; i++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "%u", i % 500);
			(void)renameat(data, name, outside, "moving");
			(void)renameat(outside, "moving", data, name);
			(void)renameat2(data, name, data, "link", RENAME_EXCHANGE);
		}
	}
	return pid;
}

static void a_racing_renamer_leads_nowhere(void **state)
{
	struct fixture *f = *state;
	int outside;
	pid_t pid;

	assert_int_equal(mkdirat(f->scratch.fd, "outside", 0700), 0);
	assert_int_equal(mkdirat(f->scratch.fd, "victim", 0700), 0);
	scratch_write(f->scratch.fd, "victim/file", "x");
	scratch_write(f->scratch.fd, "outside/file", "x");
	outside = openat(f->scratch.fd, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(symlinkat("../../../../../victim", f->data, "link"), 0);
	for (int i = 0; i < 500; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(mkdirat(f->data, name, 0700), 0);
		(void)snprintf(name, sizeof(name), "%d/below", i);
		assert_int_equal(mkdirat(f->data, name, 0700), 0);
		(void)snprintf(name, sizeof(name), "%d/below/file", i);
		scratch_write(f->data, name, "x");
	}
	pid = start_renamer(f->data, outside);
	assert_true(remove_workspace(f));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_home_clean(f);
	assert_true(scratch_exists(f->scratch.fd, "victim/file"));
	assert_true(scratch_exists(f->scratch.fd, "outside/file"));
	assert_helpers_stayed_small();
	(void)close(outside);
}

static void a_stale_server_is_removed_by_the_next(void **state)
{
	struct fixture *f = *state;
	struct home *next;
	struct err err = { 0 };
	struct outcome outcome = { .told = false };
	char path[128];
	char *taken;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/other", f->scratch.path);
	pid = fork();
	if (pid == 0) {
		struct home *home = home_open(path, &err);

		check(home != NULL && workspace_new(home, &err) != NULL, 1);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	next = home_open(path, &err);
	assert_non_null(next);
	taken = home_take_stale(next);
	assert_non_null(taken);
	removal_start(f->loop, next, HELPER, taken, on_done, &outcome);
	while (!outcome.told)
		loop_turn(f->loop, -1);
	assert_true(outcome.ok);
	free(taken);
	home_close(next);
	assert_int_equal(rmdir(path), 0);
}

static void closing_the_home_waits_for_its_removals(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	char path[128];
	struct home *home;

	(void)snprintf(path, sizeof(path), "%s/other", f->scratch.path);
	home = home_open(path, &err);
	assert_non_null(home);
	for (int i = 0; i < 5; i++) {
		struct workspace *workspace = workspace_new(home, &err);

		assert_non_null(workspace);
		removal_start(f->loop, home, HELPER, workspace_name(workspace), NULL, NULL);
		workspace_free(workspace);
	}
	home_close(home);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_workspace_is_removed_whole),
		FIXTURE_TEST(the_name_is_gone_at_once),
		FIXTURE_TEST(a_folder_whose_results_are_due_stays_once),
		FIXTURE_TEST(nothing_is_due_in_a_folder_that_code_made),
		FIXTURE_TEST(removing_what_is_gone_succeeds),
		FIXTURE_TEST(a_name_that_climbs_is_refused),
		FIXTURE_TEST(a_helper_that_is_missing_is_told_from_the_loop),
		FIXTURE_TEST(links_are_removed_and_not_followed),
		FIXTURE_TEST(any_depth_is_removed_in_constant_memory),
		FIXTURE_TEST(many_entries_are_removed_while_the_loop_turns),
		FIXTURE_TEST(many_nested_folders_are_removed),
		FIXTURE_TEST(forbidding_modes_are_lifted),
		FIXTURE_TEST(what_cannot_be_removed_is_told_and_the_rest_goes),
		FIXTURE_TEST(a_racing_renamer_leads_nowhere),
		FIXTURE_TEST(a_stale_server_is_removed_by_the_next),
		FIXTURE_TEST(closing_the_home_waits_for_its_removals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
