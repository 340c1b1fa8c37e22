/* SPDX-License-Identifier: MIT */
#include "sandbox/probe_site.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define PREFIX "ptycell-probe-"

enum { TRIES = 100 /* for a folder that no other probe removes before it is locked */ };

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

static const char data_name[] = "data";
static const char bait_name[] = "bait";

/* Whatever a canary can have left, then the folders, which no one can have filled otherwise. */
static void empty(int folder_fd)
{
	static const struct {
		const char *path;
		int flags;
	} parts[] = {
		{ "data/" CANARY_FILE, 0 },   { "data", AT_REMOVEDIR }, { "bait/" CANARY_FILE, 0 },
		{ "bait/" CANARY_SOCKET, 0 }, { "bait", AT_REMOVEDIR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		(void)unlinkat(folder_fd, parts[i].path, parts[i].flags);
}

/* ---- what others left ---- */

static void sweep_one(int place_fd, const char *name)
{
	cleanup_fd int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	empty(fd);
	(void)unlinkat(place_fd, name, AT_REMOVEDIR);
}

static void sweep(const char *place)
{
	DIR *folder = opendir(place);
	const struct dirent *entry;

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			sweep_one(dirfd(folder), entry->d_name);
	(void)closedir(folder);
}

/* ---- making ---- */

/* Anywhere that can be written to, and without a link on the way: a workspace must be so. */
static int make_top(struct probe_site *site, struct err *err)
{
	char place[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (realpath(places[i], place) == NULL)
			continue;
		sweep(place);
		(void)snprintf(site->folder, sizeof(site->folder), "%.*s/" PREFIX "XXXXXX",
			       PATH_MAX - 32, place);
		if (mkdtemp(site->folder) != NULL)
			return 0;
	}
	return err_sys(err, "creating a folder to try the sandbox in");
}

static int make_folder(const struct probe_site *site, const char *name, struct err *err)
{
	if (mkdirat(site->folder_fd, name, 0700) < 0)
		return err_sys(err, "creating '%s/%s'", site->folder, name);
	return 0;
}

/* Another probe may take it for a left one, until it is locked: 1 when that has happened. */
static int lock_top(struct probe_site *site, struct err *err)
{
	site->folder_fd = open(site->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (site->folder_fd < 0)
		return errno == ENOENT ? 1 : err_sys(err, "opening '%s'", site->folder);
	if (flock(site->folder_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 1 : err_sys(err, "locking '%s'", site->folder);
	return access(site->folder, F_OK) < 0;
}

static int make_locked_top(struct probe_site *site, struct err *err)
{
	for (int i = 0; i < TRIES; i++) {
		int taken;

		if (make_top(site, err) < 0)
			return -1;
		taken = lock_top(site, err);
		if (taken <= 0)
			return taken;
		fd_close(&site->folder_fd);
	}
	return err_set(err, ERR_BUSY, "others remove the folders to try the sandbox in");
}

static int fill(struct probe_site *site, struct err *err)
{
	char bait[PATH_MAX];

	/* A session of root's has a user of its own, who has to get through. */
	if (fchmod(site->folder_fd, 0711) < 0)
		return err_sys(err, "preparing '%s'", site->folder);
	if (make_folder(site, data_name, err) < 0 || make_folder(site, bait_name, err) < 0)
		return -1;
	site->data_fd = openat(site->folder_fd, data_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (site->data_fd < 0)
		return err_sys(err, "opening '%s/%s'", site->folder, data_name);
	(void)snprintf(site->data, sizeof(site->data), "%.*s/%s", PATH_MAX - 32, site->folder,
		       data_name);
	(void)snprintf(bait, sizeof(bait), "%.*s/%s", PATH_MAX - 32, site->folder, bait_name);
	return canary_lay(&site->bait, bait, err);
}

int probe_site_make(struct probe_site *ret_site, struct err *err)
{
	*ret_site = (struct probe_site){ .folder_fd = -1, .data_fd = -1 };
	if (make_locked_top(ret_site, err) == 0 && fill(ret_site, err) == 0)
		return 0;
	probe_site_remove(ret_site);
	return -1;
}

void probe_site_remove(struct probe_site *site)
{
	canary_release(&site->bait);
	fd_close(&site->data_fd);
	if (site->folder_fd >= 0)
		empty(site->folder_fd);
	fd_close(&site->folder_fd);
	if (site->folder[0] != '\0')
		(void)rmdir(site->folder);
}
