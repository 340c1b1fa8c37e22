/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sandbox/process/proctree.h"

/* Forks a child that reports with a byte that all processes below it run, and waits. */
static pid_t start(void (*below)(void))
{
	int up[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		below();
		(void)!write(up[1], "u", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(up[0], &byte, 1), 1);
	(void)close(up[0]);
	(void)close(up[1]);
	return pid;
}

static void fork_one(void)
{
	if (fork() == 0)
		for (;;)
			(void)pause();
}

static void *fork_in_thread(void *data)
{
	fork_one();
	for (;;)
		(void)pause();
	return data;
}

static void fork_from_a_thread(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, fork_in_thread, NULL);
}

static void leave_a_zombie(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	(void)waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
}

static void take_a_hostile_name(void)
{
	(void)prctl(PR_SET_NAME, "a) R 1 (b");
}

static void end_all(void)
{
	while (waitpid(-1, NULL, WNOHANG) >= 0)
		proctree_signal(SIGKILL);
}

static int set_up(void **state)
{
	(void)state;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int tear_down(void **state)
{
	(void)state;
	end_all();
	return 0;
}

static void grandchildren_are_descendants_but_not_children(void **state)
{
	cleanup_pidlist struct pidlist list = { 0 };
	pid_t child = start(fork_one);

	(void)state;
	proctree_children(&list);
	assert_int_equal(list.len, 1);
	assert_int_equal(list.pids[0], child);
	proctree_descendants(&list);
	assert_int_equal(list.len, 2);
	assert_int_equal(list.pids[0], child);
}

static void children_of_a_thread_are_found(void **state)
{
	cleanup_pidlist struct pidlist list = { 0 };

	(void)state;
	(void)start(fork_from_a_thread);
	do
		proctree_descendants(&list);
	while (list.len == 1);
	assert_int_equal(list.len, 2);
}

static void zombies_are_not_live(void **state)
{
	cleanup_pidlist struct pidlist list = { 0 };

	(void)state;
	(void)start(leave_a_zombie);
	proctree_descendants(&list);
	assert_int_equal(list.len, 2);
	assert_int_equal(proctree_count_live(), 1);
}

static void a_hostile_name_does_not_confuse_the_parser(void **state)
{
	struct proctree_stat stat;
	char path[64];
	pid_t child = start(take_a_hostile_name);

	(void)state;
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", child);
	assert_true(proctree_stat(path, &stat));
	assert_int_equal(stat.parent, getpid());
	assert_int_equal(stat.group, getpgrp());
	assert_true(stat.state == 'S' || stat.state == 'R');
}

static void a_process_that_is_gone_has_no_stat(void **state)
{
	struct proctree_stat stat;

	(void)state;
	assert_false(proctree_stat("/proc/0/stat", &stat));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(grandchildren_are_descendants_but_not_children),
		TEST(children_of_a_thread_are_found),
		TEST(zombies_are_not_live),
		TEST(a_hostile_name_does_not_confuse_the_parser),
		TEST(a_process_that_is_gone_has_no_stat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
