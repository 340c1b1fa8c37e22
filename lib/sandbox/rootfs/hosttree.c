/* SPDX-License-Identifier: MIT */
/*
 * hosttree.c - the lists of host paths that sessions see, and the made-up files of /etc.
 *
 * Nothing here allocates: landlock rules are made from these lists in an interpreter whose memory
 * limit is already in force.
 */
#include "sandbox/rootfs/hosttree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "sandbox/namespaces/uid_map.h"
#include "sandbox/policy.h"

enum { ENTRIES_BYTES = 4096 };

const char *const hosttree_system[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
};
const size_t hosttree_system_count = ARRAY_SIZE(hosttree_system);

const char *const hosttree_devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};
const size_t hosttree_device_count = ARRAY_SIZE(hosttree_devices);

const char *const hosttree_masked[] = { "/proc/keys", "/proc/key-users", "/proc/timer_list" };
const size_t hosttree_masked_count = ARRAY_SIZE(hosttree_masked);

_Static_assert(UID_MAP_INSIDE == 1000, "the accounts name the session's user");

const struct hosttree_file hosttree_made[] = {
	{ "/etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
			 "user:x:1000:1000:user:" POLICY_DATA ":/bin/bash\n"
			 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n" },
	{ "/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n" },
	{ "/etc/hostname", "ptycell\n" },
	{ "/etc/hosts", "127.0.0.1 localhost ptycell\n::1 localhost\n" },
};
const size_t hosttree_made_count = ARRAY_SIZE(hosttree_made);

static const char *const listed[] = {
	"/etc/ld.so.cache",
	"/etc/alternatives",
	"/etc/localtime",
	"/etc/timezone",
	"/etc/nsswitch.conf",
	"/etc/host.conf",
	"/etc/gai.conf",
	"/etc/protocols",
	"/etc/services",
	"/etc/os-release",
	"/etc/debian_version",
	"/etc/mime.types",
	"/etc/magic",
	"/etc/manpath.config",
	"/etc/groff",
	"/etc/inputrc",
	"/etc/terminfo",
	"/etc/fonts",
	"/etc/matplotlibrc",
	"/etc/perl",
	"/etc/R",
	"/etc/ImageMagick-6",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/ca-certificates",
	"/etc/crypto-policies",
	"/etc/pki/tls/certs",
	"/etc/pki/tls/openssl.cnf",
	"/etc/pki/ca-trust/extracted",
};

struct visit {
	hosttree_fn *fn;
	void *data;
};

/* Visits /etc/python3.11 and the like; Debian's sitecustomize is stored there. */
static int visit_python(const struct visit *visit, const char *name, struct err *err)
{
	static const char prefix[] = "python3";
	char path[sizeof("/etc/") + NAME_MAX];

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/etc/%.*s", NAME_MAX, name);
	return visit->fn(visit->data, path, err);
}

/*
 * Does not use opendir(), which allocates, because an interpreter's memory limit may be in force.
 */
static int each_python(int etc, const struct visit *visit, struct err *err)
{
	_Alignas(struct dirent64) char entries[ENTRIES_BYTES];
	ssize_t len;

	while ((len = getdents64(etc, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			if (visit_python(visit, entry->d_name, err) < 0)
				return -1;
			at += entry->d_reclen;
		}
	return len < 0 ? err_sys(err, "reading '/etc'") : 0;
}

int hosttree_open_etc(const char *root, struct err *err)
{
	char path[PATH_MAX];
	int etc;

	(void)snprintf(path, sizeof(path), "%s/etc", root);
	etc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return etc < 0 ? err_sys(err, "reading '%s'", path) : etc;
}

int hosttree_each_etc(int etc, hosttree_fn *fn, void *data, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (fn(data, listed[i], err) < 0)
			return -1;
	return each_python(etc, &(struct visit){ fn, data }, err);
}

bool hosttree_is_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

bool hosttree_links_user_data(const struct policy *policy)
{
	for (size_t i = 0; i < policy->share_count; i++)
		if (hosttree_is_within(policy->shares[i].path, POLICY_USER_DATA))
			return false;
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (hosttree_is_within(policy->runtimes[i], POLICY_USER_DATA))
			return false;
	return true;
}

bool hosttree_is_reserved(const char *path)
{
	static const char *const ours[] = { "/proc",     "/dev",       "/sys",         "/old",
					    POLICY_DATA, POLICY_SPOOL, POLICY_PACKAGES };
	static const char *const whole[] = { "/bin", "/etc",  "/lib", "/lib32", "/lib64", "/libx32",
					     "/mnt", "/sbin", "/tmp", "/usr",   "/var",   "/run" };

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (hosttree_is_within(path, ours[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (str_eq(path, whole[i]))
			return true;
	return false;
}
