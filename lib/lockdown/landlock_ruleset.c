/* SPDX-License-Identifier: MIT */
/*
 * landlock_ruleset.c - thin wrappers of the three system calls, which glibc does not have. The size
 * of the attributes' struct depends on the kernel's version; ours is the newest, and older kernels
 * accept it as long as the members they do not know are zero.
 */
#include "lockdown/landlock_ruleset.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum { RULE_NET_PORT = 2, NET_BIND_TCP = 1, NET_CONNECT_TCP = 2 };

struct net_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};

int landlock_abi(int max)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return 0;
	if (abi > LANDLOCK_ABI_MAX)
		abi = LANDLOCK_ABI_MAX;
	return abi < max ? (int)abi : max;
}

struct landlock_rights landlock_ruleset_rights(int abi)
{
	struct landlock_rights rights = { .fs = LANDLOCK_ACCESS_FS_REFER - 1 };

	if (abi >= 2)
		rights.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		rights.fs |= LANDLOCK_RULESET_TRUNCATE;
	if (abi >= LANDLOCK_ABI_PORTS)
		rights.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (abi >= 5)
		rights.fs |= LANDLOCK_RULESET_IOCTL_DEV;
	if (abi >= LANDLOCK_ABI_SIGNALS)
		rights.scoped = LANDLOCK_SCOPE_SOCKETS | LANDLOCK_SCOPE_SIGNALS;
	if (abi >= LANDLOCK_ABI_SOCKETS)
		rights.fs |= LANDLOCK_RULESET_RESOLVE_UNIX;
	return rights;
}

/* A kernel refuses a struct that is longer than its own, unless the rest is zero. */
int landlock_ruleset_new(const struct landlock_rights *rights, struct err *err)
{
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, rights, sizeof(*rights), 0);

	return ruleset < 0 ? err_sys(err, "making a landlock ruleset") : ruleset;
}

int landlock_ruleset_allow(int ruleset, int fd, uint64_t rights, struct err *err)
{
	struct landlock_path_beneath_attr attr = { .allowed_access = rights, .parent_fd = fd };

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

int landlock_ruleset_allow_folder(int ruleset, const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? 0 : landlock_ruleset_allow(ruleset, fd, LANDLOCK_RULESET_READ, err);
}

int landlock_ruleset_allow_file(int ruleset, const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? 0 : landlock_ruleset_allow(ruleset, fd, LANDLOCK_ACCESS_FS_READ_FILE, err);
}

int landlock_ruleset_allow_port(int ruleset, uint16_t port, struct err *err)
{
	struct net_port_attr attr = { .allowed_access = NET_CONNECT_TCP, .port = port };

	if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attr, 0) < 0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

int landlock_ruleset_enter(int ruleset, struct err *err)
{
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "entering the landlock ruleset");
	return 0;
}
