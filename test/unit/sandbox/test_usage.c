/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "patience.h"
#include "sandbox/process/file_limit.h"
#include "sandbox/process/memory_limit.h"
#include "sandbox/process/usage.h"

enum { MIB = 1 << 20 };

/*
 * Forks a child that has `bytes` of memory, shared or its own, and waits; with a child of the same
 * kind if `with_child`.
 */
static pid_t start(size_t bytes, int flags, bool with_child)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		char *memory =
			mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(memory, 1, bytes);
		if (with_child && fork() == 0)
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "r", 1);
		for (;;)
			(void)pause();
	}
	for (int i = 0; i < (with_child ? 2 : 1); i++)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void *wait_long(void *data)
{
	(void)data;
	for (;;)
		(void)pause();
	return NULL;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* Its death has killed its children, which are reaped here as orphans. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void memory_of_both_kinds_is_seen(void **state)
{
	static const int kinds[] = { MAP_PRIVATE, MAP_SHARED };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		pid_t pid = start(32 * MIB, kinds[i], false);
		struct usage_process largest;
		struct usage usage;

		usage_measure(1, false, NULL, &usage, &largest);
		assert_int_equal(usage.processes, 1);
		assert_in_range(usage.memory_bytes, 32 * MIB, 64 * MIB);
		assert_int_equal(largest.pid, pid);
		assert_int_equal(largest.generations, 1);
		assert_string_equal(largest.name, "unit_sandbox_te");
		end(pid);
	}
}

static void pages_that_relatives_share_count_once_when_it_matters(void **state)
{
	pid_t pid = start(32 * MIB, MAP_PRIVATE, true);
	struct usage_process largest;
	struct usage quick;
	struct usage exact;

	(void)state;
	usage_measure(1, false, NULL, &quick, &largest);
	usage_measure(1, true, NULL, &exact, &largest);
	assert_true(exact.exact && !quick.exact);
	assert_int_equal(quick.processes, 2);
	assert_in_range(quick.memory_bytes, 64 * MIB, 128 * MIB);
	assert_in_range(exact.memory_bytes, 32 * MIB, 48 * MIB);
	end(pid);
}

/* Many forks of an interpreter use as much as a large one. */
static void so_do_those_of_small_ones(void **state)
{
	pid_t pid = start(6 * MIB, MAP_PRIVATE, true);
	struct usage_process largest;
	struct usage quick;
	struct usage exact;

	(void)state;
	usage_measure(1, false, NULL, &quick, &largest);
	usage_measure(1, true, NULL, &exact, &largest);
	assert_in_range(exact.memory_bytes + 5 * MIB, 11 * MIB, quick.memory_bytes);
	end(pid);
}

static void our_own_generations_are_not_counted(void **state)
{
	pid_t pid = start(32 * MIB, MAP_PRIVATE, true);
	struct usage_process largest;
	struct usage usage;

	(void)state;
	usage_measure(2, false, NULL, &usage, &largest);
	assert_int_equal(usage.processes, 1);
	assert_int_equal(usage_count_tasks(2), 1);
	assert_int_equal(usage_count_tasks(1), 2);
	assert_int_not_equal(largest.pid, pid);
	assert_int_equal(largest.generations, 2);
	end(pid);
}

/* As the kernel counts them. A process that has ended is a zombie without threads. */
static void threads_count_and_those_of_zombies_apart(void **state)
{
	struct usage_process largest;
	struct usage usage;
	siginfo_t over;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 3; i++)
			if (pthread_create(&thread, NULL, wait_long, NULL) != 0)
				_exit(1);
		(void)!write(ready[1], "r", 1);
		(void)wait_long(NULL);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	usage_measure(1, false, NULL, &usage, &largest);
	assert_int_equal(usage.processes, 1);
	assert_int_equal(usage.threads, 4);
	assert_int_equal(usage.tasks, 4);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &over, WEXITED | WNOWAIT), 0);
	usage_measure(1, false, NULL, &usage, &largest);
	assert_int_equal(usage.threads, 0);
	assert_int_equal(usage.tasks, 1);
	end(pid);
}

static void processor_time_stays_when_its_process_is_gone(void **state)
{
	struct usage_process largest;
	struct usage before;
	struct usage after;
	pid_t pid;

	(void)state;
	usage_measure(1, false, NULL, &before, &largest);
	pid = fork();
	if (pid == 0) {
		volatile unsigned int n = 0;

		while (clock() < CLOCKS_PER_SEC / 10)
			n++;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	usage_measure(1, false, NULL, &after, &largest);
	assert_int_equal(after.processes, 0);
	assert_int_equal(largest.pid, 0);
	assert_in_range(after.cpu_ms - before.cpu_ms, 80, 2000);
}

/* Test 59. */
static void a_deleted_file_counts_once_as_long_as_it_is_open(void **state)
{
	static const char folder[] = "/tmp";
	char block[4096] = "";
	struct usage_process largest;
	struct usage elsewhere;
	struct usage usage;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	pid_t pid;

	(void)state;
	if (fd < 0)
		skip();
	for (int i = 0; i < 256; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	(void)fsync(fd);
	pid = start(4096, MAP_PRIVATE, true);
	(void)close(fd);
	usage_measure(1, false, &(struct usage_paths){ .folder = folder }, &usage, &largest);
	usage_measure(1, false, &(struct usage_paths){ .folder = "/proc" }, &elsewhere, &largest);
	end(pid);
	/* A file system may give a growing file more than was requested. */
	assert_in_range(usage.unlinked_bytes, MIB, 2 * MIB - 1);
	assert_int_equal(elsewhere.unlinked_bytes, 0);
	usage_measure(1, false, &(struct usage_paths){ .folder = folder }, &usage, &largest);
	assert_int_equal(usage.unlinked_bytes, 0);
}

static bool was_killed(pid_t pid)
{
	int wait_status = 0;

	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
}

static void kill_largest(int first, uint64_t memory_max, pid_t busy,
			 struct usage_killed *ret_killed)
{
	const struct usage_kill_request request = { .memory_max = memory_max,
						    .busy_count = busy > 0,
						    .busy = { busy } };

	usage_kill(first, &request, NULL, ret_killed);
}

/* Test 73, and number 5 of the second security test: all that is needed is killed at once. */
static void the_largest_are_killed_until_the_rest_fits(void **state)
{
	pid_t small = start(8 * MIB, MAP_PRIVATE, false);
	pid_t large = start(64 * MIB, MAP_PRIVATE, false);
	pid_t middle = start(32 * MIB, MAP_SHARED, false);
	struct usage_killed killed;

	(void)state;
	kill_largest(1, 1024 * (uint64_t)MIB, 0, &killed);
	assert_int_equal(killed.firsts + killed.programs, 0);
	kill_largest(1, 24 * MIB, 0, &killed);
	assert_int_equal(killed.firsts, 2);
	assert_int_equal(killed.programs, 0);
	assert_true(was_killed(large) && was_killed(middle));
	assert_int_equal(kill(small, 0), 0);
	assert_int_equal(waitpid(small, NULL, WNOHANG), 0);
	end(small);
}

static void those_of_the_first_generation_are_told_apart(void **state)
{
	pid_t pid = start(32 * MIB, MAP_PRIVATE, true);
	struct usage_killed killed;

	(void)state;
	kill_largest(2, 8 * MIB, 0, &killed);
	assert_int_equal(killed.firsts, 1);
	assert_int_equal(killed.programs, 0);
	assert_int_equal(kill(pid, 0), 0);
	end(pid);
}

static void the_largest_program_of_those_killed_is_told(void **state)
{
	pid_t large = start(32 * MIB, MAP_PRIVATE, false);
	pid_t small = start(8 * MIB, MAP_PRIVATE, false);
	struct usage_killed killed;

	(void)state;
	kill_largest(0, 0, 0, &killed); /* as if children were programs */
	assert_int_equal(killed.firsts, 0);
	assert_int_equal(killed.programs, 2);
	assert_int_equal(killed.program.pid, large);
	assert_in_range(killed.program.memory_bytes, 32 * MIB, 64 * MIB);
	assert_true(was_killed(large) && was_killed(small));
}

static void programs_go_before_the_first_generation(void **state)
{
	pid_t pid = start(32 * MIB, MAP_PRIVATE, true);
	struct usage_killed killed;
	struct usage_process largest;
	struct usage usage;

	(void)state;
	usage_measure(1, true, NULL, &usage, &largest);
	assert_in_range(usage.programs_bytes, 16 * MIB, 24 * MIB);
	kill_largest(1, 24 * MIB, 0, &killed);
	assert_int_equal(killed.firsts, 0);
	assert_int_equal(killed.programs, 1);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	end(pid);
}

/* Number H3 of the review of limits. */
static void an_idle_process_is_killed_after_one_that_runs_code(void **state)
{
	pid_t busy = start(32 * MIB, MAP_PRIVATE, true);
	pid_t idle = start(48 * MIB, MAP_PRIVATE, true);
	struct usage_process largest;
	struct usage_killed killed;
	struct usage usage = { .processes = 0 };

	(void)state;
	kill_largest(2, 32 * MIB, busy, &killed);
	assert_int_equal(killed.firsts, 1);
	/* A killed process exists until its memory has been freed. */
	patience_do_until(usage_measure(2, true, NULL, &usage, &largest), usage.processes == 1);
	assert_int_equal(largest.parent, idle);
	(void)kill(busy, SIGKILL);
	end(idle);
}

static void what_does_not_grow_may_stay_above_the_limit_a_little(void **state)
{
	pid_t still = start(64 * MIB, MAP_PRIVATE, true);
	struct usage_kill_request request = { .memory_max = 24 * MIB, .still_max = 40 * MIB };
	struct usage_process largest;
	struct usage_killed killed;
	struct usage usage;
	pid_t grows;

	(void)state;
	for (int i = 0; i < 2; i++)
		usage_measure(2, false, NULL, &usage, &largest);
	grows = start(24 * MIB, MAP_PRIVATE, true);
	usage_kill(2, &request, NULL, &killed);
	assert_int_equal(killed.firsts, 1);
	patience_do_until(usage_measure(2, true, NULL, &usage, &largest), usage.processes == 1);
	assert_int_equal(largest.parent, still);
	/* Nothing grows any more, and it may stay. */
	usage_measure(2, false, NULL, &usage, &largest);
	usage_kill(2, &request, NULL, &killed);
	assert_int_equal(killed.firsts, 0);
	request.still_max = request.memory_max;
	usage_kill(2, &request, NULL, &killed);
	assert_int_equal(killed.firsts, 1);
	(void)kill(still, SIGKILL);
	end(grows);
}

static void of_programs_who_grows_goes_first_and_nobody_without_need(void **state)
{
	pid_t still = start(64 * MIB, MAP_PRIVATE, false);
	struct usage_process largest;
	struct usage_killed killed;
	struct usage usage;
	pid_t grows;
	pid_t small;

	(void)state;
	for (int i = 0; i < 2; i++)
		usage_measure(0, false, NULL, &usage, &largest);
	grows = start(24 * MIB, MAP_PRIVATE, false);
	small = start(MIB, MAP_PRIVATE, false);
	kill_largest(0, 80 * MIB, 0, &killed);
	assert_int_equal(killed.programs, 1);
	assert_int_equal(killed.program.pid, grows);
	assert_true(was_killed(grows));
	(void)kill(small, SIGKILL);
	end(still);
}

/* The next measure would kill another process for it. */
static void a_process_that_is_being_killed_does_not_count(void **state)
{
	pid_t pid = start(64 * MIB, MAP_PRIVATE, false);
	struct usage_process largest;
	struct usage usage;

	(void)state;
	assert_int_equal(kill(pid, SIGKILL), 0);
	usage_measure(1, false, NULL, &usage, &largest);
	assert_int_equal(usage.memory_bytes, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void growth_is_told_by_whose_child_grew(void **state)
{
	pid_t still = start(32 * MIB, MAP_PRIVATE, true);
	struct usage_process largest;
	struct usage usage;
	pid_t grown;

	(void)state;
	for (int i = 0; i < 2; i++)
		usage_measure(2, false, NULL, &usage, &largest);
	assert_int_equal(usage.growths[0].parent, 0);
	grown = start(24 * MIB, MAP_PRIVATE, true);
	usage_measure(2, true, NULL, &usage, &largest);
	for (size_t i = 0; i < 2; i++) {
		const struct usage_growth *growth = &usage.growths[i];

		assert_true(growth->parent == still || growth->parent == grown);
		assert_in_range(growth->bytes, growth->parent == grown ? 24 * MIB : 0,
				growth->parent == grown ? 48 * MIB : MIB);
	}
	assert_int_equal(usage.growths[2].parent, 0);
	(void)kill(still, SIGKILL);
	end(grown);
}

static void one_request_kills_so_many(void **state)
{
	struct usage_killed killed;

	(void)state;
	for (int i = 0; i < USAGE_KILLS_MAX + 1; i++)
		(void)start(MIB, MAP_PRIVATE, false);
	kill_largest(1, 0, 0, &killed);
	assert_int_equal(killed.firsts, USAGE_KILLS_MAX);
	for (int i = 0; i < USAGE_KILLS_MAX; i++)
		assert_true(waitpid(-1, NULL, 0) > 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
	kill_largest(1, 0, 0, &killed);
	assert_int_equal(killed.firsts, 1);
	assert_true(waitpid(-1, NULL, 0) > 0);
}

static rlim_t file_max_of(pid_t pid)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_FSIZE, NULL, &limit), 0);
	return limit.rlim_cur;
}

static void files_of_running_processes_get_another_limit(void **state)
{
	const struct rlimit own = { .rlim_cur = 5 * MIB, .rlim_max = 100 * MIB };
	pid_t pid = start(4096, MAP_PRIVATE, false);
	pid_t modest = start(4096, MAP_PRIVATE, false);

	(void)state;
	assert_int_equal(prlimit(modest, RLIMIT_FSIZE, &own, NULL), 0);
	file_limit_set(RLIM_INFINITY, 10 * MIB);
	assert_int_equal(file_max_of(pid), 10 * MIB);
	assert_int_equal(file_max_of(modest), 5 * MIB);
	file_limit_set(10 * MIB, 0);
	assert_int_equal(file_max_of(pid) + file_max_of(modest), 0);
	file_limit_set(0, 200 * MIB);
	assert_int_equal(file_max_of(pid), 200 * MIB);
	assert_int_equal(file_max_of(modest), 100 * MIB);
	(void)kill(modest, SIGKILL);
	end(pid);
}

static rlim_t memory_max_of(pid_t pid)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &limit), 0);
	return limit.rlim_cur;
}

static void set_memory_max(pid_t pid, rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(prlimit(pid, RLIMIT_DATA, &limit, NULL), 0);
}

static void interpreters_get_another_limit_of_memory(void **state)
{
	pid_t program = start(32 * MIB, MAP_PRIVATE, true);
	cleanup_pidlist struct pidlist parents = { 0 };
	cleanup_pidlist struct pidlist interpreters = { 0 };
	cleanup_pidlist struct pidlist none = { 0 };
	rlim_t few; /* with sanitizers even this is much */
	pid_t child;

	(void)state;
	pidlist_add(&parents, program);
	usage_list_interpreters(2, &none, &interpreters);
	assert_int_equal(interpreters.len, 0);
	usage_list_interpreters(2, &parents, &interpreters);
	assert_int_equal(interpreters.len, 1);
	child = interpreters.pids[0];
	memory_limit_set(&interpreters, 50 * MIB, 8 * MIB);
	few = memory_max_of(child);
	assert_true(few > 82 * MIB && few != RLIM_INFINITY);
	assert_true(memory_max_of(program) == RLIM_INFINITY);

	/* Where nothing is left it gets the least, and no more once that is taken. */
	memory_limit_set(&interpreters, 0, 50 * MIB);
	assert_int_equal(memory_max_of(child), few);
	memory_limit_set(&interpreters, 0, 120 * MIB);
	assert_int_equal(memory_max_of(child), few);
	memory_limit_set(&interpreters, 1, 120 * MIB);
	assert_int_equal(memory_max_of(child), few + 70 * MIB);

	set_memory_max(program, few); /* as one that it has forked has it */
	memory_limit_set(&interpreters, 500 * MIB, 8 * MIB);
	assert_int_equal(memory_max_of(child), few + 450 * MIB);
	assert_in_range(memory_max_of(program), few + 400 * MIB, few + 500 * MIB);
	memory_limit_set(&none, UINT64_MAX, 8 * MIB);
	assert_true(memory_max_of(child) == RLIM_INFINITY);
	assert_true(memory_max_of(program) == RLIM_INFINITY);

	set_memory_max(child, 600 * MIB); /* code's own */
	memory_limit_set(&interpreters, 50 * MIB, 8 * MIB);
	assert_int_equal(memory_max_of(child), 600 * MIB);
	end(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_of_both_kinds_is_seen),
		cmocka_unit_test(pages_that_relatives_share_count_once_when_it_matters),
		cmocka_unit_test(so_do_those_of_small_ones),
		cmocka_unit_test(our_own_generations_are_not_counted),
		cmocka_unit_test(threads_count_and_those_of_zombies_apart),
		cmocka_unit_test(a_deleted_file_counts_once_as_long_as_it_is_open),
		cmocka_unit_test(processor_time_stays_when_its_process_is_gone),
		cmocka_unit_test(the_largest_are_killed_until_the_rest_fits),
		cmocka_unit_test(those_of_the_first_generation_are_told_apart),
		cmocka_unit_test(the_largest_program_of_those_killed_is_told),
		cmocka_unit_test(programs_go_before_the_first_generation),
		cmocka_unit_test(an_idle_process_is_killed_after_one_that_runs_code),
		cmocka_unit_test(what_does_not_grow_may_stay_above_the_limit_a_little),
		cmocka_unit_test(of_programs_who_grows_goes_first_and_nobody_without_need),
		cmocka_unit_test(a_process_that_is_being_killed_does_not_count),
		cmocka_unit_test(growth_is_told_by_whose_child_grew),
		cmocka_unit_test(one_request_kills_so_many),
		cmocka_unit_test(files_of_running_processes_get_another_limit),
		cmocka_unit_test(interpreters_get_another_limit_of_memory),
	};

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
