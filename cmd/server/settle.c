/* SPDX-License-Identifier: MIT */
/*
 * settle.c - loads settings and finds a usable folder for sessions. The folder for sessions is the
 * only setting that is replaced. A home folder that is missing, read-only or owned by another user
 * (sudo) is common, and the server could do nothing without one. The substitute's name contains the
 * user's id, because all users may create it in /tmp.
 */
#include "settle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/mem.h"
#include "base/util.h"
#include "config/paths.h"
#include "config/room.h"
#include "config/settings.h"

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

static void settle_home(struct settings *settings)
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

struct settings *settle_settings(int argc, char **argv)
{
	struct settings *settings = settings_load(argc - 1, argv + 1, environ);

	settle_home(settings);
	room_limit_processes(settings, machine_tasks_left());
	return settings;
}
