/* SPDX-License-Identifier: MIT */
/*
 * mounts.c - finds mounts by their paths, as the kernel lists them, and tries each one and the
 * folder itself. One that hides another has the same path: the outer one is tried, which is what
 * code sees.
 */
#include "confinement/mounts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/mountinfo.h"
#include "confinement/filesystem.h"
#include "confinement/shares.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"

/*
 * Returns the lines of the mounts below `folder`, "" for none. The caller frees the result. Returns
 * NULL if they cannot be read.
 */
static char *list_below(const char *folder)
{
	struct err err;
	cleanup_free char *all = mountinfo_read(&err);
	cleanup_buf struct buf below = BUF_INIT(BUF_UNBOUNDED);

	if (all == NULL)
		return NULL;
	for (const char *line = all; *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);

		if (shares_path_within(folder, point) && !str_eq(folder, point))
			buf_put(&below, line, (size_t)(mountinfo_next(line) - line));
	}
	buf_put(&below, "", 0);
	return buf_steal(&below);
}

/* A mount that cannot be opened is none that code can write. */
static const char *try_mount(int folder, const char *rest)
{
	cleanup_fd int fd = beneath_open(folder, rest, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? NULL : filesystem_objection(fd);
}

static char *object_to(int folder, const char *path, const char *mounts)
{
	for (const char *line = mounts; *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);
		const char *objection = try_mount(folder, point + strlen(path) + 1);
		cleanup_free char *shown = NULL;

		if (objection == NULL)
			continue;
		shown = sanitize_quote(point);
		return xasprintf("has another disk in it, and '%s' %s", shown, objection);
	}
	return NULL;
}

char *mounts_objection(int folder, const char *path, char **mounts)
{
	cleanup_free char *now = list_below(path);
	const char *own = *mounts == NULL ? filesystem_objection(folder) : NULL;
	char *objection;

	if (own != NULL)
		return xstrdup(own);
	if (now == NULL)
		return xstrdup("may have disks in it that cannot be listed: share it without :rw");
	if (*mounts != NULL && str_eq(now, *mounts))
		return NULL;
	objection = object_to(folder, path, now);
	if (objection == NULL) {
		free(*mounts);
		*mounts = mem_steal(&now);
	}
	return objection;
}
