/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/mount_source.h"
#include "sandbox/rootfs/rootfs_internal.h"

/*
 * A mount of the host's folder has the host's inodes: a watch on it would tell which programs run
 * outside, and a lock would be seen there. Overlays take their place before anything is shown.
 */

/* Covers the folder where it is shown from; a link, or what the host does not have, needs none. */
static int cover(const char *path, int empty, struct err *err)
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

static int cover_runtimes(const struct policy *policy, struct rootfs_sources *sources, int empty,
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
		sources->covered |= BIT(i);
	}
	return 0;
}

int rootfs_cover(const struct policy *policy, struct rootfs_sources *sources, struct err *err)
{
	/* A mount will lie on it, so nothing can be put into it. */
	static const char empty_folder[] = "/proc";
	cleanup_fd int empty = -1;

	if (rootfs_make_folder(empty_folder, err) < 0)
		return -1;
	empty = open(empty_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (empty < 0)
		return err_sys(err, "opening '%s'", empty_folder);
	for (size_t i = 0; i < hosttree_system_count; i++)
		if (cover(hosttree_system[i], empty, err) < 0)
			return -1;
	if (cover("/etc", empty, err) < 0)
		return -1;
	return cover_runtimes(policy, sources, empty, err);
}
