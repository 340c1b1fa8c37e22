/* SPDX-License-Identifier: MIT */
/*
 * landlock.c - the landlock rules of each tier.
 *
 * With a root of its own a session may read all of it, since the mounts already decide what is
 * there; landlock protects against mistakes in them. On the host's root the rules list everything
 * that a session may open. Rules hold through mounts, so a share below a folder may get rights that
 * were meant for that folder. A zygote's program was opened in another root, so no path rule covers
 * it but /proc/self/exe.
 */
#include "sandbox/restrict/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/rootfs/hosttree.h"

#define READ_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_FILES (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_RULESET_TRUNCATE)
#define TMP "/tmp"
#define VAR_TMP "/var/tmp" /* the same folder as TMP, or one of its own */
/* The rights that a rule for a file, not a folder, may contain. */
#define FILE_RIGHTS                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | WRITE_FILES |                 \
	 LANDLOCK_RULESET_IOCTL_DEV | LANDLOCK_RULESET_RESOLVE_UNIX)

/* Rights to a file, or below a folder. */
enum access {
	ACCESS_READ, /* with execution */
	ACCESS_LOOK, /* without execution */
	ACCESS_CHANGE,
	ACCESS_OWN, /* like CHANGE, and Unix sockets there may be connected to */
	ACCESS_DEVICE,
	ACCESS_TERMINAL,
	ACCESSES
};

struct rule {
	const char *path;
	enum access access;
};

struct domain {
	int ruleset;
	uint64_t fs; /* the rights that the ruleset handles */
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
	[ACCESS_OWN] = change | LANDLOCK_RULESET_RESOLVE_UNIX,
	[ACCESS_DEVICE] = LANDLOCK_ACCESS_FS_READ_FILE | WRITE_FILES,
	[ACCESS_TERMINAL] = READ_FILES | WRITE_FILES | LANDLOCK_RULESET_IOCTL_DEV,
};

/*
 * Rules for a root of the session's own, where everything may be read. A forked session's program
 * was opened in the zygote's root: this root's "/" does not cover it, but "/usr" does.
 */
static const struct rule own_root[] = {
	{ "/", ACCESS_READ },
	{ "/usr", ACCESS_READ },
	{ TMP, ACCESS_OWN },
	{ VAR_TMP, ACCESS_OWN },
	{ "/dev/shm", ACCESS_OWN },
	{ POLICY_DATA, ACCESS_OWN },
	{ POLICY_PACKAGES "/" POLICY_BELL, ACCESS_DEVICE },
	{ "/dev/pts", ACCESS_TERMINAL },
};

/*
 * Rules for the host's root in addition to hosttree.h. /tmp, /dev/shm and the terminals in /dev/pts
 * are left out, because other programs use them. Without the account files there would be no user
 * name.
 */
static const struct rule host_root[] = {
	{ "/proc", ACCESS_LOOK },       { "/sys/devices/system/cpu", ACCESS_LOOK },
	{ "/etc/passwd", ACCESS_LOOK }, { "/etc/group", ACCESS_LOOK },
	{ "/etc/hosts", ACCESS_LOOK },
};

/* ---- rules ---- */

static int allow_fd(const struct domain *domain, int fd, enum access access, struct err *err)
{
	uint64_t allowed = rights[access] & domain->fs;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "looking at what landlock shall allow");
	if (!S_ISDIR(st.st_mode))
		allowed &= FILE_RIGHTS;
	return landlock_ruleset_allow(domain->ruleset, fd, allowed, err);
}

static int allow_path(const struct domain *domain, const char *path, enum access access,
		      struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "opening '%s' for a landlock rule", path);
	return allow_fd(domain, fd, access, err);
}

/* A path that does not exist needs no rule. */
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

/* Allows the interpreter's own terminal only, because the host's /dev/pts has others. */
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

		/* Neither landlock nor bwrap can prevent the creation of a protected name. */
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

static bool has_share_below(const struct policy *policy, const char *path)
{
	const size_t len = strlen(path);

	for (size_t i = 0; i < policy->share_count; i++)
		if (strncmp(policy->shares[i].path, path, len) == 0 &&
		    (policy->shares[i].path[len] == '/' || policy->shares[i].path[len] == '\0'))
			return true;
	return false;
}

static bool holds_share(const struct policy *policy, const char *path)
{
	if (strcmp(path, TMP) == 0 || strcmp(path, VAR_TMP) == 0)
		return has_share_below(policy, TMP) || has_share_below(policy, VAR_TMP);
	return has_share_below(policy, path);
}

/*
 * A rule holds through mounts. If a share is below a folder with the session's own sockets, that
 * folder loses the right to connect. The share may contain sockets of the user's programs. Sockets
 * that the interpreter made itself need no rule.
 */
static int allow_own_root(const struct domain *domain, const struct policy *policy, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_root); i++) {
		enum access access = own_root[i].access;

		if (access == ACCESS_OWN && holds_share(policy, own_root[i].path))
			access = ACCESS_CHANGE;
		if (allow_if_there(domain, own_root[i].path, access, err) < 0)
			return -1;
	}
	/* A forked session's program lies in the zygote's root, whose inodes may differ. */
	return policy->nested ? allow_if_there(domain, "/proc/self/exe", ACCESS_READ, err) : 0;
}

/* A runtime that the session's user cannot reach is useless to it, but no reason to fail. */
static int allow_runtimes(const struct domain *domain, const struct policy *policy, struct err *err)
{
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (allow_path(domain, policy->runtimes[i], ACCESS_READ, err) < 0 &&
		    err->sys != EACCES)
			return -1;
	return 0;
}

/* Allows the pipe by which programs ask for packages. The session can make no file beside it. */
static int allow_asking(const struct domain *domain, const struct policy *policy, struct err *err)
{
	char path[PATH_MAX];

	if (policy->packages_path[0] == '\0')
		return 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", policy->packages_path, POLICY_BELL) >=
	    sizeof(path))
		return err_set(err, ERR_INVALID, "the path of the packages is too long");
	return allow_if_there(domain, path, ACCESS_DEVICE, err);
}

static int allow_host(struct domain *domain, const struct policy *policy, int workspace,
		      struct err *err)
{
	const char *const folders[] = { policy->spool_path, policy->packages_path };
	cleanup_fd int etc = hosttree_open_etc("", err);

	if (etc < 0 || allow_all(domain, host_root, ARRAY_SIZE(host_root), err) < 0 ||
	    hosttree_each_etc(etc, allow_etc, domain, err) < 0 || allow_terminal(domain, err) < 0 ||
	    allow_fd(domain, workspace, ACCESS_OWN, err) < 0)
		return -1;
	for (size_t i = 0; i < hosttree_system_count; i++)
		if (allow_if_there(domain, hosttree_system[i], ACCESS_READ, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i][0] != '\0' && allow_path(domain, folders[i], ACCESS_READ, err) < 0)
			return -1;
	return allow_asking(domain, policy, err) < 0 ? -1 : allow_runtimes(domain, policy, err);
}

int landlock_enter(const struct policy *policy, int workspace, int abi, struct err *err)
{
	bool host = policy->tier == POLICY_LANDLOCK;
	struct landlock_rights refused = landlock_ruleset_rights(abi);
	cleanup_fd int ruleset = -1;
	struct domain domain;
	int rc;

	if (abi == 0)
		return host ? err_set(err, ERR_UNSUPPORTED, "this kernel has no landlock") : 0;
	/* The session's own network confines it already, and its servers need ports. */
	if (!host)
		refused.net = 0;
	ruleset = landlock_ruleset_new(&refused, err);
	if (ruleset < 0)
		return -1;
	domain = (struct domain){ .ruleset = ruleset, .fs = refused.fs };
	if (host)
		rc = allow_host(&domain, policy, workspace, err);
	else
		rc = allow_own_root(&domain, policy, err);
	if (rc < 0 || allow_devices(&domain, err) < 0 || allow_shares(&domain, policy, err) < 0)
		return -1;
	return landlock_ruleset_enter(ruleset, err);
}

/*
 * Every landlock domain refuses moves between folders unless a rule allows them, so "/" gets one.
 */
int landlock_enter_signal_scope(int abi, struct err *err)
{
	const struct landlock_rights refused = { .fs = LANDLOCK_ACCESS_FS_REFER,
						 .scoped = LANDLOCK_SCOPE_SIGNALS };
	cleanup_fd int ruleset = -1;
	struct domain domain;

	if (abi < LANDLOCK_ABI_SIGNALS)
		return err_set(err, ERR_UNSUPPORTED, "this kernel's landlock leaves signals alone");
	ruleset = landlock_ruleset_new(&refused, err);
	if (ruleset < 0)
		return -1;
	domain = (struct domain){ .ruleset = ruleset, .fs = refused.fs };
	if (allow_path(&domain, "/", ACCESS_CHANGE, err) < 0)
		return -1;
	return landlock_ruleset_enter(ruleset, err);
}
