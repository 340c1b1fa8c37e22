/* SPDX-License-Identifier: MIT */
/* folder_path.c - resolves paths, and goes through the folders above them. */
#include "confinement/folder_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"

char *folder_path_plain(const char *path)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	while (*path) {
		size_t len = strcspn(path, "/");

		if ((len == 1 && path[0] == '.') || (len == 2 && path[0] == '.' && path[1] == '.'))
			return NULL;
		if (len > 0)
			buf_putf(&out, "/%.*s", (int)len, path);
		path += len + (path[len] == '/');
	}
	return out.len > 0 ? buf_steal(&out) : xstrdup("/");
}

char *folder_path_resolve(const char *path)
{
	cleanup_free char *part = xstrdup(path);
	char real[PATH_MAX];
	char *slash;

	while (realpath(part, real) == NULL) {
		slash = strrchr(part, '/');
		if (slash == NULL || slash == part)
			return xstrdup(path);
		*slash = '\0';
	}
	return xasprintf("%s%s", real, path + strlen(part));
}

static bool is_folder(const char *path, const struct stat *folder)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == folder->st_dev && st.st_ino == folder->st_ino;
}

/* Returns true when the resolved path, or a folder above it below the root, is `folder`. */
static bool lies_in(const char *path, const char *folder)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;

	if (stat(folder, &st) < 0)
		return false;
	for (char *slash; (slash = strrchr(part, '/')) != NULL; *slash = '\0')
		if (is_folder(part, &st))
			return true;
	return false;
}

bool folder_path_overlaps(const char *a, const char *b)
{
	cleanup_free char *real_a = folder_path_resolve(a);
	cleanup_free char *real_b = folder_path_resolve(b);

	return lies_in(real_a, real_b) || lies_in(real_b, real_a);
}
