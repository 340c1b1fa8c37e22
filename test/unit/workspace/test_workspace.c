/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <dirent.h>
#include <errno.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"
#include "workspace/home.h"

static void assert_open_fails(const struct fixture *f, const char *path, enum err_code code)
{
	struct err err = { 0 };
	off_t size = -7;
	int fd = workspace_open_read(f->workspace, path, &size, &err);

	if (fd >= 0 || err.code != code)
		fail_msg("'%s': got %s (%s), expected %s", path, err_code_name(err.code), err.msg,
			 err_code_name(code));
	assert_int_equal(size, -7);
}

static void a_workspace_has_private_folders(void **state)
{
	static const char *const names[] = { "data", "spool", "data/input", "data/output" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[512];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s/%s", workspace_name(f->workspace), names[i]);
		assert_int_equal(fstatat(home_fd(f->home), path, &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_true(S_ISDIR(st.st_mode));
		/* The spool is read by sessions that are users of their own; nobody else gets
		 * there. */
		assert_int_equal(st.st_mode & 07777, str_eq(names[i], "spool") ? 0755 : 0700);
	}
}

/* How many sessions' folders there are. */
static int count_folders(const struct fixture *f)
{
	const char *end = strrchr(workspace_name(f->workspace), '/');
	cleanup_free char *sessions =
		strndup(workspace_name(f->workspace), (size_t)(end - workspace_name(f->workspace)));
	DIR *dir = fdopendir(openat(home_fd(f->home), sessions, O_RDONLY | O_DIRECTORY));
	int count = -2; /* . and .. */

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	(void)closedir(dir);
	return count;
}

static int lowest_free(void)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)close(fd);
	return fd;
}

static void one_that_cannot_be_made_leaves_no_folder(void **state)
{
	struct fixture *f = *state;
	struct workspace *made = NULL;
	struct rlimit all;
	int failures = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (rlim_t limit = (rlim_t)lowest_free(); made == NULL; limit++) {
		struct rlimit few = { .rlim_cur = limit, .rlim_max = all.rlim_max };
		struct err err;

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		made = workspace_new(f->home, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_int_equal(count_folders(f), made == NULL ? 1 : 2);
		failures += made == NULL;
	}
	assert_true(failures > 3);
	assert_int_equal(workspace_make_tmp(made, &(struct err){ 0 }), 0);
	workspace_discard(made);
	assert_int_equal(count_folders(f), 1);
}

static void paths_name_the_same_folders_as_descriptors(void **state)
{
	struct fixture *f = *state;
	struct stat by_path;
	struct stat by_fd;

	assert_int_equal(stat(workspace_data_path(f->workspace), &by_path), 0);
	assert_int_equal(fstat(f->data, &by_fd), 0);
	assert_int_equal(by_path.st_ino, by_fd.st_ino);
	assert_int_equal(stat(workspace_spool_path(f->workspace), &by_path), 0);
	assert_int_equal(fstat(workspace_spool_fd(f->workspace), &by_fd), 0);
	assert_int_equal(by_path.st_ino, by_fd.st_ino);
}

static void what_root_writes_is_the_sessions_own_users(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	struct err err;

	if (geteuid() != 0)
		skip();
	assert_int_equal(fchown(f->data, 12345, 12345), 0);
	assert_int_equal(workspace_write(f->workspace, "a/b", "x", 1, false, &err), 0);
	assert_int_equal(fstatat(f->data, "a", &st, 0), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(fstatat(f->data, "a/b", &st, 0), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 12345);
}

static void a_regular_file_is_read(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	off_t size = 0;
	int fd;

	scratch_write(f->data, "output/a.txt", "hello");
	fd = workspace_open_read(f->workspace, "output/a.txt", &size, &err);
	assert_true(fd >= 0);
	assert_int_equal(size, 5);
	(void)close(fd);
}

static void paths_that_climb_or_are_absolute_are_invalid(void **state)
{
	static const char *const paths[] = {
		"",  "/etc/passwd", "..", "../data/x", "input/../../x", "a//b", "a/./b",
		".", "input/..",    "a/", "/",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct err err = { 0 };

		assert_open_fails(f, paths[i], ERR_INVALID);
		assert_int_equal(workspace_write(f->workspace, paths[i], "x", 1, true, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void overlong_paths_are_invalid(void **state)
{
	struct fixture *f = *state;
	char *path = calloc(1, 6000);

	memset(path, 'a', 256);
	assert_open_fails(f, path, ERR_INVALID);
	for (size_t i = 0; i < 5000; i += 2)
		memcpy(path + i, "a/", 2);
	path[5001] = 'a';
	assert_open_fails(f, path, ERR_INVALID);
	free(path);
}

static void a_missing_file_is_not_found(void **state)
{
	assert_open_fails(*state, "output/none", ERR_NOT_FOUND);
	assert_open_fails(*state, "none/none", ERR_NOT_FOUND);
}

/* AR05, CB-23 */
static void links_are_denied(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->scratch.fd, "secret", "secret");
	scratch_write(f->data, "inside", "x");
	assert_int_equal(symlinkat("../../../../../secret", f->data, "relative"), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->data, "absolute"), 0);
	assert_int_equal(symlinkat("inside", f->data, "harmless"), 0);
	assert_int_equal(symlinkat("nowhere", f->data, "dangling"), 0);
	assert_int_equal(symlinkat("/proc/self/fd/0", f->data, "magic"), 0);
	assert_int_equal(symlinkat("/etc", f->data, "folder"), 0);
	assert_open_fails(f, "relative", ERR_DENIED);
	assert_open_fails(f, "absolute", ERR_DENIED);
	assert_open_fails(f, "harmless", ERR_DENIED);
	assert_open_fails(f, "dangling", ERR_DENIED);
	assert_open_fails(f, "magic", ERR_DENIED);
	assert_open_fails(f, "folder/passwd", ERR_DENIED);
}

/* AR07 */
static void other_kinds_are_denied_without_blocking(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifoat(f->data, "fifo", 0600), 0);
	assert_open_fails(f, "fifo", ERR_DENIED);
	assert_open_fails(f, "output", ERR_DENIED);
	scratch_write(f->data, "file", "");
	assert_open_fails(f, "file/below", ERR_DENIED);
}

static void writing_makes_missing_folders(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct stat st;
	char *text;

	assert_int_equal(workspace_write(f->workspace, "input/a/b/c.txt", "abc", 3, false, &err),
			 0);
	text = scratch_read(f->data, "input/a/b/c.txt");
	assert_string_equal(text, "abc");
	free(text);
	assert_int_equal(fstatat(f->data, "input/a/b/c.txt", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void an_existing_name_is_busy_without_overwrite(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	char *text;

	scratch_write(f->data, "input/a", "old");
	assert_int_equal(workspace_write(f->workspace, "input/a", "new", 3, false, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	text = scratch_read(f->data, "input/a");
	assert_string_equal(text, "old");
	free(text);
	assert_int_equal(workspace_write(f->workspace, "input/a", "new", 3, true, &err), 0);
	text = scratch_read(f->data, "input/a");
	assert_string_equal(text, "new");
	free(text);
}

static void overwriting_replaces_a_link_and_not_its_target(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct stat st;
	char *text;

	scratch_write(f->scratch.fd, "victim", "untouched");
	assert_int_equal(symlinkat("../../../../../../victim", f->data, "input/a"), 0);
	assert_int_equal(workspace_write(f->workspace, "input/a", "new", 3, true, &err), 0);
	assert_int_equal(fstatat(f->data, "input/a", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	text = scratch_read(f->scratch.fd, "victim");
	assert_string_equal(text, "untouched");
	free(text);
}

static void writing_through_a_linked_folder_is_denied(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	assert_int_equal(mkdirat(f->scratch.fd, "outside", 0700), 0);
	assert_int_equal(unlinkat(f->data, "input", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("../../../../../outside", f->data, "input"), 0);
	assert_int_equal(workspace_write(f->workspace, "input/x", "x", 1, true, &err), -1);
	assert_int_equal(err.code, ERR_DENIED);
	assert_false(scratch_exists(f->scratch.fd, "outside/x"));
}

static void a_folder_in_the_way_is_denied_and_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	assert_int_equal(mkdirat(f->data, "input/a", 0700), 0);
	assert_int_equal(workspace_write(f->workspace, "input/a", "x", 1, true, &err), -1);
	assert_int_equal(err.code, ERR_DENIED);
	assert_int_equal(unlinkat(f->data, "input/a", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(f->data, "input", AT_REMOVEDIR), 0);
}

static void a_full_disk_is_a_system_error(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct rlimit limit = { .rlim_cur = 10, .rlim_max = 10 };
		struct err err = { 0 };
		int result;

		(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
		(void)setrlimit(RLIMIT_FSIZE, &limit);
		result = workspace_write(f->workspace, "input/a", "more than ten", 13, false, &err);
		_exit(result == -1 && err.code == ERR_SYSTEM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(unlinkat(f->data, "input", AT_REMOVEDIR), 0);
}

/* Exchanges a file with a link to a secret as fast as it can. */
static pid_t start_swapper(int dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)renameat2(dir, "a", dir, "b", RENAME_EXCHANGE);
	}
	return pid;
}

/* AR09 */
static void a_racing_swap_of_file_and_link_never_gives_the_links_target(void **state)
{
	struct fixture *f = *state;
	pid_t pid;
	int opened = 0;
	int denied = 0;

	scratch_write(f->scratch.fd, "secret", "secret");
	scratch_write(f->data, "a", "mine");
	assert_int_equal(symlinkat("../../../../../secret", f->data, "b"), 0);
	pid = start_swapper(f->data);
	for (int i = 0; i < 200000 && (i < 2000 || opened == 0 || denied == 0); i++) {
		struct err err = { 0 };
		char text[16] = "";
		int fd = workspace_open_read(f->workspace, "a", NULL, &err);

		if (fd < 0) {
			assert_int_equal(err.code, ERR_DENIED);
			denied++;
			continue;
		}
		assert_int_equal(read(fd, text, sizeof(text)), 4);
		assert_string_equal(text, "mine");
		(void)close(fd);
		opened++;
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_true(opened > 0);
	assert_true(denied > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(a_workspace_has_private_folders),
		FIXTURE_TEST(one_that_cannot_be_made_leaves_no_folder),
		FIXTURE_TEST(paths_name_the_same_folders_as_descriptors),
		FIXTURE_TEST(what_root_writes_is_the_sessions_own_users),
		FIXTURE_TEST(a_regular_file_is_read),
		FIXTURE_TEST(paths_that_climb_or_are_absolute_are_invalid),
		FIXTURE_TEST(overlong_paths_are_invalid),
		FIXTURE_TEST(a_missing_file_is_not_found),
		FIXTURE_TEST(links_are_denied),
		FIXTURE_TEST(other_kinds_are_denied_without_blocking),
		FIXTURE_TEST(writing_makes_missing_folders),
		FIXTURE_TEST(an_existing_name_is_busy_without_overwrite),
		FIXTURE_TEST(overwriting_replaces_a_link_and_not_its_target),
		FIXTURE_TEST(writing_through_a_linked_folder_is_denied),
		FIXTURE_TEST(a_folder_in_the_way_is_denied_and_leaves_nothing),
		FIXTURE_TEST(a_full_disk_is_a_system_error),
		FIXTURE_TEST(a_racing_swap_of_file_and_link_never_gives_the_links_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
