/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "scratch.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void closing_leaves_none_and_keeps_errno(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int number = fd;

	(void)state;
	errno = ENOSPC;
	fd_close(&fd);
	assert_int_equal(fd, -1);
	assert_false(is_open(number));
	errno = ENOSPC;
	fd_close(&fd);
	assert_int_equal(errno, ENOSPC);
}

static void scope_exit_closes_what_was_not_stolen(void **state)
{
	int kept;
	int closed;

	(void)state;
	{
		cleanup_fd int a = open("/dev/null", O_RDONLY | O_CLOEXEC);
		cleanup_fd int b = open("/dev/null", O_RDONLY | O_CLOEXEC);

		closed = b;
		kept = fd_steal(&a);
		assert_int_equal(a, -1);
	}
	assert_true(is_open(kept));
	assert_false(is_open(closed));
	fd_close(&kept);
}

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

static void an_error_is_not_the_end_of_a_folder(void **state)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	(void)state;
	assert_non_null(folder);
	bad_reads = 1;
	assert_null(fd_next_entry(folder));
	assert_int_equal(errno, EIO);
	while ((entry = fd_next_entry(folder)) != NULL)
		errno = ENOENT;
	assert_int_equal(errno, 0);
	assert_int_equal(closedir(folder), 0);
}

static void a_folder_is_listed_from_its_beginning_each_time(void **state)
{
	cleanup_fd int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	for (int i = 0; i < 2; i++) {
		DIR *folder = fd_list(fd);
		size_t count = 0;

		assert_non_null(folder);
		while (fd_next_entry(folder) != NULL)
			count++;
		assert_true(count > 2);
		assert_int_equal(closedir(folder), 0);
	}
	assert_true(is_open(fd));
}

static void a_list_owns_its_descriptor_and_closes_what_is_no_folder(void **state)
{
	int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	DIR *folder = fd_list_own(fd);

	(void)state;
	assert_int_equal(dirfd(folder), fd);
	assert_int_equal(closedir(folder), 0);
	assert_false(is_open(fd));
	assert_null(fd_list_own(file));
	assert_int_equal(errno, ENOTDIR);
	assert_false(is_open(file));
	assert_null(fd_list_own(-1));
}

static void an_error_that_names_no_folder_hides_no_entry(void **state)
{
	static const int harmless[] = { 0, ENOENT, ENOTDIR, ELOOP };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		assert_false(fd_hides_entries(harmless[i]));
	assert_true(fd_hides_entries(EIO));
	assert_true(fd_hides_entries(EMFILE));
	assert_true(fd_hides_entries(EACCES));
}

static void a_copy_is_close_on_exec_and_above_stderr(void **state)
{
	struct err err;
	cleanup_fd int copy = fd_dup(STDIN_FILENO, &err);

	(void)state;
	assert_true(copy >= 3);
	assert_true((fcntl(copy, F_GETFD) & FD_CLOEXEC) != 0);
	assert_int_equal(fd_dup(-1, &err), -1);
	assert_int_equal(err.sys, EBADF);
}

static void non_blocking_is_set_or_refused(void **state)
{
	struct err err;
	int pair[2];

	(void)state;
	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	assert_int_equal(fd_set_nonblock(pair[0], &err), 0);
	assert_true((fcntl(pair[0], F_GETFL) & O_NONBLOCK) != 0);
	assert_true((fcntl(pair[1], F_GETFL) & O_NONBLOCK) == 0);
	fd_close(&pair[0]);
	fd_close(&pair[1]);
	assert_int_equal(fd_set_nonblock(-1, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

static void a_file_is_read_whole_up_to_its_maximum(void **state)
{
	struct scratch scratch;
	struct err err = { 0 };
	size_t len = 77;
	char *text;

	(void)state;
	scratch_init(&scratch);
	scratch_write(scratch.fd, "five", "12345");
	scratch_write(scratch.fd, "none", "");
	text = fd_read_file(scratch.fd, "five", 5, &len, &err);
	assert_string_equal(text, "12345");
	assert_int_equal(len, 5);
	free(text);
	assert_null(fd_read_file(scratch.fd, "five", 4, &len, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "'five'"));
	assert_int_equal(len, 5); /* a failure leaves it alone */
	text = fd_read_file(scratch.fd, "none", 4, NULL, &err);
	assert_string_equal(text, "");
	free(text);
	assert_null(fd_read_file(scratch.fd, "gone", 4, NULL, &err));
	assert_int_equal(err.sys, ENOENT);
	assert_null(fd_read_file(scratch.fd, ".", 4, NULL, &err));
	assert_int_equal(err.sys, EISDIR);
	scratch_release(&scratch);
}

/* Opening a pipe blocks until a writer opens it. */
static void a_pipe_is_read_once_its_writer_comes(void **state)
{
	struct scratch scratch;
	struct err err = { 0 };
	cleanup_free char *text = NULL;
	pid_t writer;
	size_t len;

	(void)state;
	scratch_init(&scratch);
	assert_int_equal(mkfifoat(scratch.fd, "pipe", 0600), 0);
	writer = fork();
	if (writer == 0) {
		int fd = openat(scratch.fd, "pipe", O_WRONLY | O_CLOEXEC);

		_exit(fd_write_all(fd, "A=1\nB=2\n", 8, &err) == 0 ? 0 : 1);
	}
	text = fd_read_file(scratch.fd, "pipe", 8, &len, &err);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_string_equal(text, "A=1\nB=2\n");
	scratch_release(&scratch);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
	static const char *const names[] = { "pipe", "folder" };
	struct scratch scratch;
	struct err err = { 0 };
	cleanup_free char *text = NULL;
	cleanup_free char *file = NULL;
	size_t len = 0;

	(void)state;
	scratch_init(&scratch);
	scratch_write(scratch.fd, "file", "12345");
	assert_int_equal(mkfifoat(scratch.fd, "pipe", 0600), 0);
	assert_int_equal(mkdirat(scratch.fd, "folder", 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *path = xasprintf("%s/%s", scratch.path, names[i]);

		assert_null(fd_read_regular(path, 9, NULL, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.msg, path));
	}
	assert_null(fd_read_regular("/dev/zero", 9, NULL, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(fd_read_regular("/no/such/file", 9, NULL, &err));
	assert_int_equal(err.sys, ENOENT);
	file = xasprintf("%s/file", scratch.path);
	assert_null(fd_read_regular(file, 4, NULL, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	text = fd_read_regular(file, 5, &len, &err);
	assert_string_equal(text, "12345");
	assert_int_equal(len, 5);
	scratch_release(&scratch);
}

static void everything_is_written_or_the_error_told(void **state)
{
	struct scratch scratch;
	struct err err = { 0 };
	int fd;
	char *text;

	(void)state;
	scratch_init(&scratch);
	fd = openat(scratch.fd, "a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fd_write_all(fd, "abc", 3, &err), 0);
	assert_int_equal(fd_write_all(fd, "", 0, &err), 0);
	fd_close(&fd);
	text = scratch_read(scratch.fd, "a");
	assert_string_equal(text, "abc");
	free(text);
	fd = openat(scratch.fd, "a", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd_write_all(fd, "abc", 3, &err), -1);
	assert_int_equal(err.sys, EBADF);
	fd_close(&fd);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(fd_write_all(fd, "abc", 3, &err), -1);
	assert_int_equal(err.sys, ENOSPC);
	fd_close(&fd);
	scratch_release(&scratch);
}

/* In a child: cmocka needs its own. */
static int numbers_are_closed_from(int first)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		bool closed = fd_close_from(first) == 0 && fcntl(first - 1, F_GETFD) >= 0;

		for (int fd = first; fd < first + 100; fd++)
			closed = closed && fcntl(fd, F_GETFD) < 0;
		_exit(closed ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	(void)waitpid(pid, &status, 0);
	return status;
}

static void all_from_a_number_on_are_closed_or_marked(void **state)
{
	int first = fcntl(STDIN_FILENO, F_DUPFD, 100);

	(void)state;
	for (int fd = first + 1; fd < first + 60; fd++)
		assert_int_equal(dup2(STDIN_FILENO, fd), fd);
	assert_int_equal(numbers_are_closed_from(first + 1), EXIT_SUCCESS);
	assert_int_equal(fd_mark_from(first + 1), 0);
	assert_int_equal(fcntl(first, F_GETFD), 0);
	for (int fd = first + 1; fd < first + 60; fd++)
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	for (int fd = first; fd < first + 60; fd++)
		(void)close(fd);
}

static void what_was_inherited_is_closed(void **state)
{
	int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		int inherited = fcntl(STDIN_FILENO, F_DUPFD, 100);
		bool kept;

		fd_close_inherited();
		kept = fcntl(own, F_GETFD) >= 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0;
		_exit(kept && fcntl(inherited, F_GETFD) < 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(own);
}

static void a_file_without_a_name_can_be_written_and_read(void **state)
{
	struct err err = { 0 };
	char text[4] = "";
	int fd = fd_unnamed("test", &err);

	(void)state;
	assert_true(fd >= 3);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fd_write_all(fd, "abc", 3, &err), 0);
	assert_int_equal(pread(fd, text, 3, 0), 3);
	assert_string_equal(text, "abc");
	fd_close(&fd);
}

static void a_file_is_replaced_whole_or_stays(void **state)
{
	struct scratch scratch;
	struct err err = { 0 };
	size_t len = 0;
	char *text;

	(void)state;
	scratch_init(&scratch);
	assert_int_equal(fd_replace_file(scratch.fd, "a", "one", &err), 0);
	assert_int_equal(fd_replace_file(scratch.fd, "a", "other", &err), 0);
	assert_int_equal(mkdirat(scratch.fd, ".a.new", 0700), 0);
	assert_int_equal(fd_replace_file(scratch.fd, "a", "third", &err), -1);
	text = fd_read_file(scratch.fd, "a", 100, &len, &err);
	assert_string_equal(text, "other");
	assert_int_equal(faccessat(scratch.fd, ".b.new", F_OK, 0), -1);
	free(text);
	scratch_release(&scratch);
}

static void a_touched_file_is_made_empty_and_keeps_what_it_has(void **state)
{
	struct scratch scratch;
	struct err err;
	struct stat st;

	(void)state;
	scratch_init(&scratch);
	fd_touch(scratch.fd, "a");
	assert_int_equal(fstatat(scratch.fd, "a", &st, 0), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(fd_replace_file(scratch.fd, "a", "one", &err), 0);
	fd_touch(scratch.fd, "a");
	assert_int_equal(fstatat(scratch.fd, "a", &st, 0), 0);
	assert_int_equal(st.st_size, 3);
	/* Not through a link, and not without a folder. */
	assert_int_equal(symlinkat("b", scratch.fd, "link"), 0);
	fd_touch(scratch.fd, "link");
	assert_int_equal(fstatat(scratch.fd, "b", &st, 0), -1);
	fd_touch(-1, "a");
	scratch_release(&scratch);
}

static void a_place_of_a_file_is_read_and_written(void **state)
{
	struct err err;
	cleanup_fd int fd = fd_unnamed("test", &err);
	char data[8] = "";
	int closed = -1;

	(void)state;
	assert_int_equal(fd_write_at(fd, "abcdef", 6, 2), 0);
	assert_int_equal(fd_read_at(fd, data, 3, 4), 3);
	assert_string_equal(data, "cde");
	assert_int_equal(fd_read_at(fd, data, sizeof(data), 6), 2);
	assert_memory_equal(data, "ef", 2);
	assert_int_equal(fd_read_at(fd, data, sizeof(data), 8), 0);
	assert_int_equal(fd_read_at(fd, data, 0, 0), 0);
	errno = 0;
	assert_int_equal(fd_read_at(closed, data, 1, 0), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(fd_write_at(closed, data, 1, 0), -1);
	assert_int_equal(errno, EBADF);
}

static void the_path_of_a_descriptor_is_known(void **state)
{
	cleanup_fd int fd = open("/dev/null", O_PATH | O_CLOEXEC);
	cleanup_free char *path = fd_path(fd);

	(void)state;
	assert_string_equal(path, "/dev/null");
	fd_close(&fd);
	assert_null(fd_path(fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closing_leaves_none_and_keeps_errno),
		cmocka_unit_test(scope_exit_closes_what_was_not_stolen),
		cmocka_unit_test(an_error_is_not_the_end_of_a_folder),
		cmocka_unit_test(a_folder_is_listed_from_its_beginning_each_time),
		cmocka_unit_test(a_list_owns_its_descriptor_and_closes_what_is_no_folder),
		cmocka_unit_test(an_error_that_names_no_folder_hides_no_entry),
		cmocka_unit_test(a_copy_is_close_on_exec_and_above_stderr),
		cmocka_unit_test(non_blocking_is_set_or_refused),
		cmocka_unit_test(a_file_is_read_whole_up_to_its_maximum),
		cmocka_unit_test(a_pipe_is_read_once_its_writer_comes),
		cmocka_unit_test(what_is_no_regular_file_is_refused_without_waiting),
		cmocka_unit_test(all_from_a_number_on_are_closed_or_marked),
		cmocka_unit_test(what_was_inherited_is_closed),
		cmocka_unit_test(a_file_without_a_name_can_be_written_and_read),
		cmocka_unit_test(everything_is_written_or_the_error_told),
		cmocka_unit_test(a_file_is_replaced_whole_or_stays),
		cmocka_unit_test(a_touched_file_is_made_empty_and_keeps_what_it_has),
		cmocka_unit_test(a_place_of_a_file_is_read_and_written),
		cmocka_unit_test(the_path_of_a_descriptor_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
