/* SPDX-License-Identifier: MIT */
/*
 * share_seal.c - finds the mounts in writable shares in the kernel's list of mounts, because
 * protected names and the user's own disks are mounts of their own there.
 *
 * A mount is known by its number. Another session that has the same share may move folders, so that
 * a path leads to another mount when the seal is lifted.
 */
#include "sandbox/rootfs/share_seal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/mountinfo.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/mount_source.h"

struct share_seal_mount {
	char *path;
	uint64_t number; /* 0: the kernel numbers none */
};

static void release(struct share_seal *seal)
{
	for (size_t i = 0; i < seal->count; i++)
		free(seal->mounts[i].path);
	free(seal->mounts);
	*seal = (struct share_seal){ .count = 0 };
}

static bool is_within_share(const struct policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->share_count; i++)
		if (policy->shares[i].writable && hosttree_is_within(path, policy->shares[i].path))
			return true;
	return false;
}

static uint64_t number_of(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 ||
	    (st.stx_mask & STATX_MNT_ID) == 0)
		return 0;
	return st.stx_mnt_id;
}

/* Changes one flag of the mount, by the call that every kernel has. Other flags are kept. */
static int set_read_only(int fd, bool read_only)
{
	unsigned long flags = MS_BIND | MS_REMOUNT | (read_only ? MS_RDONLY : 0U);
	struct statvfs st;
	char path[64];

	if (fstatvfs(fd, &st) < 0)
		return -1;
	flags |= (st.f_flag & ST_NOSUID ? MS_NOSUID : 0U) | (st.f_flag & ST_NODEV ? MS_NODEV : 0U) |
		 (st.f_flag & ST_NOEXEC ? MS_NOEXEC : 0U);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return mount(NULL, path, NULL, flags, NULL);
}

static int seal_one(struct share_seal *seal, int root, const char *path, struct err *err)
{
	cleanup_fd int fd = mount_source_open_below(root, path, err);

	if (fd < 0)
		return -1;
	if (set_read_only(fd, true) < 0)
		return err_sys(err, "making '%s' read-only", path);
	seal->mounts = xrealloc(seal->mounts, (seal->count + 1) * sizeof(*seal->mounts));
	seal->mounts[seal->count++] =
		(struct share_seal_mount){ .path = xstrdup(path), .number = number_of(fd) };
	return 0;
}

int share_seal_set(struct share_seal *seal, const struct policy *policy, struct err *err)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *list = mountinfo_read(err);
	int rc = list != NULL ? 0 : -1;

	for (const char *line = list; rc == 0 && *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *path = mountinfo_field(line, MOUNTINFO_POINT);

		if (!mountinfo_is_read_only(line) && is_within_share(policy, path))
			rc = seal_one(seal, root, path, err);
	}
	return rc;
}

static int lift_one(const struct share_seal_mount *one, int root, struct err *err)
{
	cleanup_fd int fd = mount_source_open_below(root, one->path, err);

	if (fd < 0)
		return -1;
	if (number_of(fd) != one->number)
		return err_set(err, ERR_DENIED, "'%s' was replaced by something else", one->path);
	if (set_read_only(fd, false) < 0)
		return err_sys(err, "making '%s' writable again", one->path);
	return 0;
}

int share_seal_lift(struct share_seal *seal, struct err *err)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	for (size_t i = 0; i < seal->count && rc == 0; i++)
		rc = lift_one(&seal->mounts[i], root, err);
	release(seal);
	return rc;
}
