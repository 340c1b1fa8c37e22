/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "filter.h"
#include "sandbox/landlock_ruleset.h"
#include "stop.h"

static const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t writing = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
				LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
				LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR |
				LANDLOCK_RULESET_TRUNCATE;

/* Drivers, their configuration, certificates, name service and local sockets. */
static const char *const driver_folders[] = { "/etc", "/usr",     "/lib",         "/lib64", "/opt",
					      "/run", "/var/run", "/var/lib/sss", NULL };

static int allow_path(int ruleset, const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* One that is not there needs no rule. */
	return fd < 0 ? 0 : landlock_ruleset_allow(ruleset, fd, reading, err);
}

/* `dir_fd` to write to, `paths` to read. Nothing where the kernel has no landlock. */
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
	if (ruleset < 0 || landlock_ruleset_allow(ruleset, dir_fd, writing & rights.fs, err) < 0)
		return -1;
	for (; *paths != NULL; paths++)
		if (allow_path(ruleset, *paths, err) < 0)
			return -1;
	return landlock_ruleset_enter(ruleset, err);
}

/* The folder of a database: its journal and log lie beside it. */
static char *folder_of(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	char *folder = xstrdup(real != NULL ? real : path);

	*(strrchr(folder, '/') + 1) = '\0';
	return folder;
}

int confine_local(int dir_fd, const char *path, struct err *err)
{
	cleanup_free char *folder = path != NULL ? folder_of(path) : NULL;
	const char *const paths[] = { folder, NULL };

	if (enter(dir_fd, paths, false, err) < 0 || stop_watch(err) < 0)
		return -1;
	return filter_local(err);
}

int confine_driver(int dir_fd, struct err *err)
{
	if (enter(dir_fd, driver_folders, true, err) < 0 || stop_watch(err) < 0)
		return -1;
	return filter_driver(err);
}
