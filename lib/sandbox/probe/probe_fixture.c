/* SPDX-License-Identifier: MIT */
/*
 * probe_fixture.c - makes the folder for a probe's throw-away sandboxes, and removes old ones.
 *
 * A folder is locked while it is in use. Another probe may remove it between its creation and its
 * lock, so after locking the link count is checked, and 0 means to try again.
 */
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

static const char *const temporary_folders[] = { "/tmp", "/var/tmp", "/dev/shm" };

static const char data_name[] = "data";
static const char bait_name[] = "bait";

/*
 * Removes all files that an escape test can have left, then the folders, which hold nothing else.
 */
static void empty_folder(int folder_fd)
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

/* ---- folders of killed probes ---- */

static void remove_stale(int place_fd, const char *name)
{
	cleanup_fd int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	empty_folder(fd);
	(void)unlinkat(place_fd, name, AT_REMOVEDIR);
}

static void remove_all_stale(const char *place)
{
	DIR *folder = opendir(place);
	const struct dirent *entry;

	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_stale(dirfd(folder), entry->d_name);
	(void)closedir(folder);
}

/* ---- making ---- */

/* Returns 1 with the folder locked, 0 when another probe removed it as stale before the lock. */
static int make_locked(struct probe_fixture *fixture, const char *place)
{
	struct stat st;

	(void)snprintf(fixture->folder, sizeof(fixture->folder), "%.*s/" PREFIX "XXXXXX",
		       PATH_MAX - 32, place);
	if (mkdtemp(fixture->folder) == NULL)
		return -1;
	fixture->folder_fd = open(fixture->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fixture->folder_fd >= 0 && flock(fixture->folder_fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(fixture->folder_fd, &st) == 0 && st.st_nlink > 0)
		return 1;
	fd_close(&fixture->folder_fd);
	return 0;
}

/* Tries writable places, by paths without links, because a workspace's path must have none. */
static int make_top(struct probe_fixture *fixture, struct err *err)
{
	char place[PATH_MAX];
	int made = -1;

	for (size_t i = 0; i < ARRAY_SIZE(temporary_folders) && made < 0; i++) {
		if (realpath(temporary_folders[i], place) == NULL)
			continue;
		remove_all_stale(place);
		do
			made = make_locked(fixture, place);
		while (made == 0);
	}
	return made < 0 ? err_sys(err, "creating a folder to try the sandbox in") : 0;
}

static int make_fixture_folder(const struct probe_fixture *fixture, const char *name,
			       struct err *err)
{
	if (mkdirat(fixture->folder_fd, name, 0700) < 0)
		return err_sys(err, "creating '%s/%s'", fixture->folder, name);
	return 0;
}

static int fill_folder(struct probe_fixture *fixture, struct err *err)
{
	char bait[PATH_MAX];

	/* The session of a root server has a user of its own, who must pass through. */
	if (fchmod(fixture->folder_fd, 0711) < 0)
		return err_sys(err, "preparing '%s'", fixture->folder);
	if (make_fixture_folder(fixture, data_name, err) < 0 ||
	    make_fixture_folder(fixture, bait_name, err) < 0)
		return -1;
	fixture->data_fd =
		openat(fixture->folder_fd, data_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fixture->data_fd < 0)
		return err_sys(err, "opening '%s/%s'", fixture->folder, data_name);
	(void)snprintf(fixture->data, sizeof(fixture->data), "%.*s/%s", PATH_MAX - 32,
		       fixture->folder, data_name);
	(void)snprintf(bait, sizeof(bait), "%.*s/%s", PATH_MAX - 32, fixture->folder, bait_name);
	return escapes_lay(&fixture->bait, bait, err);
}

int probe_fixture_make(struct probe_fixture *ret_fixture, struct err *err)
{
	*ret_fixture = (struct probe_fixture){ .folder_fd = -1, .data_fd = -1 };
	if (make_top(ret_fixture, err) < 0)
		return -1;
	if (fill_folder(ret_fixture, err) == 0)
		return 0;
	probe_fixture_remove(ret_fixture);
	return -1;
}

void probe_fixture_remove(struct probe_fixture *fixture)
{
	escapes_release(&fixture->bait);
	fd_close(&fixture->data_fd);
	if (fixture->folder_fd >= 0)
		empty_folder(fixture->folder_fd);
	fd_close(&fixture->folder_fd);
	(void)rmdir(fixture->folder);
}
