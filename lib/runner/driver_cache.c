/* SPDX-License-Identifier: MIT */
/*
 * driver_cache.c - one file per interpreter and driver in a folder of the home folder. Its name is
 * the key: the driver's id and numbers of the interpreter's file. Files are replaced by rename, so
 * that a reader has the old one or the new one, whole.
 */
#include "runner/driver_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "workspace/home.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

#define FOLDER "drivers"
#define NEW_PREFIX ".new-"

static bool has_beside(const char *folder, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);

	return access(path, F_OK) == 0;
}

/*
 * Returns whether `path` is in a virtual environment. It lies in a project, which may be shared,
 * and the files in its packages run before any driver.
 */
static bool is_environment(const char *path)
{
	const char *name = strrchr(path, '/');
	cleanup_free char *folder = NULL;
	cleanup_free char *above = NULL;

	if (name == NULL)
		return false;
	folder = xasprintf("%.*s", (int)(name - path), path);
	above = xasprintf("%s/..", folder);
	return has_beside(folder, "pyvenv.cfg") || has_beside(above, "pyvenv.cfg") ||
	       has_beside(above, "conda-meta");
}

/* A link has another key than its target: files next to a link may run first. */
char *driver_cache_name(const struct language *language, const char *path)
{
	struct stat st;
	struct stat own;

	if (language->driver_id == NULL || stat(path, &st) < 0 || lstat(path, &own) < 0 ||
	    is_environment(path))
		return NULL;
	return xasprintf("%s-%016" PRIx64 "-%jx-%jx-%jx-%jx-%lx-%jx-%jx-%lx", language->name,
			 language->driver_id(), (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
			 (uintmax_t)st.st_size, (uintmax_t)st.st_mtim.tv_sec,
			 (unsigned long)st.st_mtim.tv_nsec, (uintmax_t)own.st_ino,
			 (uintmax_t)own.st_ctim.tv_sec, (unsigned long)own.st_ctim.tv_nsec);
}

static int open_folder(const struct home *home)
{
	return openat(home_fd(home), FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void driver_cache_get(const struct home *home, const char *name, struct buf *out)
{
	cleanup_fd int folder = name != NULL ? open_folder(home) : -1;
	cleanup_free char *data = NULL;
	size_t len = 0;
	struct err err;

	if (folder >= 0)
		data = fd_read_file(folder, name, DRIVER_CACHE_MAX, &len, &err);
	if (data != NULL)
		buf_put(out, data, len);
}

/* ---- storing ---- */

/*
 * Removes entries beyond the maximum; it is not worth knowing which interpreters still exist.
 * Spares what another server is writing.
 */
static void make_room(int folder)
{
	DIR *dir = fd_list(folder);
	const struct dirent *entry;
	size_t count = 0;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_type == DT_REG &&
		    strncmp(entry->d_name, NEW_PREFIX, strlen(NEW_PREFIX)) != 0 &&
		    ++count >= DRIVER_CACHE_FILES_MAX)
			(void)unlinkat(folder, entry->d_name, 0);
	(void)closedir(dir);
}

/* A reader has the old file or the new one, whole. */
static int replace(int folder, const char *name, const char *data, size_t len, struct err *err)
{
	cleanup_free char *hidden = random_name_new(NEW_PREFIX);
	cleanup_fd int fd =
		openat(folder, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return err_sys(err, "making a file");
	rc = fd_write_all(fd, data, len, err);
	if (rc == 0 && renameat(folder, hidden, folder, name) < 0)
		rc = err_sys(err, "renaming a file");
	if (rc < 0)
		(void)unlinkat(folder, hidden, 0);
	return rc;
}

void driver_cache_put(const struct home *home, const char *name, const char *data, size_t len)
{
	cleanup_fd int folder = -1;
	struct err err;

	if (name == NULL || len > DRIVER_CACHE_MAX)
		return;
	(void)mkdirat(home_fd(home), FOLDER, 0700);
	folder = open_folder(home);
	if (folder < 0)
		return;
	make_room(folder);
	if (replace(folder, name, data, len, &err) < 0)
		log_info("compiled", "%s is not kept: %s", name, err.msg);
}
