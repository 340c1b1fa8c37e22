/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "helper/helper.h"

#define LIBEXEC "/../libexec/ptycell/"

/* The folder of this program's binary, freed by the caller. */
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

char *helper_locate(const char *name, struct err *err)
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
