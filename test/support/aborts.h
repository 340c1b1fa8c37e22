/* SPDX-License-Identifier: MIT */
/* aborts.h - what must end the process with abort(). Include after cmocka.h. */
#ifndef SUPPORT_ABORTS_H
#define SUPPORT_ABORTS_H

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `fn` in a forked copy, without its message and without a core, and wants SIGABRT. */
static inline void assert_aborts(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };
		int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

		(void)setrlimit(RLIMIT_CORE, &none);
		(void)dup2(nowhere, STDERR_FILENO);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

#endif
