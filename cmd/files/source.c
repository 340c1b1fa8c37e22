/* SPDX-License-Identifier: MIT */
/*
 * source.c - resolves links within the data folder. Links are resolved here and not by the kernel,
 * because an absolute link names its target by the path that the session sees. Each step opens the
 * target below the data folder without following links.
 */
#include "source.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"

enum { LINKS_MAX = 8 };

/* Returns the text of the link, which the caller frees, or NULL when it is not a link. */
static char *read_link(int folder, const char *path)
{
	cleanup_fd int fd = beneath_open(folder, path, O_PATH, 0);
	char text[PATH_MAX];
	ssize_t len = -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode))
		len = readlinkat(fd, "", text, sizeof(text));
	return len <= 0 || len == sizeof(text) ? NULL : xmemdup(text, (size_t)len);
}

/*
 * Removes "." and ".." in place, which is right because no folder on the way is a link. Returns
 * false when the path leads out.
 */
static bool straighten(char *path)
{
	char *out = path;

	for (const char *part = path; *part != '\0';) {
		size_t len = strcspn(part, "/");
		bool up = len == 2 && part[0] == '.' && part[1] == '.';

		if (up && out == path)
			return false;
		if (up) {
			do
				out--;
			while (out > path && out[-1] != '/');
		} else if (len > 0 && !(len == 1 && part[0] == '.')) {
			memmove(out, part, len);
			out += len;
			*out++ = '/';
		}
		part += len;
		part += *part == '/' ? 1 : 0;
	}
	if (out > path)
		out--;
	*out = '\0';
	return out > path;
}

/*
 * Returns where the link at `path` leads, relative to the data folder, or NULL for elsewhere. The
 * caller frees it.
 */
static char *follow(const struct source_folder *folder, const char *path, const char *to)
{
	const char *slash = strrchr(path, '/');
	size_t seen = folder->seen == NULL ? 0 : strlen(folder->seen);
	cleanup_free char *whole = NULL;

	if (to[0] != '/')
		whole = xasprintf("%.*s/%s", slash == NULL ? 0 : (int)(slash - path), path, to);
	else if (seen > 0 && strncmp(to, folder->seen, seen) == 0 && to[seen] == '/')
		whole = xstrdup(to + seen);
	/* straighten() needs room for one more slash. */
	if (whole == NULL)
		return NULL;
	char *straight = xasprintf("%s/", whole);

	if (straighten(straight))
		return straight;
	free(straight);
	return NULL;
}

int source_open(const struct source_folder *folder, const char *path, bool *ret_linked,
		struct err *err)
{
	cleanup_free char *at = xstrdup(path);

	*ret_linked = false;
	for (int links = 0; links <= LINKS_MAX; links++) {
		int fd = beneath_open_regular(folder->fd, at, NULL, err);
		cleanup_free char *to = NULL;
		char *next;

		if (fd >= 0 || err->code != ERR_DENIED || strncmp(path, "output/", 7) != 0)
			return fd;
		to = read_link(folder->fd, at);
		if (to == NULL)
			return -1;
		next = follow(folder, at, to);
		if (next == NULL)
			break;
		*ret_linked = true;
		free(at);
		at = next;
	}
	return err_set(err, ERR_DENIED,
		       "it is a link that leads to no file of the session's folder");
}
