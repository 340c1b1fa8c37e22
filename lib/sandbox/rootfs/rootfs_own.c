/* SPDX-License-Identifier: MIT */
/*
 * rootfs_own.c - puts overlays over host folders before they are shown, for inodes of the session's
 * own.
 *
 * A bind mount has the host's inodes: inotify would report which host programs run, and a lock
 * would be visible outside. An overlay has its own. It needs a second lower folder, an empty one;
 * the mount point of /proc serves, because the mount on it keeps it empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/mount_source.h"
#include "sandbox/rootfs/rootfs_internal.h"

/*
 * Puts an overlay over the folder below /old. A link, or a folder that the host lacks, needs none.
 */
static int overlay_folder(const char *path, int empty, struct err *err)
{
	cleanup_fd int source = -1;
	cleanup_fd int tree = -1;
	char old[PATH_MAX];
	struct stat st;

	(void)snprintf(old, sizeof(old), ROOT_OLD "%s", path);
	if (lstat(old, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "looking at '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return 0;
	source = mount_source_open(old, -1, err);
	tree = source < 0 ? -1 : mount_source_overlay(source, empty, err);
	return tree < 0 ? -1 : mount_source_place(tree, old, -1, err);
}

static int overlay_runtimes(const struct policy *policy, struct rootfs_sources *sources, int empty,
			    struct err *err)
{
	for (size_t i = 0; i < policy->runtime_count; i++) {
		struct stat st;
		int tree;

		if (fstat(sources->runtimes[i], &st) < 0)
			return err_sys(err, "looking at '%s'", policy->runtimes[i]);
		if (!S_ISDIR(st.st_mode))
			continue;
		tree = mount_source_overlay(sources->runtimes[i], empty, err);
		if (tree < 0)
			return -1;
		fd_close(&sources->runtimes[i]);
		sources->runtimes[i] = tree;
		sources->overlaid |= BIT(i);
	}
	return 0;
}

int rootfs_overlay_host(const struct policy *policy, struct rootfs_sources *sources,
			struct err *err)
{
	/* A mount will cover it, so nothing can be put into it. */
	static const char empty_folder[] = "/proc";
	cleanup_fd int empty = -1;

	if (rootfs_make_folder(empty_folder, err) < 0)
		return -1;
	empty = open(empty_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (empty < 0)
		return err_sys(err, "opening '%s'", empty_folder);
	for (size_t i = 0; i < hosttree_system_count; i++)
		if (overlay_folder(hosttree_system[i], empty, err) < 0)
			return -1;
	if (overlay_folder("/etc", empty, err) < 0)
		return -1;
	return overlay_runtimes(policy, sources, empty, err);
}
