/* SPDX-License-Identifier: MIT */
#include "sandbox/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_RESOLVE_UNIX (UINT64_C(1) << 16)
#define NET_TCP UINT64_C(3)       /* bind and connect */
#define SCOPE_SOCKETS UINT64_C(1) /* abstract ones */
#define SCOPE_SIGNALS UINT64_C(2)

#define READ_FILES (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE_NODE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
/* What a rule for something that is no folder may say. */
#define FILE_RIGHTS (LANDLOCK_ACCESS_FS_EXECUTE | WRITE_NODE | FS_IOCTL_DEV | FS_RESOLVE_UNIX)

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

static const uint64_t change = READ_FILES | LANDLOCK_ACCESS_FS_EXECUTE | WRITE_NODE |
			       LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			       LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
			       LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
			       LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

static const uint64_t rights[ACCESSES] = {
	[ACCESS_READ] = READ_FILES | LANDLOCK_ACCESS_FS_EXECUTE,
	[ACCESS_LOOK] = READ_FILES,
	[ACCESS_CHANGE] = change,
	[ACCESS_OWN] = change | FS_RESOLVE_UNIX,
	[ACCESS_DEVICE] = WRITE_NODE,
	[ACCESS_TERMINAL] = READ_FILES | WRITE_NODE | FS_IOCTL_DEV,
};

/* A root of our own: what is mounted there bounds it already, so all of it may be read. */
static const struct rule own_root[] = {
	{ "/", ACCESS_READ },
	{ "/tmp", ACCESS_OWN },
	{ "/dev/shm", ACCESS_OWN },
	{ POLICY_DATA, ACCESS_OWN },
	{ "/dev/null", ACCESS_DEVICE },
	{ "/dev/zero", ACCESS_DEVICE },
	{ "/dev/full", ACCESS_DEVICE },
	{ "/dev/random", ACCESS_DEVICE },
	{ "/dev/urandom", ACCESS_DEVICE },
	{ "/dev/tty", ACCESS_TERMINAL },
	{ "/dev/pts", ACCESS_TERMINAL },
};

/* The host's root: /tmp, /dev/shm and the terminals in /dev/pts are other programs' too. */
static const struct rule host_root[] = {
	{ "/usr", ACCESS_READ },
	{ "/bin", ACCESS_READ },
	{ "/sbin", ACCESS_READ },
	{ "/lib", ACCESS_READ },
	{ "/lib32", ACCESS_READ },
	{ "/lib64", ACCESS_READ },
	{ "/libx32", ACCESS_READ },
	{ "/proc", ACCESS_LOOK },
	{ "/sys/devices/system/cpu", ACCESS_LOOK },
	{ "/dev/null", ACCESS_DEVICE },
	{ "/dev/zero", ACCESS_DEVICE },
	{ "/dev/full", ACCESS_DEVICE },
	{ "/dev/random", ACCESS_DEVICE },
	{ "/dev/urandom", ACCESS_DEVICE },
	{ "/dev/tty", ACCESS_TERMINAL },
	{ "/etc/ssl/certs", ACCESS_LOOK },
	{ "/etc/ssl/openssl.cnf", ACCESS_LOOK },
	{ "/etc/pki/tls/certs", ACCESS_LOOK },
	{ "/etc/pki/ca-trust", ACCESS_LOOK },
};

/* Of /etc, by pattern; nothing in it is secret on any distribution. */
static const char *const host_etc[] = {
	"alternatives",  "bash.bashrc",  "debian_version",
	"fonts",         "gai.conf",     "group",
	"host.conf",     "hosts",        "inputrc",
	"ld.so.*",       "locale*",      "localtime",
	"magic*",        "matplotlibrc", "mime.types",
	"nsswitch.conf", "os-release",   "passwd",
	"protocols",     "python3*",     "R",
	"services",      "terminfo",     "timezone",
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

static int allow_path(const struct domain *domain, int dir_fd, const char *path, enum access access,
		      struct err *err)
{
	cleanup_fd int fd = openat(dir_fd, path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "opening '%s' for a landlock rule", path);
	return allow_fd(domain, fd, access, err);
}

/* What this system does not have needs no rule. */
static int allow_all(const struct domain *domain, const struct rule *rules, size_t count,
		     struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (allow_path(domain, AT_FDCWD, rules[i].path, rules[i].access, err) < 0 &&
		    err->sys != ENOENT)
			return -1;
	return 0;
}

static bool is_etc_allowed(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_etc); i++)
		if (fnmatch(host_etc[i], name, 0) == 0)
			return true;
	return false;
}

static int allow_etc(const struct domain *domain, struct err *err)
{
	DIR *etc = opendir("/etc");
	const struct dirent *entry;
	int rc = 0;

	if (etc == NULL)
		return err_sys(err, "reading /etc");
	while (rc == 0 && (entry = readdir(etc)) != NULL)
		if (is_etc_allowed(entry->d_name) &&
		    allow_path(domain, dirfd(etc), entry->d_name, ACCESS_LOOK, err) < 0 &&
		    err->sys != ENOENT) /* a link that leads nowhere */
			rc = -1;
	(void)closedir(etc);
	return rc;
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

		/* Landlock cannot take .git/hooks out of a folder again. */
		if (share->writable && policy->tier == POLICY_LANDLOCK)
			return err_set(err, ERR_UNSUPPORTED,
				       "the share '%s' cannot be writable in tier landlock",
				       share->path);
		if (allow_path(domain, AT_FDCWD, share->path,
			       share->writable ? ACCESS_CHANGE : ACCESS_READ, err) < 0)
			return -1;
	}
	return 0;
}

static int allow_host(const struct domain *domain, const struct policy *policy, int workspace,
		      struct err *err)
{
	const char *const folders[] = { policy->spool_path, policy->packages_path };

	if (allow_all(domain, host_root, ARRAY_SIZE(host_root), err) < 0 ||
	    allow_etc(domain, err) < 0 || allow_terminal(domain, err) < 0 ||
	    allow_fd(domain, workspace, ACCESS_OWN, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i][0] != '\0' &&
		    allow_path(domain, AT_FDCWD, folders[i], ACCESS_READ, err) < 0)
			return -1;
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (allow_path(domain, AT_FDCWD, policy->runtimes[i], ACCESS_READ, err) < 0)
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
	if (rc < 0 || allow_shares(&domain, policy, err) < 0)
		return -1;
	return restrict_self(ruleset, err);
}

int landlock_enter_signal_scope(int abi, struct err *err)
{
	const struct ruleset_attr attr = { .scoped = SCOPE_SIGNALS };
	cleanup_fd int ruleset = -1;

	if (abi < LANDLOCK_ABI_SIGNALS)
		return err_set(err, ERR_UNSUPPORTED, "this kernel's landlock leaves signals alone");
	ruleset = make_ruleset(&attr, sizeof(attr), err);
	if (ruleset < 0)
		return -1;
	return restrict_self(ruleset, err);
}
