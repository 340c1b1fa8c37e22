/* SPDX-License-Identifier: MIT */
/*
 * memory_limit.c - changes RLIMIT_DATA of processes below the caller, by prlimit().
 *
 * A limit that was set here is known by its last bits, also in a child that inherited it: it is no
 * whole number of pages. All others but the hard limit are session code's own.
 */
#include "sandbox/process/memory_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sandbox/process/proctree.h"

enum { STATUS_MAX = 4096, MARK = 0x9c7, MARK_MASK = 0xfff };

/*
 * Returns what the kernel counts for RLIMIT_DATA; UINT64_MAX when the process is gone. Returns 0 if
 * /proc hides the process: its limit is then the memory that is left.
 */
static uint64_t data_of(pid_t listed)
{
	char path[64];
	char text[STATUS_MAX];
	const char *at = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", listed);
	if (proctree_read(path, text, sizeof(text)))
		at = strstr(text, "VmData:");
	if (at == NULL)
		return proctree_hides(listed) ? 0 : UINT64_MAX;
	return strtoull(at + strlen("VmData:"), NULL, 10) * 1024;
}

static bool is_marked(rlim_t limit)
{
	return limit != RLIM_INFINITY && (limit & MARK_MASK) == MARK;
}

/*
 * Returns whether a process has taken what it got while nothing was left. Code that goes on after
 * errors would take as much each time, until it is killed.
 */
static bool has_taken(rlim_t limit, uint64_t data, uint64_t left, uint64_t least)
{
	return left == 0 && is_marked(limit) && data > limit - least / 2;
}

static void set_process_limit(pid_t listed, bool is_interpreter, uint64_t left, uint64_t least)
{
	pid_t pid = proctree_number(listed);
	uint64_t data = data_of(listed);
	struct rlimit limit;
	uint64_t most;

	if (pid <= 0 || prlimit(pid, RLIMIT_DATA, NULL, &limit) < 0)
		return;
	if (!is_marked(limit.rlim_cur) && (!is_interpreter || limit.rlim_cur != limit.rlim_max))
		return;
	if (has_taken(limit.rlim_cur, data, left, least))
		return;
	if (__builtin_add_overflow(data, left < least ? least : left, &most) ||
	    most >= limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	else
		limit.rlim_cur = (most & ~(rlim_t)MARK_MASK) | MARK;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	(void)prlimit(pid, RLIMIT_DATA, &limit, NULL);
}

void memory_limit_set(const struct pidlist *interpreters, uint64_t left, uint64_t least)
{
	cleanup_pidlist struct pidlist list = { 0 };

	proctree_descendants(&list);
	for (size_t i = 0; i < list.len; i++)
		set_process_limit(list.pids[i], pidlist_has(interpreters, list.pids[i]), left,
				  least);
}
