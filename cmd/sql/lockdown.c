/* SPDX-License-Identifier: MIT */
/*
 * lockdown.c - locks the process down in a fixed order. The three steps have one order: landlock,
 * then the thread that waits for signals, then seccomp. A thread that is older than landlock would
 * not be restricted by it, and the filter refuses to start one.
 */
#include "lockdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cancel.h"
#include "lockdown/landlock_ruleset.h"
#include "lockdown/seccomp_helper.h"
#include "seccomp.h"

/* Drivers, their configuration, certificates, name service and local sockets. */
static const char *const driver_folders[] = { "/etc", "/usr", "/lib",     "/lib64",
					      "/opt", "/run", "/var/run", "/var/lib/sss" };

/*
 * Allows to write to `dir_fd` and to read `paths`. Does nothing where the kernel has no landlock.
 */
static int enter(int dir_fd, const char *const *paths, bool with_network, struct err *err)
{
	int abi = landlock_abi(LANDLOCK_ABI_SIGNALS);
	struct landlock_rights rights;
	cleanup_fd int ruleset = -1;

	if (abi < 1)
		return 0;
	rights = landlock_ruleset_rights(abi);
	if (with_network)
		rights.net = 0;
	ruleset = landlock_ruleset_new(&rights, err);
	if (ruleset < 0 ||
	    landlock_ruleset_allow(ruleset, dir_fd, LANDLOCK_RULESET_WRITE & rights.fs, err) < 0)
		return -1;
	for (; *paths != NULL; paths++)
		if (landlock_ruleset_allow_folder(ruleset, *paths, err) < 0)
			return -1;
	return landlock_ruleset_enter(ruleset, err);
}

/* Returns the folder of a database, which also has its journal and log. The caller frees it. */
static char *folder_of(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	char *folder = xstrdup(real != NULL ? real : path);

	*(strrchr(folder, '/') + 1) = '\0';
	return folder;
}

int lockdown_local(int dir_fd, const char *path, struct err *err)
{
	cleanup_free char *folder = path != NULL ? folder_of(path) : NULL;
	/* iconv loads its character sets from there. */
	const char *const paths[] = { "/usr/lib", folder, NULL };

	if (enter(dir_fd, paths, false, err) < 0 || cancel_watch(err) < 0)
		return -1;
	return seccomp_local(err);
}

int lockdown_driver(int dir_fd, const char *folder, struct err *err)
{
	const char *paths[ARRAY_SIZE(driver_folders) + 2] = { NULL };

	memcpy(paths, driver_folders, sizeof(driver_folders));
	paths[ARRAY_SIZE(driver_folders)] = folder;
	if (enter(dir_fd, paths, true, err) < 0 || cancel_watch(err) < 0)
		return -1;
	return seccomp_helper_enter_wide(NULL, 0, err);
}
