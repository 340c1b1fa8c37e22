/* SPDX-License-Identifier: MIT */
/*
 * test_hidden.c - a tree of processes of which /proc hides some (hidepid): a supervisor, which
 * cannot be traced, its program, and a program that lets nobody look into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/util.h"
#include "sandbox/process/memory_limit.h"
#include "sandbox/process/proctree.h"
#include "sandbox/process/usage.h"

enum { MIB = 1 << 20, NOBODY = 65534, SKIPPED = 77, HELD = 32 * MIB };

/* For root only: becomes an ordinary user who has such a /proc, of a mount namespace of this
 * program. */
static bool hide_processes(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", 0, "hidepid=invisible") == 0 &&
	       setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
	       prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* The numbers of the tree's processes, in memory that they share. */
static struct tree {
	pid_t supervisor;
	pid_t program;
	pid_t hidden;
} * tree;

/* Waits for its end as one of the tree. */
static void stand(int up, bool traceable, pid_t *own)
{
	char *memory = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);

	memset(memory, 1, HELD);
	(void)prctl(PR_SET_DUMPABLE, traceable ? 1UL : 0UL);
	*own = getpid();
	(void)!write(up, "u", 1);
	for (;;)
		(void)pause();
}

static int plant(void **state)
{
	char byte;
	int up[2];

	(void)state;
	assert_int_equal(pipe(up), 0);
	if (fork() == 0) {
		(void)prctl(PR_SET_DUMPABLE, 0UL);
		if (fork() != 0)
			stand(up[1], false, &tree->supervisor);
		if (fork() != 0)
			stand(up[1], true, &tree->program);
		stand(up[1], false, &tree->hidden);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(read(up[0], &byte, 1), 1);
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

static void hidden_ones_and_their_children_are_found(void **state)
{
	cleanup_pidlist struct pidlist list = { 0 };
	cleanup_pidlist struct pidlist parents = { 0 };
	const pid_t expected[] = { tree->supervisor, tree->program, tree->hidden };
	const pid_t above[] = { getpid(), tree->supervisor, tree->program };

	(void)state;
	proctree_list(&list, &parents);
	assert_int_equal(list.len, 3);
	assert_memory_equal(list.pids, expected, sizeof(expected));
	assert_memory_equal(parents.pids, above, sizeof(above));
	assert_int_equal(proctree_count_live(), 3);
}

static void only_those_that_run_count_as_hidden(void **state)
{
	(void)state;
	assert_true(proctree_hides(tree->supervisor));
	assert_true(proctree_hides(tree->hidden));
	assert_false(proctree_hides(tree->program));
	assert_int_equal(kill(tree->supervisor, SIGKILL), 0);
	assert_int_equal(waitpid(tree->supervisor, NULL, 0), tree->supervisor);
	assert_false(proctree_hides(tree->supervisor));
}

/* Below a supervisor that is hidden, the program is of the first generation and is measured. */
static void what_is_below_a_hidden_one_is_measured(void **state)
{
	struct usage_process largest;
	struct usage usage;

	(void)state;
	usage_measure(2, false, NULL, &usage, &largest);
	assert_int_equal(usage.processes, 2);
	assert_int_equal(usage.tasks, 2);
	assert_int_equal(largest.pid, tree->program);
	assert_int_equal(largest.generations, 2);
	assert_in_range(usage.memory_bytes, HELD, HELD + HELD / 2);
	assert_int_equal(usage.programs_bytes, 0);
}

static void the_program_is_killed_for_its_memory(void **state)
{
	const struct usage_kill_request request = { .cause = USAGE_MEMORY, .memory_max = MIB };
	struct usage_killed killed;

	(void)state;
	usage_kill(2, &request, NULL, &killed);
	assert_int_equal(killed.firsts, 1);
	assert_int_equal(killed.programs, 0);
}

/* No figure says how much a hidden one has: it gets no more than what is left for all. */
static void a_hidden_one_may_have_what_is_left(void **state)
{
	const struct pidlist none = { 0 };
	struct rlimit limit;

	(void)state;
	assert_int_equal(prlimit(tree->hidden, RLIMIT_DATA, NULL, &limit), 0);
	limit.rlim_cur = 0x9c7; /* is marked as one that was set here */
	assert_int_equal(prlimit(tree->hidden, RLIMIT_DATA, &limit, NULL), 0);
	memory_limit_set(&none, 64 * MIB, MIB);
	assert_int_equal(prlimit(tree->hidden, RLIMIT_DATA, NULL, &limit), 0);
	assert_in_range(limit.rlim_cur, 64 * MIB - 4096, 64 * MIB + 4096);
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, plant, fell)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(hidden_ones_and_their_children_are_found),
		TREE_TEST(only_those_that_run_count_as_hidden),
		TREE_TEST(what_is_below_a_hidden_one_is_measured),
		TREE_TEST(the_program_is_killed_for_its_memory),
		TREE_TEST(a_hidden_one_may_have_what_is_left),
	};

	tree = mmap(NULL, sizeof(*tree), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_SHARED, -1, 0);
	if (!hide_processes()) {
		print_message("skipped: only root can mount such a /proc, from Linux 5.8 on\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
