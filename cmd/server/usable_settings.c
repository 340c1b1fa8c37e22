/* SPDX-License-Identifier: MIT */
/*
 * usable_settings.c - loads settings, finds a usable folder for sessions, and lowers the limits of
 * sessions to those of the user. The folder for sessions is the only setting that is replaced
 * otherwise. A home folder that is missing, read-only or owned by another user (sudo) is common,
 * and the server could do nothing without one. The substitute's name contains the user's id,
 * because all users may create it in /tmp.
 */
#include "usable_settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/mem.h"
#include "base/util.h"
#include "config/paths.h"
#include "config/room.h"
#include "config/settings.h"
#include "policy/policyfile.h"
#include "policy/rules.h"

enum { OPEN_FILES = 131072 }; /* as many as sessions can need (config/room.h) */

/*
 * Returns why no session can be made at `path`, which may be missing. Returns NULL when one can.
 * The caller frees the result.
 */
static char *find_obstacle(const char *path)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;

	while (lstat(part, &st) < 0) {
		char *slash = strrchr(part, '/');

		if (errno != ENOENT || slash == NULL)
			return xstrdup(strerrordesc_np(errno));
		slash[slash == part] = '\0';
	}
	if (str_eq(part, path) && st.st_uid != geteuid())
		return xasprintf("it belongs to user %u", (unsigned int)st.st_uid);
	if (faccessat(AT_FDCWD, part, W_OK | X_OK, AT_EACCESS) < 0)
		return xstrdup(strerrordesc_np(errno));
	return NULL;
}

/*
 * Returns a folder with a name of this user's in a folder for all users. Returns NULL when none is
 * usable.
 */
static char *find_substitute(void)
{
	const char *const folders[] = { paths_getenv(environ, "TMPDIR"), "/var/tmp", "/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		cleanup_free char *path = NULL;
		cleanup_free char *obstacle = NULL;

		if (folders[i] == NULL || folders[i][0] != '/')
			continue;
		path = xasprintf("%s/ptycell-%u", folders[i], (unsigned int)geteuid());
		obstacle = find_obstacle(path);
		if (obstacle == NULL)
			return mem_steal(&path);
	}
	return NULL;
}

static void choose_home(struct settings *settings)
{
	cleanup_free char *obstacle = settings->home_set ? NULL : find_obstacle(settings->home);
	cleanup_free char *substitute = obstacle != NULL ? find_substitute() : NULL;
	cleanup_free char *usual = NULL;
	cleanup_free char *notices = NULL;

	if (substitute == NULL)
		return;
	usual = mem_steal(&settings->home);
	settings->home = mem_steal(&substitute);
	notices = mem_steal(&settings->notices);
	settings->notices =
		xasprintf("%sThe folder for sessions '%s' cannot be used (%s): '%s' takes its "
			  "place. Set PTYCELL_HOME to a folder of yours.\n",
			  notices != NULL ? notices : "", usual, obstacle, settings->home);
}

/* A session takes about 24 descriptors, and the usual soft limit is 1,024 for all. */
static void raise_open_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= OPEN_FILES)
		return;
	files.rlim_cur = files.rlim_max < OPEN_FILES ? files.rlim_max : OPEN_FILES;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* Raises our own soft limits, which processes inherit, and returns the hard ones of sessions. */
static void raise_ulimits(uint64_t ret_hard[ROOM_ULIMITS])
{
	static const __rlimit_resource_t resources[] = {
		[ROOM_ULIMIT_FILE] = RLIMIT_FSIZE,  [ROOM_ULIMIT_DATA] = RLIMIT_DATA,
		[ROOM_ULIMIT_ADDRESS] = RLIMIT_AS,  [ROOM_ULIMIT_CPU] = RLIMIT_CPU,
		[ROOM_ULIMIT_TASKS] = RLIMIT_NPROC,
	};

	for (size_t i = 0; i < ROOM_ULIMITS; i++) {
		struct rlimit limit;

		ret_hard[i] = UINT64_MAX;
		if (getrlimit(resources[i], &limit) < 0)
			continue;
		if (limit.rlim_max != RLIM_INFINITY)
			ret_hard[i] = limit.rlim_max;
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(resources[i], &limit);
	}
}

struct settings *usable_settings_load(int argc, char **argv)
{
	struct settings *settings = settings_load(argc - 1, argv + 1, environ);
	uint64_t hard[ROOM_ULIMITS];

	choose_home(settings);
	raise_open_files();
	raise_ulimits(hard);
	room_limit_by_ulimits(settings, hard);
	room_limit_processes(settings, machine_tasks_left());
	return settings;
}

struct policyfile *usable_policy_load(struct settings *settings)
{
	struct err err;
	struct policyfile *policy = policyfile_load(settings->policy, &err);

	if (policy != NULL && rules_check(policy, &err) == 0)
		return policy;
	policyfile_free(policy);
	if (settings->problem == NULL)
		settings->problem = xasprintf("%c%s. Correct it and start ptycell again.",
					      toupper((unsigned char)err.msg[0]), err.msg + 1);
	return policyfile_load(NULL, &err);
}
