/* SPDX-License-Identifier: MIT */
/*
 * lockdown.c - drops rights by landlock and seccomp. Landlock limits files and forbids listening;
 * connecting stays free, because any port may be a server's, and curl_handle.c judges the
 * addresses. The wide seccomp filter allows threads, which libcurl's resolver needs.
 */
#include "lockdown.h"

#include <sys/syscall.h>

#include "base/fd.h"
#include "base/random.h"
#include "base/util.h"
#include "lockdown/landlock_ruleset.h"
#include "lockdown/seccomp_helper.h"

enum { NET_CONNECT_TCP = 2 }; /* of linux/landlock.h, which may be too old to have it */

static const char *const folders[] = { "/etc", "/usr",     "/lib",        "/lib64",
				       "/run", "/var/run", "/var/lib/sss" };

/* The program starts no other, and changes files only through inherited descriptors. */
static const int refused[] = {
	SYS_fchmod,   SYS_fchmodat,  SYS_fchown,    SYS_fchownat, SYS_fsetxattr,
	SYS_setxattr, SYS_lsetxattr, SYS_utimensat,
#ifdef SYS_fork
	SYS_fork,     SYS_vfork,     SYS_chmod,     SYS_chown,    SYS_lchown,
#endif
};

static int enter(const char *ca_file, int read_fd, struct err *err)
{
	int abi = landlock_abi(LANDLOCK_ABI_SIGNALS);
	struct landlock_rights rights;
	cleanup_fd int ruleset = -1;

	if (abi < 1)
		return 0;
	rights = landlock_ruleset_rights(abi);
	rights.net &= ~(uint64_t)NET_CONNECT_TCP; /* a server may use any port */
	ruleset = landlock_ruleset_new(&rights, err);
	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (landlock_ruleset_allow_folder(ruleset, folders[i], err) < 0)
			return -1;
	if (ca_file != NULL && landlock_ruleset_allow_file(ruleset, ca_file, err) < 0)
		return -1;
	if (landlock_ruleset_allow_file(ruleset, RANDOM_DEVICE, err) < 0)
		return -1;
	if (read_fd >= 0 &&
	    landlock_ruleset_allow(ruleset, read_fd, LANDLOCK_RULESET_READ, err) < 0)
		return -1;
	return landlock_ruleset_enter(ruleset, err);
}

int lockdown_transfers(const char *ca_file, int read_fd, struct err *err)
{
	if (enter(ca_file, read_fd, err) < 0)
		return -1;
	return seccomp_helper_enter_wide(refused, ARRAY_SIZE(refused), err);
}
