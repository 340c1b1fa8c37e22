/* SPDX-License-Identifier: MIT */
/* Sockets of servers: where they are, who may have them, which of them are left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "control/sockets.h"
#include "scratch.h"

static struct scratch scratch;

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_release(&scratch);
	return 0;
}

static int open_folder(void)
{
	struct err err = { .msg = "" };
	int fd = sockets_open(scratch.fd, true, &err);

	if (fd < 0)
		fail_msg("%s", err.msg);
	return fd;
}

static int bind_one(int folder, char **ret_name)
{
	struct err err = { .msg = "" };
	int fd = sockets_bind(folder, ret_name, &err);

	if (fd < 0)
		fail_msg("%s", err.msg);
	return fd;
}

static size_t count_names(int folder)
{
	size_t count;
	char **names = sockets_list(folder, &count);

	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return count;
}

static enum err_code connecting(int folder, const char *name)
{
	struct err err = { .code = ERR_NONE };
	cleanup_fd int fd = sockets_connect(folder, name, &err);

	assert_true((fd < 0) == (err.code != ERR_NONE));
	return err.code;
}

static void test_the_folder_is_the_users_alone(void **state)
{
	cleanup_fd int folder = open_folder();
	struct stat st;

	(void)state;
	assert_int_equal(fstat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_a_folder_that_is_missing_is_not_made_for_a_command(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(sockets_open(scratch.fd, false, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_false(scratch_exists(scratch.fd, SOCKETS_FOLDER));
}

static void test_a_link_in_its_place_is_refused(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(symlinkat("/tmp", scratch.fd, SOCKETS_FOLDER), 0);
	assert_int_equal(sockets_open(scratch.fd, true, &err), -1);
	assert_int_equal(err.code, ERR_DENIED);
}

static void test_a_folder_that_is_open_to_others_is_refused(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(mkdirat(scratch.fd, SOCKETS_FOLDER, 0700), 0);
	assert_int_equal(fchmodat(scratch.fd, SOCKETS_FOLDER, 0710, 0), 0);
	assert_int_equal(sockets_open(scratch.fd, true, &err), -1);
	assert_int_equal(err.code, ERR_DENIED);
}

static void test_a_home_that_is_gone_is_an_error_of_the_system(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(mkdirat(scratch.fd, "gone", 0700), 0);
	{
		cleanup_fd int gone = openat(scratch.fd, "gone", O_RDONLY | O_CLOEXEC);

		assert_int_equal(unlinkat(scratch.fd, "gone", AT_REMOVEDIR), 0);
		assert_int_equal(sockets_open(gone, true, &err), -1);
		assert_int_equal(err.code, ERR_SYSTEM);
	}
}

static void test_a_socket_has_mode_0600_and_can_be_reached(void **state)
{
	cleanup_fd int folder = open_folder();
	cleanup_free char *name = NULL;
	cleanup_fd int fd = bind_one(folder, &name);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(count_names(folder), 1);
	assert_int_equal(connecting(folder, name), ERR_NONE);
}

/* The path of the folder is longer than the address of a socket can be. */
static void test_a_home_of_any_length_will_do(void **state)
{
	cleanup_fd int home = dup(scratch.fd);

	(void)state;
	for (int i = 0; i < 20; i++) {
		static const char part[] = "a-folder-with-a-name-of-forty-characters";

		assert_int_equal(mkdirat(home, part, 0700), 0);
		int next = openat(home, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		fd_close(&home);
		home = next;
	}
	{
		struct err err;
		cleanup_fd int folder = sockets_open(home, true, &err);
		cleanup_free char *name = NULL;
		cleanup_fd int fd = bind_one(folder, &name);

		assert_true(fd >= 0);
		assert_int_equal(connecting(folder, name), ERR_NONE);
	}
}

static void test_the_socket_of_a_dead_server_is_removed_and_no_other(void **state)
{
	cleanup_fd int folder = open_folder();
	cleanup_free char *dead = NULL;
	cleanup_free char *live = NULL;
	int dead_fd = bind_one(folder, &dead);
	cleanup_fd int live_fd = bind_one(folder, &live);

	(void)state;
	assert_true(live_fd >= 0);
	scratch_write(folder, "notes", "not ours");
	fd_close(&dead_fd);
	assert_int_equal(connecting(folder, dead), ERR_NOT_FOUND);
	sockets_clean(folder);
	assert_false(scratch_exists(folder, dead));
	assert_true(scratch_exists(folder, live));
	assert_true(scratch_exists(folder, "notes"));
	assert_int_equal(count_names(folder), 1);
	assert_int_equal(connecting(folder, dead), ERR_NOT_FOUND);
}

/* A hidden name is that of a server which starts, or of one that was killed as it started. */
static void test_a_hidden_name_is_removed_once_it_is_old(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	cleanup_fd int folder = open_folder();

	(void)state;
	scratch_write(folder, ".new-0123456789abcdef", "");
	sockets_clean(folder);
	assert_true(scratch_exists(folder, ".new-0123456789abcdef"));
	assert_int_equal(utimensat(folder, ".new-0123456789abcdef", old, 0), 0);
	sockets_clean(folder);
	assert_false(scratch_exists(folder, ".new-0123456789abcdef"));
}

static void test_a_server_that_takes_no_connection_is_busy_and_not_dead(void **state)
{
	cleanup_fd int folder = open_folder();
	cleanup_free char *name = NULL;
	cleanup_fd int fd = bind_one(folder, &name);
	int held[2 * SOCKETS_BACKLOG];
	size_t count = 0;
	struct err err = { .code = ERR_NONE };

	(void)state;
	assert_true(fd >= 0);
	while (count < ARRAY_SIZE(held) && (held[count] = sockets_connect(folder, name, &err)) >= 0)
		count++;
	assert_int_equal(err.code, ERR_BUSY);
	sockets_clean(folder);
	assert_true(scratch_exists(folder, name));
	while (count > 0)
		fd_close(&held[--count]);
}

static void test_a_folder_that_was_removed_takes_no_socket(void **state)
{
	cleanup_fd int folder = open_folder();
	char *name = NULL;
	struct err err;

	(void)state;
	assert_int_equal(unlinkat(scratch.fd, SOCKETS_FOLDER, AT_REMOVEDIR), 0);
	assert_int_equal(sockets_bind(folder, &name, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_null(name);
	assert_int_equal(count_names(-1), 0);
	sockets_clean(-1);
}

static void test_the_last_to_leave_removes_the_folder(void **state)
{
	cleanup_fd int folder = open_folder();
	cleanup_free char *one = NULL;
	cleanup_free char *other = NULL;
	cleanup_fd int first = bind_one(folder, &one);
	cleanup_fd int second = bind_one(folder, &other);
	struct err err;

	(void)state;
	sockets_leave(folder, one);
	assert_int_equal(count_names(folder), 1);
	sockets_leave(folder, other);
	assert_int_equal(sockets_open(scratch.fd, false, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_true(first >= 0 && second >= 0);
}

static void test_a_peer_is_ours_if_its_user_is(void **state)
{
	int ends[2];
	pid_t pid = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_true(sockets_peer_is_ours(ends[0], &pid));
	assert_int_equal(pid, getpid());
	fd_close(&ends[0]);
	fd_close(&ends[1]);
	assert_false(sockets_peer_is_ours(scratch.fd, &pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_folder_is_the_users_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_folder_that_is_missing_is_not_made_for_a_command, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_link_in_its_place_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_folder_that_is_open_to_others_is_refused,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_home_that_is_gone_is_an_error_of_the_system,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_socket_has_mode_0600_and_can_be_reached,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_home_of_any_length_will_do, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_the_socket_of_a_dead_server_is_removed_and_no_other, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_a_hidden_name_is_removed_once_it_is_old,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_server_that_takes_no_connection_is_busy_and_not_dead, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_a_folder_that_was_removed_takes_no_socket,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_last_to_leave_removes_the_folder, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_peer_is_ours_if_its_user_is, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
