/* SPDX-License-Identifier: MIT */
#include "sandbox/rootfs/protect_follow.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { LINKS_MAX = 40 /* as the kernel's */ };

struct way {
	char *done; /* through no link, "" for the root */
	char *rest;
	int links;
};

static void set(char **path, char *own)
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

/* False at the end. */
static bool take_part(struct way *way)
{
	const char *at = way->rest + strspn(way->rest, "/");
	size_t len = strcspn(at, "/");
	cleanup_free char *part = xmemdup(at, len);

	if (len == 0)
		return false;
	if (str_eq(part, ".."))
		cut_last(way->done);
	else if (!str_eq(part, "."))
		set(&way->done, xasprintf("%s/%s", way->done, part));
	set(&way->rest, xstrdup(at + len));
	return true;
}

/* False: it leads nowhere. */
static bool take_link(struct way *way)
{
	char to[PATH_MAX];
	ssize_t len = readlink(way->done, to, sizeof(to) - 1);

	if (len < 0 || ++way->links > LINKS_MAX)
		return false;
	to[len] = '\0';
	if (to[0] == '/')
		way->done[0] = '\0';
	else
		cut_last(way->done);
	set(&way->rest, xasprintf("%s/%s", to, way->rest));
	return true;
}

static bool go(struct way *way, const char *top, void (*fn)(void *data, const char *path),
	       void *data)
{
	struct stat st;

	while (take_part(way)) {
		if (way->done[0] == '\0')
			continue;
		if (lstat(way->done, &st) < 0)
			return false;
		if (!S_ISLNK(st.st_mode))
			continue;
		if (is_below(top, way->done))
			fn(data, way->done);
		if (!take_link(way))
			return false;
	}
	return str_eq(way->done, top) || is_below(top, way->done);
}

char *protect_follow(const char *top, const char *path, void (*fn)(void *data, const char *path),
		     void *data)
{
	struct way way = { .done = xstrdup(""), .rest = xstrdup(path) };
	char *to = go(&way, top, fn, data) ? mem_steal(&way.done) : NULL;

	free(way.done);
	free(way.rest);
	return to;
}
