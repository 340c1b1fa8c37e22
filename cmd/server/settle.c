/* SPDX-License-Identifier: MIT */
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

/* NULL when sessions can be made at `path`, which need not be there; else why not. */
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

/* In folders where everybody may make one: a name of our own. NULL when there is none, either. */
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
