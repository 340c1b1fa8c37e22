/* SPDX-License-Identifier: MIT */
/*
 * shares_change.c - decides whether code could change the file at a path. It walks the path as the
 * kernel would, since a link on the way that is in a writable share can be replaced by code.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "confinement/shares.h"

enum { LINKS_MAX = 40 /* on the way to a file, as in the kernel */ };

static bool is_in_writable(const struct shares *shares, const char *path)
{
	for (size_t i = 0; i < shares_count(shares); i++)
		if (shares_at(shares, i)->writable &&
		    shares_path_within(shares_at(shares, i)->path, path))
			return true;
	return false;
}

/* A path that is being followed. */
struct walk {
	char *at;   /* the part without links; "" is the root */
	char *rest; /* the rest */
	int links;
};

/*
 * Follows the next name into its folder or the target of its link. Returns false when code could
 * change what the path leads to.
 */
static bool walk_step(const struct shares *shares, struct walk *walk, const char *name, size_t len)
{
	cleanup_free char *next = xasprintf("%s/%.*s", walk->at, (int)len, name);
	char target[PATH_MAX];
	ssize_t target_len;
	char *rest;

	if (is_in_writable(shares, next))
		return false;
	target_len = readlink(next, target, sizeof(target));
	if (target_len <= 0) {
		free(walk->at);
		walk->at = mem_steal(&next);
		rest = xstrdup(name + len);
	} else {
		if (++walk->links > LINKS_MAX || target_len == sizeof(target))
			return false;
		rest = xasprintf("%.*s%s", (int)target_len, target, name + len);
		if (target[0] == '/')
			walk->at[0] = '\0';
	}
	free(walk->rest);
	walk->rest = rest;
	return true;
}

static bool walk_on(const struct shares *shares, struct walk *walk)
{
	const char *name = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(name, "/");
	char *slash = strrchr(walk->at, '/');

	if (len == 2 && strncmp(name, "..", 2) == 0) {
		if (slash != NULL)
			*slash = '\0';
	} else if (len != 1 || name[0] != '.') {
		return walk_step(shares, walk, name, len);
	}
	memmove(walk->rest, name + len, strlen(name + len) + 1);
	return true;
}

static bool has_more(const struct walk *walk)
{
	return walk->rest[strspn(walk->rest, "/")] != '\0';
}

static char *from_here(const char *path)
{
	cleanup_free char *here = getcwd(NULL, 0);

	return here != NULL ? xasprintf("%s/%s", here, path) : NULL;
}

bool shares_may_change(const struct shares *shares, const char *path)
{
	struct walk walk = { .links = 0 };
	bool ours;

	if (shares == NULL || shares_count(shares) == 0)
		return false;
	walk.at = xstrdup("");
	walk.rest = path[0] == '/' ? xstrdup(path) : from_here(path);
	ours = walk.rest != NULL;
	while (ours && has_more(&walk))
		ours = walk_on(shares, &walk);
	ours = ours && !shares_overlap(shares, walk.at[0] != '\0' ? walk.at : "/", true);
	free(walk.at);
	free(walk.rest);
	return !ours;
}
