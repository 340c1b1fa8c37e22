/* SPDX-License-Identifier: MIT */
#include "sandbox/launch.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/init.h"
#include "sandbox/namespaces.h"
#include "sandbox/plan.h"
#include "sandbox/probe.h"
#include "sandbox/warden.h"

struct launch {
	struct warden warden;
	const struct confine_means *means;
};

/* What the server ends a sandbox with whose init does not end by itself. */
static void hand_over(int channel, pid_t pid)
{
	cleanup_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct err err;

	if (pidfd < 0 || wire_send(channel, WIRE_OPENED, NULL, &pidfd, 1, &err) < 0)
		return;
}

/* What has to be known of a policy before its process exists. */
static int read_tier(int fd, enum policy_tier *ret_tier, struct err *err)
{
	struct policy policy;
	size_t len = 0;
	const void *plan = plan_map(fd, &len, err);
	int rc;

	if (plan == NULL)
		return -1;
	rc = plan_parse_sandbox(plan, len, &policy, err);
	plan_unmap(plan, len);
	if (rc == 0)
		*ret_tier = policy.tier;
	return rc;
}

static pid_t fork_init(struct init_task *task, struct err *err)
{
	enum policy_tier tier = POLICY_TIERS;
	pid_t pid;

	task->parent = getpid();
	if (read_tier(task->plan, &tier, err) < 0)
		return -1;
	if (tier != POLICY_UNCONFINED && usermap_choose(task->folders[0], &task->map, err) < 0)
		return -1;
	if (tier == POLICY_NAMESPACES)
		return namespaces_fork(&task->map, err);
	pid = fork();
	return pid < 0 ? err_sys(err, "forking a sandbox") : pid;
}

static void on_sandbox(struct warden *warden, const struct wire_message *message)
{
	const struct launch *launch = container_of(warden, struct launch, warden);
	struct init_task task = { .means = launch->means,
				  .plan = message->fds[WIRE_SANDBOX_PLAN],
				  .channel = message->fds[WIRE_SANDBOX_CHANNEL],
				  .folder_count = message->fd_count - WIRE_SANDBOX_DATA };
	struct err err;
	pid_t pid;

	memcpy(task.folders, message->fds + WIRE_SANDBOX_DATA, task.folder_count * sizeof(int));
	pid = fork_init(&task, &err);
	if (pid == 0)
		_exit(init_run(&task));
	if (pid > 0) {
		pidlist_add(&warden->known, pid);
		hand_over(task.channel, pid);
	} else {
		wire_tell(task.channel, WIRE_FAILED, &err);
	}
}

static void on_probe(struct warden *warden, const struct wire_message *message)
{
	const struct launch *launch = container_of(warden, struct launch, warden);
	const pid_t parent = getpid();
	struct err err;
	pid_t pid = fork();

	if (pid == 0)
		_exit(probe_run(message->fds[0], parent, launch->means));
	if (pid > 0) {
		pidlist_add(&warden->known, pid);
		return;
	}
	(void)err_sys(&err, "forking a probe");
	wire_tell(message->fds[0], WIRE_FAILED, &err);
}

static void on_message(struct warden *warden, const struct wire_message *message)
{
	if (message->type == WIRE_SANDBOX)
		on_sandbox(warden, message);
	else if (message->type == WIRE_PROBE)
		on_probe(warden, message);
	else
		warden->ended = true;
}

int launch_run(int channel, const struct confine_means *means, struct err *err)
{
	struct launch launch = { .means = means };

	if (warden_init(&launch.warden, "ptycell-launch", channel, 0, err) < 0)
		return -1;
	warden_serve(&launch.warden, on_message, WARDEN_LAUNCHER_GRACE_MS);
	warden_release(&launch.warden);
	return 0;
}
