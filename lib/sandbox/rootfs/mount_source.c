/* SPDX-License-Identifier: MIT */
/*
 * mount_source.c - opens host folders without surprises, and makes mounts of them by descriptor.
 *
 * The mount calls of Linux 5.12 (open_tree, mount_setattr) attach a folder by descriptor with its
 * flags already set. Older kernels mount by /proc/self/fd, which is below /old while the tree is
 * built. A flag like nosuid that a mount has from the host may not be cleared in a user namespace,
 * so such flags are read and kept. Linux 5.6 has openat2, which refuses links on the way. Without
 * it the path is walked name by name.
 */
#include "sandbox/rootfs/mount_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum { NAME_MAX_BYTES = 255 };

/* ---- opening ---- */

/* Opens the path name by name, for kernels before 5.6. */
static int open_by_walking(int root, const char *path, bool may_be_link)
{
	cleanup_fd int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (at >= 0 && *path == '/') {
		size_t len = strcspn(++path, "/");
		char name[NAME_MAX_BYTES + 1];
		struct stat st;
		int next;

		if (len > NAME_MAX_BYTES) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, len);
		name[len] = '\0';
		next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		fd_close(&at);
		at = next;
		path += len;
		if (at >= 0 && (fstat(at, &st) < 0 ||
				(S_ISLNK(st.st_mode) && (*path != '\0' || !may_be_link)))) {
			errno = ELOOP;
			return -1;
		}
	}
	return fd_steal(&at);
}

/*
 * Returns whether the system call that failed is unknown. Old seccomp profiles of containers answer
 * EPERM to calls that they do not know.
 */
static bool is_unknown_call(void)
{
	return errno == ENOSYS || errno == EPERM;
}

static int open_plain(int root, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags,
				      .resolve = RESOLVE_NO_MAGICLINKS | resolve };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 && is_unknown_call() ? open_by_walking(root, path, (flags & O_NOFOLLOW) != 0)
					   : fd;
}

int mount_source_open(const char *path, int expected, struct err *err)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = open_plain(root, path, 0, expected >= 0 ? RESOLVE_NO_SYMLINKS : 0);
	struct stat found;
	struct stat wanted;

	/* Root's privileges over files do not reach into the user namespace. */
	if (fd < 0 && errno == EACCES)
		return err_set(err, ERR_DENIED,
			       "'%s' cannot be reached: a folder above it is another user's and "
			       "closed; name one of your own (PTYCELL_HOME, PTYCELL_SHARE)",
			       path);
	if (fd < 0)
		return err_sys(err, "opening '%s'", path);
	if (expected < 0)
		return fd_steal(&fd);
	if (fstat(fd, &found) < 0 || fstat(expected, &wanted) < 0)
		return err_sys(err, "looking at '%s'", path);
	if (found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino)
		return err_set(err, ERR_DENIED, "'%s' was replaced by something else", path);
	return fd_steal(&fd);
}

static int open_below(int root, const char *path, uint64_t flags, struct err *err)
{
	int fd = open_plain(root, path, flags, RESOLVE_NO_SYMLINKS | RESOLVE_IN_ROOT);

	return fd < 0 ? err_sys(err, "opening '%s' in the sandbox", path) : fd;
}

int mount_source_open_below(int root, const char *path, struct err *err)
{
	return open_below(root, path, 0, err);
}

int mount_source_open_name_below(int root, const char *path, struct err *err)
{
	return open_below(root, path, O_NOFOLLOW, err);
}

/* ---- binding ---- */

/* Returns a detached copy of the tree, or -1: by an unknown call before Linux 5.12. */
static int clone_tree(int source, const struct mount_source_bind *how)
{
	struct mount_attr attributes = {
		.attr_set = MOUNT_ATTR_NOSUID | (how->devices ? 0U : MOUNT_ATTR_NODEV) |
			    (how->writable ? 0U : MOUNT_ATTR_RDONLY) |
			    (how->execute ? 0U : MOUNT_ATTR_NOEXEC),
	};
	const unsigned int flags =
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE;
	cleanup_fd int tree = (int)syscall(SYS_open_tree, source, "", flags);

	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				&attributes, sizeof(attributes)) < 0)
		return -1;
	return fd_steal(&tree);
}

/* Returns the flags that the mount has. Flags that it had on the host may not be cleared. */
static unsigned long flags_of(const char *path)
{
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return 0;
	return (st.f_flag & ST_RDONLY ? MS_RDONLY : 0U) | (st.f_flag & ST_NOSUID ? MS_NOSUID : 0U) |
	       (st.f_flag & ST_NODEV ? MS_NODEV : 0U) | (st.f_flag & ST_NOEXEC ? MS_NOEXEC : 0U);
}

/*
 * For kernels before 5.12. Mounts below `source` are left out, because their flags could not be
 * set.
 */
static int bind_by_path(int source, const char *target, const struct mount_source_bind *how)
{
	unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID | (how->devices ? 0U : MS_NODEV) |
			      (how->writable ? 0U : MS_RDONLY) | (how->execute ? 0U : MS_NOEXEC);
	char path[64];

	(void)snprintf(path, sizeof(path), "/old/proc/self/fd/%d", source);
	if (mount(path, target, NULL, MS_BIND, NULL) < 0)
		return -1;
	return mount(NULL, target, NULL, flags | flags_of(target), NULL);
}

static int move_tree(int tree, const char *target, int target_fd)
{
	if (target_fd >= 0)
		return (int)syscall(SYS_move_mount, tree, "", target_fd, "",
				    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
}

int mount_source_bind(int source, const char *target, int target_fd,
		      const struct mount_source_bind *how, struct err *err)
{
	cleanup_fd int tree = clone_tree(source, how);
	int rc;

	if (tree < 0 && is_unknown_call())
		rc = bind_by_path(source, target, how);
	else if (tree < 0)
		rc = -1;
	else
		rc = move_tree(tree, target, target_fd);
	return rc < 0 ? err_sys(err, "mounting '%s'", target) : 0;
}

int mount_source_idmap(int source, bool writable, int user_ns, struct err *err)
{
	const struct mount_source_bind how = { .writable = writable, .execute = true };
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
					 .userns_fd = (unsigned int)user_ns };
	cleanup_fd int tree = clone_tree(source, &how);

	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				&attributes, sizeof(attributes)) < 0)
		return err_sys(err, "mapping the owners of a share");
	return fd_steal(&tree);
}

/* An overlay needs two lower folders: `empty` is the second. */
static int configure_overlay(int context, int source, int empty)
{
	char folders[128];

	/* By descriptor, because a path may contain the separators. */
	(void)snprintf(folders, sizeof(folders), "/old/proc/self/fd/%d:/old/proc/self/fd/%d",
		       source, empty);
	if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "lowerdir", folders, 0) < 0 ||
	    syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "xino", "on", 0) < 0)
		return -1;
	return (int)syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

int mount_source_overlay(int source, int empty, struct err *err)
{
	const unsigned int flags = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	cleanup_fd int context = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	int tree = -1;

	if (context >= 0 && configure_overlay(context, source, empty) == 0)
		tree = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, flags);
	return tree < 0 ? err_sys(err, "mounting an overlay") : tree;
}

int mount_source_pin_link(int link, struct err *err)
{
	static const struct mount_source_bind how = { .writable = false };
	cleanup_fd int tree = clone_tree(link, &how);

	if (tree < 0 && errno == ENOSYS)
		return 0;
	return tree < 0 || move_tree(tree, NULL, link) < 0 ? err_sys(err, "mounting a link") : 0;
}

int mount_source_place(int tree, const char *target, int target_fd, struct err *err)
{
	return move_tree(tree, target, target_fd) < 0 ? err_sys(err, "mounting '%s'", target) : 0;
}

int mount_source_seal(const char *path, struct err *err)
{
	unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | flags_of(path);

	if (mount(NULL, path, NULL, flags, NULL) < 0)
		return err_sys(err, "making '%s' read-only", path);
	return 0;
}
