/* SPDX-License-Identifier: MIT */
#include "sandbox/init.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/killgroup.h"
#include "sandbox/landlock.h"
#include "sandbox/minder.h"
#include "sandbox/namespaces.h"
#include "sandbox/plan.h"
#include "sandbox/root.h"
#include "sandbox/warden.h"

struct init {
	struct warden warden;
	struct policy policy; /* its strings lie in the plan, which stays mapped */
	int workspace;        /* -1 when it has a path of its own inside */
	bool private_proc;
	bool in_group; /* of killgroup.h */
	const struct confine_means *means;
	int user_ns; /* of the interpreters; -1 is our own */
};

static void on_start(struct warden *warden, const struct wire_message *message)
{
	struct init *init = container_of(warden, struct init, warden);
	struct minder_task task = { .policy = &init->policy,
				    .means = init->means,
				    .workspace = init->workspace,
				    .user_ns = init->user_ns,
				    .parent = getpid() };
	struct err err;
	pid_t pid;

	if (message->type != WIRE_START) {
		warden->ended = true;
		return;
	}
	task.plan = message->fds[0];
	task.channel = message->fds[1];
	pid = fork();
	if (pid == 0)
		_exit(minder_run(&task));
	if (pid > 0) {
		pidlist_add(&warden->known, pid);
		return;
	}
	(void)err_sys(&err, "forking a minder");
	wire_tell(task.channel, WIRE_FAILED, &err);
}

static size_t count_folders(const struct policy *policy)
{
	return 1U + (policy->spool_path[0] != '\0') + (policy->packages_path[0] != '\0') +
	       policy->share_count;
}

static int take_policy(struct init *init, struct init_task *task, struct err *err)
{
	size_t len = 0;
	const void *plan = plan_map(task->plan, &len, err);

	fd_close(&task->plan);
	if (plan == NULL || plan_parse_sandbox(plan, len, &init->policy, err) < 0)
		return -1;
	if (task->folder_count != count_folders(&init->policy))
		return err_set(err, ERR_INVALID, "a policy with %zu folders and %zu descriptors",
			       count_folders(&init->policy), task->folder_count);
	return 0;
}

/* Everything that was inherited but channel, plan and folders, which are renumbered. */
static int close_others(struct init_task *task, struct err *err)
{
	int *kept[2 + INIT_FOLDERS_MAX] = { &task->channel, &task->plan };

	for (size_t i = 0; i < task->folder_count; i++)
		kept[2 + i] = &task->folders[i];
	return warden_close_others(kept, 2 + task->folder_count, err);
}

/* Becomes 0 of the first user namespace. Until then the server's user's files can be opened. */
static int take_user(const struct usermap *map, struct err *err)
{
	if (!map->foreign)
		return usermap_write_own(0, map, err);
	if (usermap_become_inner(err) < 0)
		return -1;
	return namespaces_bind_life(true, err);
}

/* All that are forked from here: rather one of them than anything else of the machine. */
static void prefer_for_oom(void)
{
	cleanup_fd int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	(void)!write(fd, "1000", strlen("1000"));
}

static int hand_out_listener(int channel, struct err *err)
{
	cleanup_fd int listener = namespaces_listen(err);

	if (listener < 0)
		return -1;
	return wire_send(channel, WIRE_LISTENER, NULL, &listener, 1, err);
}

static int build_inside(struct init *init, const struct init_task *task,
			struct root_sources *sources, struct err *err)
{
	if (take_user(&task->map, err) < 0 || namespaces_start(err) < 0 ||
	    root_build(&init->policy, sources, &init->private_proc, err) < 0)
		return -1;
	if (init->policy.proxy && hand_out_listener(task->channel, err) < 0)
		return -1;
	prefer_for_oom();
	if (namespaces_make_inner(&init->user_ns, err) < 0)
		return -1;
	return root_finish(err);
}

/* The order is that of the headers of namespaces and root. */
static int build(struct init *init, const struct init_task *task, struct err *err)
{
	struct root_sources sources;
	int rc;

	/* The maps can be written by whoever can be looked into only. Nobody else is here yet. */
	if (namespaces_bind_life(true, err) < 0 ||
	    root_open_sources(&init->policy, task->folders, &sources, err) < 0)
		return -1;
	rc = build_inside(init, task, &sources, err);
	root_sources_release(&sources);
	return rc;
}

static void close_folders(struct init_task *task, size_t first)
{
	for (size_t i = first; i < task->folder_count; i++)
		fd_close(&task->folders[i]);
}

/*
 * Without namespaces: a user of the session's own when we are root, and signals that stay in. As
 * long as nothing else holds them in, the session could end all that the person has running.
 */
static int join_group(struct init *init, const struct init_task *task, struct err *err)
{
	int abi = landlock_abi(task->means->landlock_abi);

	prefer_for_oom();
	if (!task->map.foreign)
		init->policy.processes_max = POLICY_NO_LIMIT; /* the person's others count too */
	else if (confine_bound_capabilities(err) < 0 || usermap_become(&task->map, err) < 0)
		return -1;
	if (killgroup_join(task->parent, abi, &init->in_group, err) < 0)
		return -1;
	if (!init->in_group)
		return err_set(err, ERR_UNSUPPORTED,
			       "this kernel's landlock has ABI %d, and holds signals in from %d on",
			       abi, LANDLOCK_ABI_SIGNALS);
	return 0;
}

static int set_up(struct init *init, struct init_task *task, struct err *err)
{
	if (take_policy(init, task, err) < 0)
		return -1;
	if (init->policy.tier == POLICY_NAMESPACES) {
		int rc = build(init, task, err);

		close_folders(task, 0);
		return rc;
	}
	init->workspace = task->folders[0];
	close_folders(task, 1);
	return init->policy.tier == POLICY_LANDLOCK ? join_group(init, task, err) : 0;
}

int init_run(const struct init_task *task)
{
	struct init init = { .workspace = -1, .user_ns = -1, .means = task->means };
	struct init_task own = *task;
	struct err err;
	int rc = close_others(&own, &err);

	if (rc == 0)
		rc = set_up(&init, &own, &err);
	if (rc == 0)
		rc = warden_init(&init.warden, "ptycell-init", own.channel, own.parent, &err);
	init.warden.is_namespace = init.policy.tier == POLICY_NAMESPACES || init.in_group;
	init.warden.obeys_parent_only = init.policy.tier == POLICY_NAMESPACES;
	/* The kernel ends a namespace with its pid 1: no need for a gentle signal. */
	if (rc == 0 && init.policy.tier == POLICY_NAMESPACES)
		rc = namespaces_bind_life(false, &err);
	if (rc < 0) {
		wire_tell(own.channel, WIRE_FAILED, &err);
		return 1;
	}
	warden_serve(&init.warden, on_start, WARDEN_INIT_GRACE_MS);
	return 0;
}
