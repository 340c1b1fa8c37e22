/* SPDX-License-Identifier: MIT */
/*
 * unlock.c - changes the mode of an O_PATH descriptor, which fchmod() refuses. fchmodat2() with
 * AT_EMPTY_PATH accepts one from Linux 6.6 on; older kernels need the descriptor's name in /proc.
 */
#include "unlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static int add_rights(int fd, mode_t rights)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (syscall(SYS_fchmodat2, fd, "", (st.st_mode & 07777) | rights, AT_EMPTY_PATH) == 0)
		return 0;
	/* Before Linux 6.6 only /proc leads from an O_PATH descriptor to a chmod. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, (st.st_mode & 07777) | rights);
}

int unlock_open_folder(int fd)
{
	return add_rights(fd, 0700);
}

int unlock_open_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return (st.st_mode & 0600) == 0600 ? 0 : add_rights(fd, 0600);
}

int unlock_and_open_file(int dir_fd, const char *name, int flags)
{
	cleanup_fd int path = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (path < 0 || unlock_open_file(path) < 0)
		return -1;
	return openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}
