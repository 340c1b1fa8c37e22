/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/spawn.h"

static char *const no_environment[] = { NULL };

/* The exit code of a shell that runs `script` with the write end of `pipe_fds` as 1 and 3. */
static int run_script(const char *script, int program, const int pipe_fds[2])
{
	char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)script, NULL };
	const int fds[] = { SPAWN_NULL, pipe_fds[1], STDERR_FILENO, pipe_fds[1] };
	const struct spawn spawn = { .path = program >= 0 ? "/nowhere/sh" : "/bin/sh",
				     .program = program,
				     .argv = argv,
				     .envp = no_environment,
				     .fds = fds,
				     .fd_count = 4,
				     .new_session = true };
	struct err err;
	pid_t pid = -1;
	int status = 0;

	assert_int_equal(spawn_start(&spawn, &pid, &err), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void read_text(int fd, char *out, size_t size)
{
	ssize_t n = read(fd, out, size - 1);

	assert_true(n >= 0);
	out[n] = '\0';
}

static void program_gets_its_descriptors_in_order_and_no_other(void **state)
{
	int pipe_fds[2];
	int other = open("/dev/null", O_RDONLY); /* without close-on-exec */
	char script[128];
	char text[64];

	(void)state;
	/* Beyond the descriptors that a shell takes for itself. */
	other = fcntl(other, F_DUPFD, 30);
	assert_true(other >= 0);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	assert_int_equal(
		snprintf(script, sizeof(script),
			 "echo one; echo three >&3; read x; [ -e /proc/$$/fd/%d ] || exit 7",
			 other) > 0,
		true);
	assert_int_equal(run_script(script, -1, pipe_fds), 7);
	read_text(pipe_fds[0], text, sizeof(text));
	assert_string_equal(text, "one\nthree\n");
	fd_close(&other);
	fd_close(&pipe_fds[0]);
	fd_close(&pipe_fds[1]);
}

static void held_program_starts_without_its_file(void **state)
{
	int program = open("/bin/sh", O_PATH | O_CLOEXEC);
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	assert_int_equal(run_script("exit 3", program, pipe_fds), 3);
	fd_close(&program);
	fd_close(&pipe_fds[0]);
	fd_close(&pipe_fds[1]);
}

static void missing_program_is_an_error_that_names_it(void **state)
{
	char *const argv[] = { NULL };
	const struct spawn spawn = {
		.path = "/nowhere/at/all", .program = -1, .argv = argv, .envp = no_environment
	};
	struct err err;
	pid_t pid;

	(void)state;
	assert_int_equal(spawn_start(&spawn, &pid, &err), -1);
	assert_non_null(strstr(err.msg, "starting '/nowhere/at/all'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_gets_its_descriptors_in_order_and_no_other),
		cmocka_unit_test(held_program_starts_without_its_file),
		cmocka_unit_test(missing_program_is_an_error_that_names_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
