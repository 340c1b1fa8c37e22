/* SPDX-License-Identifier: MIT */
/*
 * process_limit.c - asks the kernel for its count of a user's processes by forking under limits,
 * and changes RLIMIT_NPROC of processes by prlimit().
 *
 * No file has the count. /proc may hide processes (hidepid), and does hide those outside from a
 * process that landlock confines. A fork fails with EAGAIN if as many exist as the limit allows.
 */
#include "sandbox/process/process_limit.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/process/proctree.h"

enum {
	FIRST_GUESS = 64,
	MOST = 1 << 22, /* the kernel's own limit of processes and threads */
};

/* Returns whether a process can be made under this soft limit. */
static bool can_fork(rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = { .rlim_cur = soft, .rlim_max = hard };
	pid_t pid;

	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return pid > 0;
}

/*
 * Returns the least soft limit under which a process can be made; 0 when there is none up to
 * `most`. The search begins at `guess` and goes away from it by steps that double.
 */
static rlim_t find_least(rlim_t guess, rlim_t most, rlim_t hard)
{
	rlim_t low = 1; /* the caller alone is one */
	rlim_t high = most;
	rlim_t at = guess < most ? guess : most;
	rlim_t step = 1;

	if (can_fork(at, hard)) {
		for (high = at; high - low > step && can_fork(high - step, hard); step *= 2)
			high -= step;
		low = high - low > step ? high - step : low;
	} else {
		for (low = at; most - low > step && !can_fork(low + step, hard); step *= 2)
			low += step;
		if (most - low > step)
			high = low + step;
		else if (!can_fork(most, hard))
			return 0;
	}
	while (high - low > 1) {
		rlim_t middle = low + (high - low) / 2;

		if (can_fork(middle, hard))
			high = middle;
		else
			low = middle;
	}
	return high;
}

uint64_t process_limit_count(uint64_t near)
{
	uint64_t guess = near != 0 ? near + 1 : FIRST_GUESS;
	struct rlimit before;
	rlim_t least;

	if (getrlimit(RLIMIT_NPROC, &before) < 0)
		return PROCESS_LIMIT_UNKNOWN;
	if (near == 0 && can_fork(1, before.rlim_max)) {
		(void)setrlimit(RLIMIT_NPROC, &before);
		return 0;
	}
	least = find_least(guess, before.rlim_cur < MOST ? before.rlim_cur : MOST, before.rlim_max);
	(void)setrlimit(RLIMIT_NPROC, &before);
	return least != 0 ? least - 1 : PROCESS_LIMIT_UNKNOWN;
}

static void set_soft(pid_t pid, rlim_t own_below, rlim_t limit)
{
	struct rlimit now;

	if (prlimit(pid, RLIMIT_NPROC, NULL, &now) < 0 || now.rlim_cur < own_below)
		return;
	now.rlim_cur = limit < now.rlim_max ? limit : now.rlim_max;
	(void)prlimit(pid, RLIMIT_NPROC, &now, NULL);
}

void process_limit_set(uint64_t own_below, uint64_t limit)
{
	cleanup_pidlist struct pidlist children = { 0 };
	cleanup_pidlist struct pidlist list = { 0 };

	proctree_children(&children);
	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++) {
		pid_t pid = proctree_number(list.pids[i]);

		if (pid > 0 && !pidlist_has(&children, pid))
			set_soft(pid, own_below, limit);
	}
}
