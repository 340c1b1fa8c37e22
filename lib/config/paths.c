/* SPDX-License-Identifier: MIT */
/*
 * paths.c - finds the user's folders from a given environment, never from getenv, so that tests and
 * --env-file see the same rules. Root's sessions are stored in /var/tmp: they run as other users,
 * who cannot enter /root.
 */
#include "config/paths.h"

#include <pwd.h>
#include <string.h>

#include "base/mem.h"

const char *paths_getenv(char *const env[], const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++) {
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return (*env)[len + 1] ? *env + len + 1 : NULL;
	}
	return NULL;
}

char *paths_user_home(char *const env[], uid_t uid)
{
	const char *home = paths_getenv(env, "HOME");
	struct passwd entry;
	struct passwd *found = NULL;
	char room[4096];

	if (home && home[0] == '/')
		return xstrdup(home);
	if (getpwuid_r(uid, &entry, room, sizeof(room), &found) != 0 || !found)
		return NULL;
	return found->pw_dir[0] == '/' ? xstrdup(found->pw_dir) : NULL;
}

char *paths_state(char *const env[], uid_t uid)
{
	const char *state = paths_getenv(env, "XDG_STATE_HOME");
	cleanup_free char *home = NULL;

	if (uid == 0)
		return xstrdup("/var/tmp/ptycell");
	if (state && state[0] == '/')
		return xasprintf("%s/ptycell", state);
	home = paths_user_home(env, uid);
	if (!home)
		return xasprintf("/var/tmp/ptycell-%u", (unsigned)uid);
	return xasprintf("%s/.local/state/ptycell", home);
}

char *paths_absolute(char *const env[], uid_t uid, const char *path)
{
	cleanup_free char *home = NULL;

	if (path[0] == '/')
		return xstrdup(path);
	if (path[0] != '~' || (path[1] != '/' && path[1] != '\0'))
		return NULL;
	home = paths_user_home(env, uid);
	return home ? xasprintf("%s%s", home, path + 1) : NULL;
}

char *paths_target(char *const env[], uid_t uid, const char *text, const char *const *words)
{
	for (; words != NULL && *words != NULL; words++) {
		size_t len = strlen(*words);
		cleanup_free char *path = NULL;

		if ((*words)[len - 1] != ':' || strncmp(text, *words, len) != 0)
			continue;
		if (text[len] == '\0')
			return xstrdup(text);
		path = paths_absolute(env, uid, text + len);
		return path != NULL ? xasprintf("%s%s", *words, path) : NULL;
	}
	return paths_absolute(env, uid, text);
}
