/* SPDX-License-Identifier: MIT */
/*
 * protect_follow.c - resolves a path in user space, to report each link on the way.
 *
 * realpath() does not name the links that it follows. Each of them must be held, because session
 * code could replace it to lead the user's programs elsewhere.
 */
#include "sandbox/rootfs/protect_follow.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { LINKS_MAX = 40 /* as in the kernel */ };

struct walk {
	char *done; /* resolved so far, "" for the root */
	char *rest;
	int links;
};

static void replace_path(char **path, char *own)
{
	free(*path);
	*path = own;
}

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
}

static bool is_below(const char *top, const char *path)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && path[len] == '/';
}

/* Takes the next name of the rest. Returns false at the end. */
static bool take_part(struct walk *walk)
{
	const char *at = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(at, "/");
	cleanup_free char *part = xmemdup(at, len);

	if (len == 0)
		return false;
	if (str_eq(part, ".."))
		cut_last(walk->done);
	else if (!str_eq(part, "."))
		replace_path(&walk->done, xasprintf("%s/%s", walk->done, part));
	replace_path(&walk->rest, xstrdup(at + len));
	return true;
}

/* Replaces a link by its target. Returns false when it leads nowhere. */
static bool take_link(struct walk *walk)
{
	char to[PATH_MAX];
	ssize_t len = readlink(walk->done, to, sizeof(to) - 1);

	if (len < 0 || ++walk->links > LINKS_MAX)
		return false;
	to[len] = '\0';
	if (to[0] == '/')
		walk->done[0] = '\0';
	else
		cut_last(walk->done);
	replace_path(&walk->rest, xasprintf("%s/%s", to, walk->rest));
	return true;
}

static bool walk_path(struct walk *walk, const char *top, void (*fn)(void *data, const char *path),
		      void *data)
{
	struct stat st;

	while (take_part(walk)) {
		if (walk->done[0] == '\0')
			continue;
		if (lstat(walk->done, &st) < 0)
			return false;
		if (!S_ISLNK(st.st_mode))
			continue;
		if (is_below(top, walk->done))
			fn(data, walk->done);
		if (!take_link(walk))
			return false;
	}
	return str_eq(walk->done, top) || is_below(top, walk->done);
}

char *protect_follow(const char *top, const char *path, void (*fn)(void *data, const char *path),
		     void *data)
{
	struct walk walk = { .done = xstrdup(""), .rest = xstrdup(path) };
	char *to = walk_path(&walk, top, fn, data) ? mem_steal(&walk.done) : NULL;

	free(walk.done);
	free(walk.rest);
	return to;
}
