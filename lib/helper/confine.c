/* SPDX-License-Identifier: MIT */
#include "helper/confine.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* Debian 12's header ends at REFER; the numbers are the kernel's. */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15)
#define NET_BIND_TCP UINT64_C(1)
#define NET_CONNECT_TCP UINT64_C(2)
#define SCOPE_ABSTRACT_UNIX UINT64_C(1)
#define SCOPE_SIGNAL UINT64_C(2)

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* What each version of the interface can refuse, and the size of its struct. */
static const struct {
	struct ruleset_attr attr;
	size_t size;
} abis[] = {
	[1] = { { .fs = LANDLOCK_ACCESS_FS_REFER - 1 }, 8 },
	[2] = { { .fs = RIGHT_TRUNCATE - 1 }, 8 },
	[3] = { { .fs = RIGHT_IOCTL_DEV - 1 }, 8 },
	[4] = { { .fs = RIGHT_IOCTL_DEV - 1, .net = NET_BIND_TCP | NET_CONNECT_TCP }, 16 },
	[5] = { { .fs = 2 * RIGHT_IOCTL_DEV - 1, .net = NET_BIND_TCP | NET_CONNECT_TCP }, 16 },
	[6] = { { .fs = 2 * RIGHT_IOCTL_DEV - 1,
		  .net = NET_BIND_TCP | NET_CONNECT_TCP,
		  .scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL },
		24 },
};

const uint64_t confine_read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
const uint64_t confine_write = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
			       LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			       LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |
			       RIGHT_TRUNCATE;
const uint64_t confine_remove = LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
				LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR |
				LANDLOCK_ACCESS_FS_REFER;

int confine_process(struct err *err)
{
	struct rlimit none = { 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "giving up rights");
	return 0;
}

static int add_rule(int ruleset, const struct confine_rule *rule, uint64_t handled, struct err *err)
{
	struct landlock_path_beneath_attr attr = { .allowed_access = rule->rights & handled,
						   .parent_fd = rule->fd };

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

static int enter(const struct confine_rule *rules, size_t count, int min_abi, bool with_network,
		 struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	cleanup_fd int ruleset = -1;
	struct ruleset_attr attr;

	if (abi < 1 || abi < min_abi)
		return 0;
	if (abi > (long)ARRAY_SIZE(abis) - 1)
		abi = (long)ARRAY_SIZE(abis) - 1;
	attr = abis[abi].attr;
	if (with_network)
		attr.net = 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, abis[abi].size, 0);
	if (ruleset < 0)
		return err_sys(err, "making a landlock ruleset");
	for (size_t i = 0; i < count; i++)
		if (add_rule(ruleset, &rules[i], attr.fs, err) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "entering the landlock ruleset");
	return 0;
}

int confine_files(const struct confine_rule *rules, size_t count, int min_abi, struct err *err)
{
	return enter(rules, count, min_abi, false, err);
}

int confine_files_only(const struct confine_rule *rules, size_t count, struct err *err)
{
	return enter(rules, count, 0, true, err);
}
