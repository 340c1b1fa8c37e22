/* SPDX-License-Identifier: MIT */
/*
 * file_stat.c - asks statx, which does not wait for a network file system, or else fstatat. Filters
 * of old containers answer EPERM to statx, and glibc's substitute for a missing one EINVAL to its
 * flags.
 */
#include "workspace/file_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

static struct statx_timestamp timestamp(const struct timespec *from)
{
	return (struct statx_timestamp){ .tv_sec = from->tv_sec,
					 .tv_nsec = (unsigned int)from->tv_nsec };
}

static int stat_plainly(int fd, const char *name, int flags, struct statx *ret)
{
	struct stat st;

	if (fstatat(fd, name, &st, flags) < 0)
		return -1;
	*ret = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_mode = (unsigned short)st.st_mode,
		.stx_nlink = (unsigned int)st.st_nlink,
		.stx_uid = st.st_uid,
		.stx_gid = st.st_gid,
		.stx_ino = st.st_ino,
		.stx_size = (unsigned long long)st.st_size,
		.stx_blocks = (unsigned long long)st.st_blocks,
		.stx_atime = timestamp(&st.st_atim),
		.stx_mtime = timestamp(&st.st_mtim),
		.stx_ctime = timestamp(&st.st_ctim),
		.stx_dev_major = major(st.st_dev),
		.stx_dev_minor = minor(st.st_dev),
	};
	return 0;
}

int file_stat_at(int fd, const char *name, struct statx *ret)
{
	const int flags = AT_SYMLINK_NOFOLLOW | (name[0] == '\0' ? AT_EMPTY_PATH : 0);

	if (statx(fd, name, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, ret) == 0)
		return 0;
	return errno == ENOSYS || errno == EPERM || errno == EINVAL
		       ? stat_plainly(fd, name, flags, ret)
		       : -1;
}
