/* SPDX-License-Identifier: MIT */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/hosttree.h"

#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_RESOLVE_UNIX (UINT64_C(1) << 16)
#define NET_TCP UINT64_C(3)       /* bind and connect */
#define SCOPE_SOCKETS UINT64_C(1) /* abstract ones */
#define SCOPE_SIGNALS UINT64_C(2)

#define READ_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_FILES (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
/* What a rule for something that is no folder may say. */
#define FILE_RIGHTS                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | WRITE_FILES | FS_IOCTL_DEV |  \
	 FS_RESOLVE_UNIX)

/* What may be done to a file, or below a folder. */
enum access {
	ACCESS_READ, /* and run */
	ACCESS_LOOK, /* not run */
	ACCESS_CHANGE,
	ACCESS_OWN, /* the same, and its sockets are the session's own */
	ACCESS_DEVICE,
	ACCESS_TERMINAL,
	ACCESSES
};

struct rule {
	const char *path;
	enum access access;
};

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct domain {
	int ruleset;
	uint64_t fs; /* the rights that it handles */
};

static const uint64_t change = READ_FILES | LANDLOCK_ACCESS_FS_EXECUTE | WRITE_FILES |
			       LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			       LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
			       LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
			       LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

static const uint64_t rights[ACCESSES] = {
	[ACCESS_READ] = READ_FILES | LANDLOCK_ACCESS_FS_EXECUTE,
	[ACCESS_LOOK] = READ_FILES,
	[ACCESS_CHANGE] = change,
	[ACCESS_OWN] = change | FS_RESOLVE_UNIX,
	[ACCESS_DEVICE] = LANDLOCK_ACCESS_FS_READ_FILE | WRITE_FILES,
	[ACCESS_TERMINAL] = READ_FILES | WRITE_FILES | FS_IOCTL_DEV,
};

/* A root of our own: what is mounted there bounds it already, so all of it may be read. */
static const struct rule own_root[] = {
	{ "/", ACCESS_READ },        { "/tmp", ACCESS_OWN },          { "/dev/shm", ACCESS_OWN },
	{ POLICY_DATA, ACCESS_OWN }, { "/dev/pts", ACCESS_TERMINAL },
};

/*
 * The host's root, beside hosttree.h: /tmp, /dev/shm and the terminals in /dev/pts are other
 * programs' too. Without accounts there would be no user name.
 */
static const struct rule host_root[] = {
	{ "/proc", ACCESS_LOOK },       { "/sys/devices/system/cpu", ACCESS_LOOK },
	{ "/etc/passwd", ACCESS_LOOK }, { "/etc/group", ACCESS_LOOK },
	{ "/etc/hosts", ACCESS_LOOK },
};

/* What each version can refuse, and the size of its struct. */
static struct ruleset_attr handled_by(int abi, size_t *ret_size)
{
	struct ruleset_attr attr = { .fs = LANDLOCK_ACCESS_FS_REFER - 1 };

	*ret_size = sizeof(attr.fs);
	if (abi >= 2)
		attr.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		attr.fs |= FS_TRUNCATE;
	if (abi >= 4) {
		attr.net = NET_TCP;
		*ret_size = offsetof(struct ruleset_attr, scoped);
	}
	if (abi >= 5)
		attr.fs |= FS_IOCTL_DEV;
	if (abi >= LANDLOCK_ABI_SIGNALS) {
		attr.scoped = SCOPE_SOCKETS | SCOPE_SIGNALS;
		*ret_size = sizeof(attr);
	}
	if (abi >= LANDLOCK_ABI_SOCKETS)
		attr.fs |= FS_RESOLVE_UNIX;
	return attr;
}

int landlock_abi(int max)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return 0;
	if (abi > LANDLOCK_ABI_MAX)
		abi = LANDLOCK_ABI_MAX;
	return abi < max ? (int)abi : max;
}

static int make_ruleset(const struct ruleset_attr *attr, size_t size, struct err *err)
{
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, attr, size, 0);

	return ruleset < 0 ? err_sys(err, "making a landlock ruleset") : ruleset;
}

static int restrict_self(int ruleset, struct err *err)
{
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "entering the landlock domain");
	return 0;
}

/* ---- rules ---- */

static int allow_fd(const struct domain *domain, int fd, enum access access, struct err *err)
{
	struct landlock_path_beneath_attr attr = { .parent_fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at what landlock shall allow");
	attr.allowed_access = rights[access] & domain->fs;
	if (!S_ISDIR(st.st_mode))
		attr.allowed_access &= FILE_RIGHTS;
	if (syscall(SYS_landlock_add_rule, domain->ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) <
	    0)
		return err_sys(err, "adding a landlock rule");
	return 0;
}

static int allow_path(const struct domain *domain, const char *path, enum access access,
		      struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "opening '%s' for a landlock rule", path);
	return allow_fd(domain, fd, access, err);
}

/* What this system does not have needs no rule. */
static int allow_if_there(const struct domain *domain, const char *path, enum access access,
			  struct err *err)
{
	if (allow_path(domain, path, access, err) < 0 && err->sys != ENOENT)
		return -1;
	return 0;
}

static int allow_all(const struct domain *domain, const struct rule *rules, size_t count,
		     struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (allow_if_there(domain, rules[i].path, rules[i].access, err) < 0)
			return -1;
	return 0;
}

static int allow_devices(const struct domain *domain, struct err *err)
{
	for (size_t i = 0; i < hosttree_device_count; i++)
		if (allow_if_there(domain, hosttree_devices[i], ACCESS_DEVICE, err) < 0)
			return -1;
	return allow_if_there(domain, "/dev/tty", ACCESS_TERMINAL, err);
}

static int allow_etc(void *data, const char *path, struct err *err)
{
	return allow_if_there(data, path, ACCESS_LOOK, err);
}

/* The interpreter's own terminal, of all that stand in the host's /dev/pts. */
static int allow_terminal(const struct domain *domain, struct err *err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			return allow_fd(domain, fd, ACCESS_TERMINAL, err);
	return 0;
}

static int allow_shares(const struct domain *domain, const struct policy *policy, struct err *err)
{
	for (size_t i = 0; i < policy->share_count; i++) {
		const struct policy_share *share = &policy->shares[i];

		/* Neither landlock nor bwrap can keep a name in it from being made. */
		if (share->writable && policy->tier != POLICY_NAMESPACES)
			return err_set(err, ERR_UNSUPPORTED,
				       "writing in a share needs tier namespaces, and this is "
				       "tier %s: share '%s' without :rw, or ask 'ptycell doctor' "
				       "how this machine gets that tier",
				       policy_tier_name(policy->tier), share->path);
		if (allow_path(domain, share->path, share->writable ? ACCESS_CHANGE : ACCESS_READ,
			       err) < 0)
			return -1;
	}
	return 0;
}

static int allow_host(struct domain *domain, const struct policy *policy, int workspace,
		      struct err *err)
{
	const char *const folders[] = { policy->spool_path, policy->packages_path };

	if (allow_all(domain, host_root, ARRAY_SIZE(host_root), err) < 0 ||
	    hosttree_each_etc("", allow_etc, domain, err) < 0 || allow_terminal(domain, err) < 0 ||
	    allow_fd(domain, workspace, ACCESS_OWN, err) < 0)
		return -1;
	for (size_t i = 0; i < hosttree_system_count; i++)
		if (allow_if_there(domain, hosttree_system[i], ACCESS_READ, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i][0] != '\0' && allow_path(domain, folders[i], ACCESS_READ, err) < 0)
			return -1;
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (allow_path(domain, policy->runtimes[i], ACCESS_READ, err) < 0)
			return -1;
	return 0;
}

int landlock_enter(const struct policy *policy, int workspace, int abi, struct err *err)
{
	bool host = policy->tier == POLICY_LANDLOCK;
	size_t size = 0;
	struct ruleset_attr attr = handled_by(abi, &size);
	cleanup_fd int ruleset = -1;
	struct domain domain;
	int rc;

	if (abi == 0)
		return host ? err_set(err, ERR_UNSUPPORTED, "this kernel has no landlock") : 0;
	/* A session's own network needs no second guard, and its servers need their ports. */
	if (!host)
		attr.net = 0;
	ruleset = make_ruleset(&attr, size, err);
	if (ruleset < 0)
		return -1;
	domain = (struct domain){ .ruleset = ruleset, .fs = attr.fs };
	if (host)
		rc = allow_host(&domain, policy, workspace, err);
	else
		rc = allow_all(&domain, own_root, ARRAY_SIZE(own_root), err);
	if (rc < 0 || allow_devices(&domain, err) < 0 || allow_shares(&domain, policy, err) < 0)
		return -1;
	return restrict_self(ruleset, err);
}

/* Every domain refuses moves between folders, handled or not, where no rule allows them. */
int landlock_enter_signal_scope(int abi, struct err *err)
{
	const struct ruleset_attr attr = { .fs = LANDLOCK_ACCESS_FS_REFER,
					   .scoped = SCOPE_SIGNALS };
	cleanup_fd int ruleset = -1;
	struct domain domain;

	if (abi < LANDLOCK_ABI_SIGNALS)
		return err_set(err, ERR_UNSUPPORTED, "this kernel's landlock leaves signals alone");
	ruleset = make_ruleset(&attr, sizeof(attr), err);
	if (ruleset < 0)
		return -1;
	domain = (struct domain){ .ruleset = ruleset, .fs = attr.fs };
	if (allow_path(&domain, "/", ACCESS_CHANGE, err) < 0)
		return -1;
	return restrict_self(ruleset, err);
}
