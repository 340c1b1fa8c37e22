/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - tries system calls. Each function makes the system call once on an object of this
 * process. A seccomp filter of a container can refuse a call that the kernel has, so the version of
 * the kernel would not be enough.
 */
#include "kernel.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

bool kernel_has_pidfd(void)
{
	cleanup_fd int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return fd >= 0;
}

bool kernel_has_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	cleanup_fd int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

	return fd >= 0;
}
