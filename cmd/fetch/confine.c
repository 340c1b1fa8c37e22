/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/util.h"
#include "filter.h"
#include "sandbox/landlock_ruleset.h"

enum { NET_CONNECT_TCP = 2 }; /* of linux/landlock.h, which may be older */

static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

static const char *const folders[] = { "/etc", "/usr",     "/lib",        "/lib64",
				       "/run", "/var/run", "/var/lib/sss" };

/* What is not there needs no rule. */
static int allow_path(int ruleset, const char *path, uint64_t rights, struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? 0 : landlock_ruleset_allow(ruleset, fd, rights, err);
}

static int enter(const char *ca_file, int read_fd, struct err *err)
{
	int abi = landlock_abi(LANDLOCK_ABI_SIGNALS);
	struct landlock_rights rights;
	cleanup_fd int ruleset = -1;

	if (abi < 1)
		return 0;
	rights = landlock_ruleset_rights(abi);
	rights.net &= ~(uint64_t)NET_CONNECT_TCP; /* any port may be a server's */
	ruleset = landlock_ruleset_new(&rights, err);
	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (allow_path(ruleset, folders[i], reading, err) < 0)
			return -1;
	if (ca_file != NULL && allow_path(ruleset, ca_file, LANDLOCK_ACCESS_FS_READ_FILE, err) < 0)
		return -1;
	if (read_fd >= 0 && landlock_ruleset_allow(ruleset, read_fd, reading, err) < 0)
		return -1;
	return landlock_ruleset_enter(ruleset, err);
}

int confine_transfers(const char *ca_file, int read_fd, struct err *err)
{
	if (enter(ca_file, read_fd, err) < 0)
		return -1;
	return filter_enter(err);
}
