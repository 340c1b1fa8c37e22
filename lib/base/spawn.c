/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - posix_spawn with the descriptors as data. They are first copied past every target,
 * because placing one could overwrite another that still has to be placed. The memory is shared
 * until the exec (glibc), so a large server starts programs as fast as a small one.
 */
#include "base/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include "base/fd.h"
#include "base/mem.h"

struct plan {
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int copies[SPAWN_FDS_MAX + 1];
	size_t count;
};

static int place_descriptor(struct plan *plan, int fd)
{
	int target = (int)plan->count;
	int copy = -1;

	if (fd == SPAWN_NULL) {
		errno = posix_spawn_file_actions_addopen(&plan->actions, target, "/dev/null",
							 O_RDWR, 0);
	} else {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_FDS_MAX + 1);
		if (copy < 0)
			return -1;
		errno = posix_spawn_file_actions_adddup2(&plan->actions, copy, target);
	}
	plan->copies[plan->count++] = copy;
	return errno == 0 ? 0 : -1;
}

/* All other descriptors are closed: the host may have left some open without close-on-exec. */
static int fill_plan(struct plan *plan, const struct spawn *spawn)
{
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	sigset_t all;
	sigset_t none;

	for (size_t i = 0; i < spawn->fd_count; i++)
		if (place_descriptor(plan, spawn->fds[i]) < 0)
			return -1;
	if (spawn->program >= 0 && place_descriptor(plan, spawn->program) < 0)
		return -1;
	errno = posix_spawn_file_actions_addclosefrom_np(&plan->actions, (int)plan->count);
	if (errno != 0)
		return -1;
	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawnattr_setsigdefault(&plan->attributes, &all);
	(void)posix_spawnattr_setsigmask(&plan->attributes, &none);
	if (spawn->new_session)
		flags |= POSIX_SPAWN_SETSID;
	errno = posix_spawnattr_setflags(&plan->attributes, flags);
	return errno == 0 ? 0 : -1;
}

int spawn_start(const struct spawn *spawn, pid_t *ret_pid, struct err *err)
{
	cleanup_free char *number = xasprintf("/proc/self/fd/%zu", spawn->fd_count);
	const char *path = spawn->program >= 0 ? number : spawn->path;
	struct plan plan = { .count = 0 };
	int result = 0;

	assert(spawn->fd_count <= SPAWN_FDS_MAX);
	(void)posix_spawn_file_actions_init(&plan.actions);
	(void)posix_spawnattr_init(&plan.attributes);
	if (fill_plan(&plan, spawn) < 0) {
		result = err_sys(err, "preparing '%s'", spawn->path);
	} else {
		errno = posix_spawn(ret_pid, path, &plan.actions, &plan.attributes, spawn->argv,
				    spawn->envp);
		if (errno != 0)
			result = err_sys(err, "starting '%s'", spawn->path);
	}
	for (size_t i = 0; i < plan.count; i++)
		fd_close(&plan.copies[i]);
	(void)posix_spawnattr_destroy(&plan.attributes);
	(void)posix_spawn_file_actions_destroy(&plan.actions);
	return result;
}
