/* SPDX-License-Identifier: MIT */
#include "sandbox/probe/probe_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define PREFIX "ptycell-probe-"

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
		{ "data/" ESCAPES_FILE, 0 }, { "data", AT_REMOVEDIR },
		{ "bait/" ESCAPES_FILE, 0 }, { "bait/" ESCAPES_SOCKET, 0 },
		{ "bait", AT_REMOVEDIR },
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

/*
 * 1 with the folder locked, 0 when another probe took it for somebody's leavings before the lock.
 */
static int make_locked(struct probe_fixture *site, const char *place)
{
	struct stat st;

	(void)snprintf(site->folder, sizeof(site->folder), "%.*s/" PREFIX "XXXXXX", PATH_MAX - 32,
		       place);
	if (mkdtemp(site->folder) == NULL)
		return -1;
	site->folder_fd = open(site->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (site->folder_fd >= 0 && flock(site->folder_fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(site->folder_fd, &st) == 0 && st.st_nlink > 0)
		return 1;
	fd_close(&site->folder_fd);
	return 0;
}

/* Anywhere that can be written to, and without a link on the way: a workspace must be so. */
static int make_top(struct probe_fixture *site, struct err *err)
{
	char place[PATH_MAX];
	int made = -1;

	for (size_t i = 0; i < ARRAY_SIZE(places) && made < 0; i++) {
		if (realpath(places[i], place) == NULL)
			continue;
		sweep(place);
		do
			made = make_locked(site, place);
		while (made == 0);
	}
	return made < 0 ? err_sys(err, "creating a folder to try the sandbox in") : 0;
}

static int make_folder(const struct probe_fixture *site, const char *name, struct err *err)
{
	if (mkdirat(site->folder_fd, name, 0700) < 0)
		return err_sys(err, "creating '%s/%s'", site->folder, name);
	return 0;
}

static int fill(struct probe_fixture *site, struct err *err)
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
	return escapes_lay(&site->bait, bait, err);
}

int probe_fixture_make(struct probe_fixture *ret_site, struct err *err)
{
	*ret_site = (struct probe_fixture){ .folder_fd = -1, .data_fd = -1 };
	if (make_top(ret_site, err) < 0)
		return -1;
	if (fill(ret_site, err) == 0)
		return 0;
	probe_fixture_remove(ret_site);
	return -1;
}

void probe_fixture_remove(struct probe_fixture *site)
{
	escapes_release(&site->bait);
	fd_close(&site->data_fd);
	if (site->folder_fd >= 0)
		empty(site->folder_fd);
	fd_close(&site->folder_fd);
	(void)rmdir(site->folder);
}
