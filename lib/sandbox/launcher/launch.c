/* SPDX-License-Identifier: MIT */
/*
 * launch.c - the launcher's main loop: for each request it forks an init, or a probe.
 *
 * The policy is parsed before the fork, because it decides how to fork: into namespaces, into a
 * control group, inside a zygote sandbox, or to become bwrap. Writable shares are held by the
 * launcher (rootfs/protect.h), not by init: placeholders of protected names are removed when init
 * is gone.
 */
#include "sandbox/launcher/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "sandbox/namespaces/cgroup.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/namespaces/zygote_namespaces.h"
#include "sandbox/probe/probe.h"
#include "sandbox/process/proctree.h"
#include "sandbox/rootfs/idmap.h"
#include "sandbox/rootfs/protect.h"
#include "sandbox/supervise/init.h"
#include "sandbox/supervise/subreaper.h"
#include "sandbox/wire/plan.h"

struct launch {
	struct subreaper subreaper;
	const struct privdrop_means *means;
	struct list guards;
};

/* Sends the server a pidfd of init, by which it kills an init that does not end by itself. */
static void send_pidfd(int channel, pid_t pid)
{
	cleanup_fd int pidfd = proctree_hold(pid, pid);
	struct err err;

	if (pidfd < 0 || wire_send(channel, WIRE_OPENED, NULL, &pidfd, 1, &err) < 0)
		return;
}

/* ---- shares ---- */

/* The writable shares of one sandbox, held by rootfs/protect.h until its init is gone. */
struct guard {
	struct list node;
	pid_t init; /* 0: not forked yet */
	int held[POLICY_SHARES_MAX];
	size_t count;
};

static void guard_free(struct guard *guard)
{
	for (size_t i = 0; i < guard->count; i++)
		protect_release(&guard->held[i]);
	list_remove(&guard->node);
	free(guard);
}

static bool has_writable_share(const struct policy *policy)
{
	for (size_t i = 0; i < policy->share_count; i++)
		if (policy->shares[i].writable)
			return true;
	return false;
}

/* `shares` are the descriptors of the policy's shares. */
static int guard_new(struct launch *launch, const struct policy *policy, const int *shares,
		     struct guard **ret_guard, struct err *err)
{
	struct guard *guard;

	if (policy->tier != POLICY_NAMESPACES || !has_writable_share(policy))
		return 0;
	guard = xcalloc(1, sizeof(*guard));
	list_init(&guard->node);
	list_append(&launch->guards, &guard->node);
	for (size_t i = 0; i < policy->share_count; i++) {
		int held = policy->shares[i].writable ? protect_hold(shares[i], err) : -1;

		if (policy->shares[i].writable && held < 0) {
			guard_free(guard);
			return -1;
		}
		guard->held[guard->count++] = held;
	}
	*ret_guard = guard;
	return 0;
}

static void on_reaped(struct subreaper *subreaper, pid_t pid)
{
	struct launch *launch = container_of(subreaper, struct launch, subreaper);

	list_for_each (struct guard, guard, &launch->guards, node)
		if (guard->init == pid)
			guard_free(guard);
}

/* ---- sandboxes ---- */

/*
 * A process that a zygote forks is born in the zygote's control group, and init must move it. No
 * process in the sandbox can open the file for that, so the launcher does.
 */
static int open_members(struct init_task *task, const struct policy *policy, struct err *err)
{
	if (!policy->nested || task->group < 0)
		return 0;
	task->members = cgroup_open_members(task->group);
	return task->members >= 0 ? 0 : err_sys(err, "opening a control group");
}

static pid_t fork_into_namespaces(struct init_task *task, const struct policy *policy,
				  struct err *err)
{
	int *shares = task->folders + task->folder_count - policy->share_count;
	const int *zygote_fds = policy->nested ? task->folders + task->folder_count : NULL;
	pid_t pid;

	if (policy->zygote_sandbox && task->map.uid == 0)
		return err_set(err, ERR_UNSUPPORTED, "root without a user to give");
	task->map.for_zygote = policy->zygote_sandbox && task->map.other_user;
	/* The zygote's namespace maps only one user, under this name. */
	if (policy->nested && !task->map.other_user)
		task->map = (struct uid_map){ .uid = UID_MAP_INSIDE, .gid = UID_MAP_INSIDE };
	if (open_members(task, policy, err) < 0 ||
	    idmap_shares(policy, &task->map, shares, &task->idmapped, err) < 0)
		return -1;
	pid = namespaces_fork(&task->map, task->group, task->means->without, zygote_fds, err);
	if (pid != 0)
		idmap_release(task->idmapped, shares);
	return pid;
}

static pid_t fork_init(struct init_task *task, const struct policy *policy, struct err *err)
{
	pid_t pid;

	task->parent = getpid();
	if (policy->tier != POLICY_UNCONFINED &&
	    uid_map_choose(task->folders[0], &task->map, err) < 0)
		return -1;
	if (policy->tier == POLICY_NAMESPACES)
		return fork_into_namespaces(task, policy, err);
	pid = cgroup_fork(0, task->group);
	return pid < 0 ? err_sys(err, "forking a sandbox") : pid;
}

/* Returns 0 in the child. */
static pid_t open_sandbox(struct launch *launch, struct init_task *task,
			  const struct policy *policy, struct err *err)
{
	struct guard *guard = NULL;
	pid_t pid;

	if (policy->in_group && task->folder_count > 0)
		task->group = task->folders[--task->folder_count];
	if (policy->nested && task->folder_count > ZYGOTE_NAMESPACES_NAMESPACES)
		task->folder_count -= ZYGOTE_NAMESPACES_NAMESPACES;
	if (task->folder_count != init_count_folders(policy))
		return err_set(err, ERR_INVALID, "a policy with %zu folders and %zu descriptors",
			       init_count_folders(policy), task->folder_count);
	if (guard_new(launch, policy, task->folders + task->folder_count - policy->share_count,
		      &guard, err) < 0)
		return -1;
	pid = fork_init(task, policy, err);
	if (pid == 0 && policy->tier == POLICY_BWRAP)
		_exit(launch_become_bwrap(task, policy));
	if (pid > 0)
		pidlist_add(&launch->subreaper.known, pid);
	if (pid > 0 && guard != NULL)
		guard->init = pid;
	if (pid < 0 && guard != NULL)
		guard_free(guard);
	return pid;
}

/* Parses the plan in the launcher, because the policy decides how init is forked. */
static pid_t open_planned(struct launch *launch, struct init_task *task, struct err *err)
{
	struct policy policy;
	size_t len = 0;
	const void *plan = plan_map(task->plan, &len, err);
	pid_t pid = -1;

	if (plan == NULL)
		return -1;
	if (plan_parse_sandbox(plan, len, &policy, err) == 0)
		pid = open_sandbox(launch, task, &policy, err);
	plan_unmap(plan, len);
	return pid;
}

static void on_sandbox(struct subreaper *subreaper, const struct wire_message *message)
{
	struct launch *launch = container_of(subreaper, struct launch, subreaper);
	struct init_task task = { .means = launch->means,
				  .plan = message->fds[WIRE_SANDBOX_PLAN],
				  .channel = message->fds[WIRE_SANDBOX_CHANNEL],
				  .folder_count = message->fd_count - WIRE_SANDBOX_DATA,
				  .group = -1,
				  .members = -1 };
	struct err err;
	pid_t pid;

	memcpy(task.folders, message->fds + WIRE_SANDBOX_DATA, task.folder_count * sizeof(int));
	pid = open_planned(launch, &task, &err);
	if (pid == 0)
		_exit(init_run(&task));
	fd_close(&task.members);
	if (pid > 0)
		send_pidfd(task.channel, pid);
	else
		wire_notify(task.channel, WIRE_FAILED, &err);
}

static void on_probe(struct subreaper *subreaper, const struct wire_message *message)
{
	const struct launch *launch = container_of(subreaper, struct launch, subreaper);
	const pid_t parent = getpid();
	struct err err;
	pid_t pid = fork();

	if (pid == 0)
		_exit(probe_run(message->fds[0], parent, launch->means));
	if (pid > 0) {
		pidlist_add(&subreaper->known, pid);
		return;
	}
	(void)err_sys(&err, "forking a probe");
	wire_notify(message->fds[0], WIRE_FAILED, &err);
}

static void on_launcher_request(struct subreaper *subreaper, const struct wire_message *message)
{
	if (message->type == WIRE_SANDBOX)
		on_sandbox(subreaper, message);
	else if (message->type == WIRE_PROBE)
		on_probe(subreaper, message);
	else
		subreaper->ended = true;
}

int launch_run(int channel, const struct privdrop_means *means, struct err *err)
{
	struct launch launch = { .means = means };

	list_init(&launch.guards);
	if (subreaper_init(&launch.subreaper, "ptycell-launch", channel, 0, err) < 0)
		return -1;
	launch.subreaper.reaped = on_reaped;
	subreaper_serve(&launch.subreaper, on_launcher_request, SUBREAPER_LAUNCHER_GRACE_MS);
	subreaper_release(&launch.subreaper);
	return 0;
}
