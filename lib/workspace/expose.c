/* SPDX-License-Identifier: MIT */
/* expose.c - writes a file's pages back, unless no process may write to the file. */
#include "workspace/expose.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Linux sets a file's times at the first write to a clean page of a mapping, and at no further one
 * until the page is written back. A lease is granted only if no process may write to the file, and
 * to ask for one costs less than to write back. In an overlay a mapping is of the file below, which
 * a lease does not ask and only fdatasync() reaches. A memory file system writes nothing back:
 * there such writes stay unseen.
 */
void expose_writes(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC)
		(void)fdatasync(fd);
	else if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	else
		(void)sync_file_range(fd, 0, 0,
				      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
}
