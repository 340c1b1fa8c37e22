/* SPDX-License-Identifier: MIT */
/*
 * filesystem.c - makes a file and looks for it under other letters. A mount holds what the kernel
 * knows under one spelling. A file system that ignores case by itself (FUSE, 9p, SMB) gives the
 * same file under another one, without the mount. One that ignores case by the kernel's own
 * comparison (vfat, folders of ext4) does not: all spellings are one entry.
 */
#include "confinement/filesystem.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/random_name.h"

enum { MODE = 0400 /* one that is no default */ };

/* Knows those that compare letters exactly, or by the kernel, and store modes. */
static bool is_known(int folder)
{
	static const long known[] = { EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, XFS_SUPER_MAGIC,
				      F2FS_SUPER_MAGIC, TMPFS_MAGIC };
	struct statfs st;

	if (fstatfs(folder, &st) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (st.f_type == known[i])
			return true;
	return false;
}

/* Returns the name that the kernel has for what is there. The caller frees it. */
static char *kernel_name(int folder, const char *name)
{
	cleanup_fd int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd_path(fd) : NULL;
}

static bool is_elsewhere_too(int folder, const char *name, const char *other)
{
	cleanup_free char *one = kernel_name(folder, name);
	cleanup_free char *two = kernel_name(folder, other);

	return one != NULL && two != NULL && !str_eq(one, two);
}

static const char *judge(int folder, int fd, const char *name, const char *other)
{
	struct stat st;

	if (is_elsewhere_too(folder, name, other))
		return "is on a file system that takes .ENVRC for .envrc: code could write under "
		       "another spelling what is held read-only. Share it without :rw";
	if (fchmod(fd, MODE) == 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) != MODE)
		return "is on a file system that stores no modes: ptycell would not know again "
		       "what it puts there to hold names like .envrc. Share it without :rw";
	return NULL;
}

const char *filesystem_try(int folder)
{
	cleanup_free char *name = random_name_new(".ptycell-case-");
	cleanup_free char *other = xstrdup(name);
	cleanup_fd int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *objection;

	if (fd < 0)
		return NULL; /* nor can a session write there */
	for (char *at = other; *at != '\0'; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	objection = judge(folder, fd, name, other);
	(void)unlinkat(folder, name, 0);
	return objection;
}

const char *filesystem_objection(int folder)
{
	return is_known(folder) ? NULL : filesystem_try(folder);
}
