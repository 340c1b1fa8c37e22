/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/util.h"
#include "filter.h"

/* The header of Debian 12 ends at ABI 2; the numbers are the kernel's. */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15)
#define NET_BIND_TCP UINT64_C(1)
#define NET_CONNECT_TCP UINT64_C(2)
#define NET_BOTH (NET_BIND_TCP | NET_CONNECT_TCP)
#define SCOPE_ABSTRACT_UNIX UINT64_C(1)
#define SCOPE_SIGNAL UINT64_C(2)

enum { RULE_NET_PORT = 2, NAME_SERVER_PORT = 53 };

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct net_port_attr {
	uint64_t allowed_access;
	uint64_t port;
};

/* What each version of the interface can refuse, and the size of its struct. */
static const struct {
	struct ruleset_attr attr;
	size_t size;
} abis[] = {
	[1] = { { .fs = LANDLOCK_ACCESS_FS_REFER - 1 }, 8 },
	[2] = { { .fs = RIGHT_TRUNCATE - 1 }, 8 },
	[3] = { { .fs = RIGHT_IOCTL_DEV - 1 }, 8 },
	[4] = { { .fs = RIGHT_IOCTL_DEV - 1, .net = NET_BOTH }, 16 },
	[5] = { { .fs = 2 * RIGHT_IOCTL_DEV - 1, .net = NET_BOTH }, 16 },
	[6] = { { .fs = 2 * RIGHT_IOCTL_DEV - 1,
		  .net = NET_BOTH,
		  .scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL },
		24 },
};

/* Configuration, modules of the name service switch, and the sockets of local name services. */
static const char *const resolver_folders[] = { "/etc", "/usr",     "/lib",        "/lib64",
						"/run", "/var/run", "/var/lib/sss" };

/* -1 with `err` set; 0 when the kernel has no landlock; else *ret_ruleset is open. */
static int make_ruleset(struct ruleset_attr *ret_attr, int *ret_ruleset, struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 1)
		return 0;
	if (abi > (long)ARRAY_SIZE(abis) - 1)
		abi = (long)ARRAY_SIZE(abis) - 1;
	*ret_attr = abis[abi].attr;
	*ret_ruleset = (int)syscall(SYS_landlock_create_ruleset, ret_attr, abis[abi].size, 0);
	if (*ret_ruleset < 0)
		return err_sys(err, "making a landlock ruleset");
	return 1;
}

static int allow_port(int ruleset, uint16_t port, struct err *err)
{
	struct net_port_attr attr = { .allowed_access = NET_CONNECT_TCP, .port = port };

	if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &attr, 0) < 0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

/* A folder that is not there needs no rule. */
static int allow_reading(int ruleset, const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct landlock_path_beneath_attr attr = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
								     LANDLOCK_ACCESS_FS_READ_DIR,
						   .parent_fd = fd };

	if (fd >= 0 &&
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

static int enter(int ruleset, struct err *err)
{
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "entering the landlock ruleset");
	return 0;
}

int confine_process(struct err *err)
{
	struct rlimit none = { 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "giving up rights");
	return 0;
}

int confine_proxy(const uint16_t *ports, size_t count, struct err *err)
{
	cleanup_fd int ruleset = -1;
	struct ruleset_attr attr;
	int made = make_ruleset(&attr, &ruleset, err);

	if (made < 0)
		return -1;
	for (size_t i = 0; made > 0 && attr.net != 0 && i < count; i++)
		if (allow_port(ruleset, ports[i], err) < 0)
			return -1;
	if (made > 0 && enter(ruleset, err) < 0)
		return -1;
	return filter_proxy(err);
}

int confine_resolver(struct err *err)
{
	cleanup_fd int ruleset = -1;
	struct ruleset_attr attr;
	int made = make_ruleset(&attr, &ruleset, err);

	if (made < 0)
		return -1;
	for (size_t i = 0; made > 0 && i < ARRAY_SIZE(resolver_folders); i++)
		if (allow_reading(ruleset, resolver_folders[i], err) < 0)
			return -1;
	if (made > 0 && attr.net != 0 && allow_port(ruleset, NAME_SERVER_PORT, err) < 0)
		return -1;
	if (made > 0 && enter(ruleset, err) < 0)
		return -1;
	return filter_resolver(err);
}
