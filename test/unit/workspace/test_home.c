/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "scratch.h"
#include "workspace/home.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

struct fixture {
	struct scratch scratch;
	char path[128]; /* of the home, not made yet */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	scratch_init(&f->scratch);
	(void)snprintf(f->path, sizeof(f->path), "%s/home", f->scratch.path);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	scratch_release(&f->scratch);
	free(f);
	return 0;
}

static struct home *open_home(const struct fixture *f)
{
	struct err err = { 0 };
	struct home *home = home_open(f->path, &err);

	if (home == NULL)
		fail_msg("home_open: %s", err.msg);
	return home;
}

static size_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(dir);
	return count;
}

static void assert_refused(const struct fixture *f, enum err_code code, const char *advice)
{
	struct err err = { 0 };

	assert_null(home_open(f->path, &err));
	assert_int_equal(err.code, code);
	if (strstr(err.msg, advice) == NULL)
		fail_msg("no '%s' in: %s", advice, err.msg);
}

static void a_home_is_made_private_with_its_parents(void **state)
{
	struct fixture *f = *state;
	struct home *home;
	struct stat st;

	(void)snprintf(f->path, sizeof(f->path), "%s/.cache/ptycell/", f->scratch.path);
	home = open_home(f);
	assert_int_equal(fstat(home_fd(home), &st), 0);
	assert_int_equal(st.st_mode & 07777, geteuid() == 0 ? 0711 : 0700);
	assert_true(random_name_matches(home_server_name(home), "server-"));
	home_close(home);
}

static void closing_a_home_leaves_an_empty_folder(void **state)
{
	struct fixture *f = *state;

	home_close(open_home(f));
	assert_int_equal(count_entries(f->path), 0);
}

static void the_servers_folder_is_locked(void **state)
{
	struct fixture *f = *state;
	struct home *home = open_home(f);
	char lock[128];
	int fd;

	(void)snprintf(lock, sizeof(lock), "%s/lock", home_server_name(home));
	fd = openat(home_fd(home), lock, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	(void)close(fd);
	home_close(home);
}

static void a_relative_home_is_invalid(void **state)
{
	struct fixture *f = *state;

	(void)snprintf(f->path, sizeof(f->path), "cache/ptycell");
	assert_refused(f, ERR_INVALID, "absolute");
}

static void a_symlink_as_home_is_denied(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkdirat(f->scratch.fd, "real", 0700), 0);
	assert_int_equal(symlinkat("real", f->scratch.fd, "home"), 0);
	assert_refused(f, ERR_DENIED, "PTYCELL_HOME");
}

static void a_file_as_home_is_denied(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->scratch.fd, "home", "");
	assert_refused(f, ERR_DENIED, "PTYCELL_HOME");
}

static void a_home_open_to_others_is_denied_with_the_command_that_helps(void **state)
{
	static const mode_t modes[] = { 0755, 0770, 0704, 0702, 01777 };
	struct fixture *f = *state;
	char advice[256];

	(void)snprintf(advice, sizeof(advice), "chmod 700 '%s'", f->path);
	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(f->path, modes[i]), 0);
		assert_refused(f, ERR_DENIED, advice);
	}
	assert_int_equal(chmod(f->path, 0700), 0);
	home_close(open_home(f));
}

static void a_closed_home_of_root_lets_its_sessions_through(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	home_close(open_home(f));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0711 : 0700);
}

static void a_home_below_a_link_is_known_by_its_own_path(void **state)
{
	struct fixture *f = *state;
	char path[256];
	char real[256];
	struct home *home;
	struct err err;

	(void)snprintf(path, sizeof(path), "%s/link//./home", f->scratch.path);
	(void)snprintf(real, sizeof(real), "%s/real/home", f->scratch.path);
	assert_int_equal(mkdirat(f->scratch.fd, "real", 0700), 0);
	assert_int_equal(symlinkat("real", f->scratch.fd, "link"), 0);
	home = home_open(path, &err);
	assert_non_null(home);
	assert_string_equal(home_path(home), real);
	home_close(home);
}

static void a_home_of_another_user_is_denied(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	assert_int_equal(chown(f->path, 65534, 65534), 0);
	assert_refused(f, ERR_DENIED, "another user");
}

static void a_home_that_cannot_be_made_is_a_system_error(void **state)
{
	struct fixture *f = *state;

	(void)snprintf(f->path, sizeof(f->path), "/proc/ptycell");
	assert_refused(f, ERR_SYSTEM, "/proc/ptycell' cannot be made");
	assert_refused(f, ERR_SYSTEM, "set PTYCELL_HOME");
}

static void two_servers_share_a_home(void **state)
{
	struct fixture *f = *state;
	struct home *first = open_home(f);
	struct home *second = open_home(f);

	assert_null(home_take_stale(second));
	assert_null(home_take_stale(first));
	assert_int_equal(count_entries(f->path), 2);
	home_close(first);
	home_close(second);
	assert_int_equal(count_entries(f->path), 0);
}

/* A server with one session, killed. Its folder's name is written to `name`. */
static void kill_a_server(const struct fixture *f)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct err err = { 0 };
		struct home *home = home_open(f->path, &err);

		if (home == NULL || workspace_new(home, &err) == NULL)
			_exit(1);
		(void)raise(SIGKILL);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void a_killed_servers_folder_is_taken_once(void **state)
{
	struct fixture *f = *state;
	struct home *first;
	struct home *second;
	char *taken;
	char path[256];

	kill_a_server(f);
	first = open_home(f);
	second = open_home(f);
	taken = home_take_stale(first);
	assert_non_null(taken);
	assert_true(random_name_matches(taken, HOME_REMOVE_PREFIX));
	(void)snprintf(path, sizeof(path), "%s/sessions", taken);
	assert_true(scratch_exists(home_fd(first), path));
	assert_null(home_take_stale(second));
	assert_null(home_take_stale(first));
	free(taken);
	home_close(first);
	home_close(second);
}

static void a_removal_that_was_cut_short_is_taken_up(void **state)
{
	struct fixture *f = *state;
	struct home *home;
	char *taken;
	int fd;

	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	assert_int_equal(mkdirat(f->scratch.fd, "home/.remove-aaaabbbbccccdddd", 0700), 0);
	fd = openat(f->scratch.fd, "home/.remove-aaaabbbbccccdddd", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	home = open_home(f);
	assert_null(home_take_stale(home));
	home_close(home);
	(void)close(fd);
	home = open_home(f);
	taken = home_take_stale(home);
	assert_non_null(taken);
	assert_false(scratch_exists(home_fd(home), ".remove-aaaabbbbccccdddd"));
	free(taken);
	home_close(home);
}

static void a_folder_without_a_lock_is_taken_only_when_old(void **state)
{
	static const char *const names[] = { "server-aaaabbbbccccdddd", ".new-aaaabbbbccccdddd" };
	struct fixture *f = *state;

	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct timespec times[2] = { { .tv_sec = time(NULL) - 3600 },
					     { .tv_sec = time(NULL) - 3600 } };
		struct home *home = open_home(f);
		char *taken;

		home_close(home);
		home = open_home(f);
		assert_int_equal(mkdirat(home_fd(home), names[i], 0700), 0);
		home_close(home);
		home = open_home(f);
		assert_null(home_take_stale(home));
		assert_int_equal(utimensat(home_fd(home), names[i], times, 0), 0);
		home_close(home);
		home = open_home(f);
		taken = home_take_stale(home);
		assert_non_null(taken);
		assert_int_equal(unlinkat(home_fd(home), taken, AT_REMOVEDIR), 0);
		free(taken);
		home_close(home);
	}
}

/* As root reads every folder, this is about ordinary users. */
static void a_folder_that_is_closed_or_of_a_time_to_come_is_taken(void **state)
{
	const struct timespec past[2] = { { .tv_sec = time(NULL) - 3600 },
					  { .tv_sec = time(NULL) - 3600 } };
	const struct timespec future[2] = { { .tv_sec = time(NULL) + 3600 },
					    { .tv_sec = time(NULL) + 3600 } };
	const struct timespec *const times[] = { past, future, past };
	const mode_t modes[] = { 0, 0700, 0700 };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct home *home = open_home(f);
		char *taken;

		assert_int_equal(mkdirat(home_fd(home), "server-aaaabbbbccccdddd", 0700), 0);
		assert_int_equal(utimensat(home_fd(home), "server-aaaabbbbccccdddd", times[i], 0),
				 0);
		assert_int_equal(fchmodat(home_fd(home), "server-aaaabbbbccccdddd", modes[i], 0),
				 0);
		home_close(home);
		home = open_home(f);
		taken = home_take_stale(home);
		assert_non_null(taken);
		assert_int_equal(unlinkat(home_fd(home), taken, AT_REMOVEDIR), 0);
		free(taken);
		home_close(home);
	}
}

/*
 * In tier landlock code can change modes and times of its server's folder. As root reads every
 * folder, this is about ordinary users.
 */
static void a_live_servers_folder_is_not_taken_whatever_its_modes(void **state)
{
	static const char *const closed[] = { "", "/lock", "/sessions" };
	const struct timespec past[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct fixture *f = *state;
	struct home *live = open_home(f);

	for (size_t i = 0; i < ARRAY_SIZE(closed); i++) {
		char path[256];
		struct home *other;

		(void)snprintf(path, sizeof(path), "%s%s", home_server_name(live), closed[i]);
		assert_int_equal(utimensat(home_fd(live), home_server_name(live), past, 0), 0);
		assert_int_equal(fchmodat(home_fd(live), path, 0, 0), 0);
		other = open_home(f);
		assert_null(home_take_stale(other));
		home_close(other);
		assert_int_equal(fchmodat(home_fd(live), path, 0700, 0), 0);
	}
	home_close(live);
}

static bool close_sessions(void *data, int fd, const char *server)
{
	char path[256];

	(void)data;
	(void)snprintf(path, sizeof(path), "%s/sessions", server);
	return fchmodat(fd, path, 0, 0) == 0;
}

static void the_sessions_of_a_killed_server_are_found_whatever_their_folders_mode(void **state)
{
	struct fixture *f = *state;
	struct home *home;
	char path[256];
	char *taken;

	kill_a_server(f);
	home = open_home(f);
	assert_true(home_each_server(home_fd(home), close_sessions, NULL));
	taken = home_take_stale(home);
	assert_non_null(taken);
	(void)snprintf(path, sizeof(path), "%s/sessions", taken);
	assert_int_equal(faccessat(home_fd(home), path, R_OK | W_OK | X_OK, 0), 0);
	free(taken);
	home_close(home);
}

static void what_is_not_of_our_pattern_is_left_alone(void **state)
{
	static const char *const names[] = {
		"server-",
		"server-short",
		"server-AAAABBBBCCCCDDDD",
		"server-aaaabbbbccccddddx",
		"other",
		".remove-1",
		"lock",
	};
	struct fixture *f = *state;
	struct home *home;

	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	home = open_home(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

		assert_int_equal(mkdirat(home_fd(home), names[i], 0700), 0);
		assert_int_equal(utimensat(home_fd(home), names[i], times, 0), 0);
	}
	home_close(home);
	home = open_home(f);
	assert_null(home_take_stale(home));
	home_close(home);
}

static void a_symlink_of_our_pattern_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct home *home;

	assert_int_equal(mkdirat(f->scratch.fd, "home", 0700), 0);
	assert_int_equal(mkdirat(f->scratch.fd, "victim", 0700), 0);
	scratch_write(f->scratch.fd, "victim/lock", "");
	assert_int_equal(symlinkat("../victim", f->scratch.fd, "home/server-aaaabbbbccccdddd"), 0);
	home = open_home(f);
	assert_null(home_take_stale(home));
	home_close(home);
	assert_true(scratch_exists(f->scratch.fd, "victim/lock"));
}

static void a_home_with_a_session_left_keeps_its_lock_file(void **state)
{
	struct fixture *f = *state;
	struct home *home = open_home(f);
	struct err err = { 0 };
	struct workspace *workspace = workspace_new(home, &err);
	char *taken;

	assert_non_null(workspace);
	workspace_free(workspace);
	home_close(home);
	home = open_home(f);
	taken = home_take_stale(home);
	assert_non_null(taken);
	free(taken);
	home_close(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_home_is_made_private_with_its_parents),
		TEST(closing_a_home_leaves_an_empty_folder),
		TEST(the_servers_folder_is_locked),
		TEST(a_relative_home_is_invalid),
		TEST(a_symlink_as_home_is_denied),
		TEST(a_file_as_home_is_denied),
		TEST(a_home_open_to_others_is_denied_with_the_command_that_helps),
		TEST(a_closed_home_of_root_lets_its_sessions_through),
		TEST(a_home_below_a_link_is_known_by_its_own_path),
		TEST(a_home_of_another_user_is_denied),
		TEST(a_home_that_cannot_be_made_is_a_system_error),
		TEST(two_servers_share_a_home),
		TEST(a_killed_servers_folder_is_taken_once),
		TEST(a_removal_that_was_cut_short_is_taken_up),
		TEST(a_folder_without_a_lock_is_taken_only_when_old),
		TEST(a_folder_that_is_closed_or_of_a_time_to_come_is_taken),
		TEST(a_live_servers_folder_is_not_taken_whatever_its_modes),
		TEST(the_sessions_of_a_killed_server_are_found_whatever_their_folders_mode),
		TEST(what_is_not_of_our_pattern_is_left_alone),
		TEST(a_symlink_of_our_pattern_is_not_followed),
		TEST(a_home_with_a_session_left_keeps_its_lock_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
