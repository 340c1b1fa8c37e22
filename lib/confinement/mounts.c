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
#include "confinement/folder_path.h"
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

/* ---- the same place under another path ---- */

/* Returns the line of the mount that a path is on, "" for none. */
static const char *find_mount(const char *list, const char *path)
{
	const char *found = "";
	size_t longest = 0;

	for (const char *line = list; *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);
		size_t len = strlen(point);

		/* a later one with the same path hides the one before */
		if (len == 0 || len < longest || !shares_path_within(point, path))
			continue;
		found = line;
		longest = len;
	}
	return found;
}

/* Returns where `path`, on the mount of the line, is in its file system. The caller frees it. */
static char *place_on(const char *line, const char *path)
{
	cleanup_free char *root = mountinfo_field(line, MOUNTINFO_ROOT);
	cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);
	cleanup_free char *whole = xasprintf("%s/%s", root, path + strlen(point));
	char *place = folder_path_plain(whole);

	return place != NULL ? place : mem_steal(&whole);
}

/* Mounts of one NFS server may have one device, and each calls its own folder "/". */
static bool is_of_nfs(const char *line)
{
	return memmem(line, strcspn(line, "\n"), " - nfs", strlen(" - nfs")) != NULL;
}

/* Returns whether what is at `a`, on the mount of its line, overlaps with what is at `b`. */
static bool share_places(const char *a_line, const char *a, const char *b_line, const char *b)
{
	cleanup_free char *a_disk = mountinfo_field(a_line, MOUNTINFO_DEVICE);
	cleanup_free char *b_disk = mountinfo_field(b_line, MOUNTINFO_DEVICE);
	cleanup_free char *a_place = place_on(a_line, a);
	cleanup_free char *b_place = place_on(b_line, b);

	return str_eq(a_disk, b_disk) && !is_of_nfs(a_line) &&
	       (shares_path_within(a_place, b_place) || shares_path_within(b_place, a_place));
}

bool mounts_overlap(const char *folder, const char *path)
{
	struct err err;
	cleanup_free char *all = mountinfo_read(&err);
	cleanup_free char *real = folder_path_resolve(path);
	const char *path_line = find_mount(all != NULL ? all : "", real);
	const char *folder_line = find_mount(all != NULL ? all : "", folder);

	if (folder_path_overlaps(folder, path))
		return true;
	if (*path_line == '\0' || *folder_line == '\0')
		return false;
	if (share_places(folder_line, folder, path_line, real))
		return true;
	for (const char *line = all; *line != '\0'; line = mountinfo_next(line)) {
		cleanup_free char *point = mountinfo_field(line, MOUNTINFO_POINT);

		if (shares_path_within(folder, point) && !str_eq(folder, point) &&
		    share_places(line, point, path_line, real))
			return true;
	}
	return false;
}
