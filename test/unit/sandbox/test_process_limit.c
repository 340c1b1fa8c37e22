/* SPDX-License-Identifier: MIT */
/* test_process_limit.c - a user with few processes, all of which belong to this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/util.h"
#include "sandbox/process/process_limit.h"
#include "sandbox/process/proctree.h"

enum { FIRST_USER = 1000000000, SKIPPED = 77, BELOW = 5 };

static pid_t supervisor;
static pid_t program;

/* A supervisor, its program, and three processes of that. */
static int plant(void **state)
{
	int up[2];

	(void)state;
	assert_int_equal(pipe(up), 0);
	supervisor = fork();
	if (supervisor == 0) {
		for (int depth = 1; depth < BELOW && fork() == 0; depth++)
			;
		(void)!write(up[1], &(pid_t){ getpid() }, sizeof(pid_t));
		for (;;)
			(void)pause();
	}
	for (int i = 0; i < BELOW; i++) {
		pid_t pid;

		assert_int_equal(read(up[0], &pid, sizeof(pid)), sizeof(pid));
		program = pid != supervisor ? pid : program;
	}
	(void)close(up[0]);
	(void)close(up[1]);
	return 0;
}

static int fell(void **state)
{
	(void)state;
	while (waitpid(-1, NULL, WNOHANG) >= 0)
		proctree_signal(SIGKILL);
	return 0;
}

static struct rlimit limit_of(pid_t pid)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NPROC, NULL, &limit), 0);
	return limit;
}

static void set_limit(pid_t pid, rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = { .rlim_cur = soft, .rlim_max = hard };

	assert_int_equal(prlimit(pid, RLIMIT_NPROC, &limit, NULL), 0);
}

static void all_of_the_user_are_counted(void **state)
{
	struct rlimit before = limit_of(0);

	(void)state;
	assert_int_equal(process_limit_count(0), 1 + BELOW);
	assert_int_equal(limit_of(0).rlim_cur, before.rlim_cur);
	assert_int_equal(limit_of(0).rlim_max, before.rlim_max);
}

static unsigned int forks;

static void count_fork(void)
{
	forks++;
}

static void the_search_begins_at_the_last_count(void **state)
{
	static const struct {
		uint64_t last;
		unsigned int forks;
	} cases[] = {
		{ 1 + BELOW, 2 },       { BELOW, 2 },     { 2 + BELOW, 4 },
		{ 3 + BELOW, 4 },       { BELOW - 1, 4 }, { 1, 6 },
		{ 10 * BELOW, 12 },     { 1000, 20 },     { 1 << 21, 44 },
		{ UINT64_MAX - 1, 44 },
	};

	(void)state;
	assert_int_equal(pthread_atfork(count_fork, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		forks = 0;
		assert_int_equal(process_limit_count(cases[i].last), 1 + BELOW);
		assert_in_range(forks, 2, cases[i].forks);
	}
}

/* By a lower limit of the caller's own none can be made, so there is nothing to count by. */
static void a_caller_that_can_make_none_knows_no_count(void **state)
{
	struct rlimit before = limit_of(0);

	(void)state;
	for (rlim_t soft = 0; soft < BELOW + 2; soft++) {
		set_limit(0, soft, before.rlim_max);
		assert_true(process_limit_count(0) == PROCESS_LIMIT_UNKNOWN);
		assert_true(process_limit_count(1 + BELOW) == PROCESS_LIMIT_UNKNOWN);
		assert_int_equal(limit_of(0).rlim_cur, soft);
	}
	set_limit(0, BELOW + 2, before.rlim_max);
	assert_int_equal(process_limit_count(0), 1 + BELOW);
	set_limit(0, before.rlim_cur, before.rlim_max);
}

static void programs_get_the_limit_and_supervisors_do_not(void **state)
{
	const rlim_t supervisors = limit_of(supervisor).rlim_cur;

	(void)state;
	set_limit(program, 300, 400);
	process_limit_set(40, 50);
	assert_int_equal(limit_of(program).rlim_cur, 50);
	assert_int_equal(limit_of(program).rlim_max, 400);
	assert_int_equal(limit_of(supervisor).rlim_cur, supervisors);
	process_limit_set(40, 500);
	assert_int_equal(limit_of(program).rlim_cur, 400);
}

static void a_lower_limit_of_code_stays(void **state)
{
	(void)state;
	set_limit(program, 39, 400);
	process_limit_set(40, 50);
	assert_int_equal(limit_of(program).rlim_cur, 39);
	set_limit(program, 40, 400);
	process_limit_set(40, 50);
	assert_int_equal(limit_of(program).rlim_cur, 50);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, plant, fell)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(all_of_the_user_are_counted),
		TREE_TEST(the_search_begins_at_the_last_count),
		TREE_TEST(a_caller_that_can_make_none_knows_no_count),
		TREE_TEST(programs_get_the_limit_and_supervisors_do_not),
		TREE_TEST(a_lower_limit_of_code_stays),
	};
	const uid_t user = FIRST_USER + (uid_t)getpid();

	/* The kernel refuses root none. */
	if (geteuid() != 0 || process_limit_count(0) != 0 || setresuid(user, user, user) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		print_message("skipped: only root can become a user without other processes\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
