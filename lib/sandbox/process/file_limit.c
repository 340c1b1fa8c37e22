/* SPDX-License-Identifier: MIT */
/*
 * file_limit.c - changes RLIMIT_FSIZE of all processes below the caller, by prlimit().
 *
 * Only the soft limit changes. A process whose limit is lower than the last one set here has chosen
 * that itself, and keeps it.
 */
#include "sandbox/process/file_limit.h"

#include <sys/resource.h>

#include "sandbox/process/proctree.h"

static void set_process_limit(pid_t pid, rlim_t before, rlim_t now)
{
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) < 0 ||
	    (limit.rlim_cur != before && limit.rlim_cur <= now))
		return;
	limit.rlim_cur = now < limit.rlim_max ? now : limit.rlim_max;
	(void)prlimit(pid, RLIMIT_FSIZE, &limit, NULL);
}

void file_limit_set(uint64_t before, uint64_t now)
{
	cleanup_pidlist struct pidlist list = { 0 };

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++) {
		pid_t pid = proctree_number(list.pids[i]);

		if (pid > 0)
			set_process_limit(pid, before, now);
	}
}
