/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sandbox/restrict/killgroup.h"
#include "sandbox/restrict/landlock.h"

enum { DAEMONS = 5 };

/* Joins in a child and returns whether the group is armed. */
static int joins(int abi, uid_t uid)
{
	pid_t outside = getpid();
	int wait_status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		bool armed = false;
		struct err err;

		if (uid != 0 && setresuid(uid, uid, uid) < 0)
			_exit(3);
		if (killgroup_join(outside, abi, &armed, &err) < 0)
			_exit(2);
		_exit(armed ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	return WEXITSTATUS(wait_status);
}

static bool scopes_signals(void)
{
	int wait_status = -1;
	pid_t pid;

	if (landlock_abi(LANDLOCK_ABI_MAX) < LANDLOCK_ABI_SIGNALS)
		return false;
	/* The fallback test runs this where the kernel only pretends to support it. */
	pid = fork();
	if (pid == 0) {
		struct err err;

		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		(void)!landlock_enter_signal_scope(LANDLOCK_ABI_SIGNALS, &err);
		_exit(kill(getppid(), 0) < 0);
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	return WEXITSTATUS(wait_status) == 1;
}

static void it_is_armed_only_where_signals_are_held_in(void **state)
{
	int abi = landlock_abi(LANDLOCK_ABI_MAX);

	(void)state;
	assert_int_equal(joins(0, 0), 0);
	assert_int_equal(joins(LANDLOCK_ABI_SIGNALS - 1, 0), 0);
	assert_int_equal(joins(abi, 0), scopes_signals() ? 1 : 0);
}

static void a_user_of_its_own_arms_it_too(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		printf("skipped: only root can become another user\n");
		skip();
	}
	assert_int_equal(joins(0, 0x70000001), 1);
}

/* Each daemon holds the write end: end-of-file means that all are dead. */
static void daemonise(int alive)
{
	if (fork() != 0)
		return;
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	(void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	(void)!write(alive, "a", 1);
	for (;;)
		(void)pause();
}

/* Kills the whole group on request, except itself. */
static void supervise(pid_t outside, int alive, int order)
{
	bool armed = false;
	struct err err;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (killgroup_join(outside, LANDLOCK_ABI_MAX, &armed, &err) < 0 || !armed)
		_exit(1);
	for (int i = 0; i < DAEMONS; i++)
		daemonise(alive);
	(void)!read(order, &(char){ 0 }, 1);
	do
		(void)kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0);
	_exit(0);
}

static void kill_of_all_reaches_daemons_and_no_others(void **state)
{
	pid_t bystander;
	pid_t supervisor;
	pid_t outside = getpid();
	int alive[2];
	int order[2];
	int wait_status = -1;
	char byte;

	(void)state;
	if (!scopes_signals()) {
		printf("skipped: this kernel's landlock leaves signals alone\n");
		skip();
	}
	bystander = fork();
	if (bystander == 0)
		for (;;)
			(void)pause();
	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	assert_int_equal(pipe2(order, O_CLOEXEC), 0);
	supervisor = fork();
	if (supervisor == 0)
		supervise(outside, alive[1], order[0]);
	(void)close(alive[1]);
	for (int i = 0; i < DAEMONS; i++)
		assert_int_equal(read(alive[0], &byte, 1), 1);
	assert_int_equal(write(order[1], "k", 1), 1);
	assert_int_equal(waitpid(supervisor, &wait_status, 0), supervisor);
	assert_int_equal(wait_status, 0);
	assert_int_equal(read(alive[0], &byte, 1), 0);
	assert_int_equal(waitpid(bystander, NULL, WNOHANG), 0);
	(void)kill(bystander, SIGKILL);
	assert_int_equal(waitpid(bystander, NULL, 0), bystander);
	(void)close(alive[0]);
	(void)close(order[0]);
	(void)close(order[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_armed_only_where_signals_are_held_in),
		cmocka_unit_test(a_user_of_its_own_arms_it_too),
		cmocka_unit_test(kill_of_all_reaches_daemons_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
