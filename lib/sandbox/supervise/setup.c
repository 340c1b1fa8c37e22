/* SPDX-License-Identifier: MIT */
/*
 * setup.c - sets up a sandbox around the calling process, by tier.
 *
 * The order in tier namespaces matters. Host folders are opened while the process is still the
 * server's user; then it becomes user 0 of the new namespace; then the mounts follow. The kernel
 * clears the parent-death signal and the dumpable flag with each change of credentials, so
 * namespaces_bind_life is called again after each.
 */
#include "sandbox/supervise/setup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/namespaces/namespaces.h"
#include "sandbox/report.h"
#include "sandbox/restrict/killgroup.h"
#include "sandbox/rootfs/rootfs.h"
#include "sandbox/supervise/bwrap.h"

/* A process that is not dumpable does not own this file. */
void setup_prefer_for_oom(void)
{
	const unsigned long dumpable = prctl(PR_GET_DUMPABLE) == 1;
	cleanup_fd int fd = -1;

	(void)prctl(PR_SET_DUMPABLE, 1UL);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	(void)!write(fd, "1000", strlen("1000"));
	(void)prctl(PR_SET_DUMPABLE, dumpable);
}

/* ---- tier namespaces ---- */

/*
 * Becomes user 0 of the first user namespace. Files of the server's user can be opened until then.
 */
static int take_user(const struct uid_map *map, struct err *err)
{
	if (!map->other_user)
		return uid_map_write_own(0, map, err);
	if (uid_map_become(0, 0, err) < 0)
		return -1;
	return namespaces_bind_life(true, err);
}

static int set_up_root(const struct policy *policy, const struct setup_task *task,
		       struct rootfs_sources *sources, struct setup_result *made, struct err *err)
{
	const uint32_t without = task->means->without;
	uint32_t layers = (BIT(LAYER_PRIVATE_PROC) | BIT(LAYER_OWN_INODES)) & ~without;

	if (take_user(task->map, err) < 0 || namespaces_start(without, err) < 0 ||
	    rootfs_build(policy, sources, &layers, err) < 0)
		return -1;
	setup_prefer_for_oom();
	if ((without & BIT(LAYER_SECOND_USER_NAMESPACE)) == 0 &&
	    namespaces_make_inner(policy->zygote_sandbox, &made->user_ns, err) < 0)
		return -1;
	if (rootfs_finish(err) < 0)
		return -1;
	made->layers |= layers;
	return namespaces_bind_life(false, err);
}

static int set_up_namespaces(const struct policy *policy, const struct setup_task *task,
			     struct setup_result *made, struct err *err)
{
	struct rootfs_sources sources;
	int rc;

	made->kills_all = true;
	made->layers = BIT(LAYER_USER_NAMESPACE) | BIT(LAYER_MOUNT_NAMESPACE) |
		       BIT(LAYER_PID_NAMESPACE) | BIT(LAYER_NET_NAMESPACE) |
		       BIT(LAYER_IPC_NAMESPACE) | BIT(LAYER_UTS_NAMESPACE) |
		       BIT(LAYER_CGROUP_NAMESPACE) | BIT(LAYER_SECOND_USER_NAMESPACE) |
		       BIT(LAYER_PRIVATE_PTY);
	/* Only a dumpable process can write its own maps. No session code is running yet. */
	if (namespaces_bind_life(true, err) < 0 ||
	    rootfs_open_sources(policy, task->folders, task->idmapped, &sources, err) < 0)
		return -1;
	rc = set_up_root(policy, task, &sources, made, err);
	rootfs_sources_release(&sources);
	if (rc < 0)
		fd_close(&made->user_ns);
	return rc;
}

/* ---- tier landlock ---- */

/*
 * Makes a kill group, and as root becomes the session's own user. A session whose signals are not
 * held in could end every process of the user, so that is an error.
 */
static int set_up_kill_group(const struct policy *policy, const struct setup_task *task,
			     struct setup_result *made, struct err *err)
{
	int abi = landlock_abi(task->means->landlock_abi);

	setup_prefer_for_oom();
	if (task->map->other_user && (privdrop_bound_capabilities(err) < 0 ||
				      uid_map_become(task->map->uid, task->map->gid, err) < 0))
		return -1;
	if (access(policy->data_path, X_OK) < 0)
		return err_set(err, ERR_DENIED,
			       "a session's own user cannot get to '%s': a folder above it is "
			       "closed to others; set PTYCELL_HOME to a folder that others may "
			       "pass through, as /var/tmp/ptycell is",
			       policy->data_path);
	if (killgroup_join(task->outside, abi, &made->kills_all, err) < 0)
		return -1;
	if (!made->kills_all && abi == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "this kernel has no landlock, or it is switched off");
	if (!made->kills_all)
		return err_set(err, ERR_UNSUPPORTED,
			       "this kernel's landlock has ABI %d, and holds signals in from %d on",
			       abi, LANDLOCK_ABI_SIGNALS);
	made->layers |= BIT(LAYER_KILL_GROUP);
	return 0;
}

/* ---- tier bwrap ---- */

/* bwrap has made everything; the folders must still be compared. */
static int set_up_bwrap(const struct policy *policy, const struct setup_task *task,
			struct setup_result *made, struct err *err)
{
	made->kills_all = true;
	made->layers =
		BIT(LAYER_USER_NAMESPACE) | BIT(LAYER_MOUNT_NAMESPACE) | BIT(LAYER_PID_NAMESPACE) |
		BIT(LAYER_NET_NAMESPACE) | BIT(LAYER_IPC_NAMESPACE) | BIT(LAYER_UTS_NAMESPACE) |
		BIT(LAYER_CGROUP_NAMESPACE) | BIT(LAYER_PRIVATE_PROC) | BIT(LAYER_PRIVATE_PTY);
	if (bwrap_compare(policy, task->folders, err) < 0)
		return -1;
	return namespaces_bind_life(false, err);
}

int setup_self(struct policy *policy, const struct setup_task *task,
	       struct setup_result *ret_result, struct err *err)
{
	struct setup_result made = { .workspace = -1, .user_ns = -1 };
	int rc = 0;

	if (policy->tier < POLICY_BWRAP)
		made.workspace = task->folders[0];
	if (policy->tier == POLICY_NAMESPACES)
		rc = set_up_namespaces(policy, task, &made, err);
	if (policy->tier == POLICY_BWRAP)
		rc = set_up_bwrap(policy, task, &made, err);
	if (policy->tier == POLICY_LANDLOCK)
		rc = set_up_kill_group(policy, task, &made, err);
	made.layers &= ~task->means->without;
	policy->own_inodes = (made.layers & BIT(LAYER_OWN_INODES)) != 0;
	if (rc == 0)
		*ret_result = made;
	return rc;
}
