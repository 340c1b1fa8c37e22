/* SPDX-License-Identifier: MIT */
/*
 * locate.c - finds helper programs beside this program's own file, through /proc/self/exe. Found
 * programs are held open in a small table for the life of the process: after an upgrade a running
 * server still starts the helpers of its own version.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "helper/helper.h"

#define LIBEXEC "/../libexec/ptycell/"

/* Returns the folder of this program's binary. The caller frees it. */
static char *own_folder(struct err *err)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (len < 0) {
		(void)err_sys(err, "finding this program's own file");
		if (access("/proc/self", F_OK) < 0)
			(void)err_set(err, ERR_UNSUPPORTED,
				      "no /proc is mounted here, which ptycell needs: "
				      "mount -t proc proc /proc");
		return NULL;
	}
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL)
		*slash = '\0';
	return xstrdup(path);
}

/* ---- programs that were found ---- */

enum { HELD_MAX = 8 };

static struct {
	char *path;
	int fd;
} held[HELD_MAX];
static size_t held_count;

int helper_held(const char *path)
{
	for (size_t i = 0; i < held_count; i++)
		if (str_eq(held[i].path, path))
			return held[i].fd;
	return -1;
}

static void hold_program(const char *path)
{
	int fd;

	if (held_count == HELD_MAX || helper_held(path) >= 0)
		return;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	held[held_count].path = xstrdup(path);
	held[held_count++].fd = fd;
}

static char *find_program(const char *name, struct err *err)
{
	cleanup_free char *folder = own_folder(err);
	cleanup_free char *beside = NULL;
	cleanup_free char *libexec = NULL;

	if (folder == NULL)
		return NULL;
	beside = xasprintf("%s/%s", folder, name);
	if (access(beside, X_OK) == 0)
		return mem_steal(&beside);
	libexec = xasprintf("%s" LIBEXEC "%s", folder, name);
	if (access(libexec, X_OK) == 0)
		return mem_steal(&libexec);
	(void)err_set(err, ERR_NOT_FOUND,
		      "the program '%s' is missing: it belongs into %s or its ../libexec/ptycell",
		      name, folder);
	return NULL;
}

char *helper_locate(const char *name, struct err *err)
{
	char *path = find_program(name, err);

	if (path != NULL)
		hold_program(path);
	return path;
}
