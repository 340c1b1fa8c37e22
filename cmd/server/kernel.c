/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

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

int kernel_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* True when the file says 0, false also when there is no such switch. */
static bool is_zero(const char *path)
{
	struct err err = { 0 };
	size_t len = 0;
	cleanup_free char *text = fd_read_file(AT_FDCWD, path, 64, &len, &err);

	return text && text[0] == '0';
}

bool kernel_has_user_namespaces(void)
{
	if (access("/proc/self/ns/user", F_OK) < 0 || is_zero("/proc/sys/user/max_user_namespaces"))
		return false;
	if (geteuid() == 0)
		return true;
	/* The switches of Debian's and of Ubuntu's kernels for ordinary users. */
	return !is_zero("/proc/sys/kernel/unprivileged_userns_clone") &&
	       (access("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", F_OK) < 0 ||
		is_zero("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"));
}
