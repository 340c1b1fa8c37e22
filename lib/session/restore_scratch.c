/* SPDX-License-Identifier: MIT */
/*
 * restore_scratch.c - reads folders that session code may change at the same time. No link is
 * followed, and no file is opened for reading.
 */
#include "session/restore_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "proc/sandbox.h"
#include "session/restore_report.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"

enum { ENTRIES_MAX = 20000, DEPTH_MAX = 16 };

static const char *const folders[SANDBOX_SCRATCH] = { "/tmp", "/dev/shm" };

void restore_scratch_release(struct restore_scratch *scratch)
{
	for (size_t i = 0; i < scratch->count; i++)
		free(scratch->paths[i]);
	free(scratch->paths);
	*scratch = (struct restore_scratch){ 0 };
}

static void add(struct restore_scratch *scratch, const char *path)
{
	scratch->paths = xrealloc(scratch->paths, (scratch->count + 1) * sizeof(*scratch->paths));
	scratch->paths[scratch->count++] = xstrdup(path);
}

/* A folder of the sandbox's memory. A shared folder below it is on another file system. */
struct place {
	int fd;
	dev_t dev;
	const char *path;
	int depth;
};

static void read_folder(struct restore_scratch *scratch, const struct place *place);

/* Lists a folder's files, or the folder itself if it cannot be read. */
static void read_below(struct restore_scratch *scratch, const struct place *place, const char *name,
		       const char *path)
{
	cleanup_fd int fd =
		openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct place below = { fd, place->dev, path, place->depth + 1 };

	if (fd >= 0 && below.depth < DEPTH_MAX)
		read_folder(scratch, &below);
	else
		add(scratch, path);
}

static void read_folder(struct restore_scratch *scratch, const struct place *place)
{
	DIR *dir = fd_list(place->fd);
	const struct dirent *entry;
	struct stat st;

	if (dir == NULL)
		return;
	while (scratch->seen < ENTRIES_MAX && (entry = fd_next_entry(dir)) != NULL) {
		cleanup_free char *path = xasprintf("%s/%s", place->path, entry->d_name);

		scratch->seen++;
		if (fd_is_dot(entry->d_name) ||
		    fstatat(place->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_dev != place->dev)
			continue;
		if (S_ISDIR(st.st_mode))
			read_below(scratch, place, entry->d_name, path);
		else
			add(scratch, path);
	}
	(void)closedir(dir);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void restore_scratch_read(struct restore_scratch *scratch, const int *fds)
{
	struct stat st;

	for (size_t i = 0; fds != NULL && i < SANDBOX_SCRATCH; i++) {
		if (fstat(fds[i], &st) < 0)
			continue;
		read_folder(scratch, &(struct place){ fds[i], st.st_dev, folders[i], 0 });
	}
	if (scratch->count > 1)
		qsort(scratch->paths, scratch->count, sizeof(*scratch->paths), compare_paths);
}

/* Returns whether a folder has a file, or may have it. */
static bool has(int dir_fd, const char *name)
{
	cleanup_fd int fd = beneath_open(dir_fd, name, O_PATH, 0);

	return fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
}

void restore_scratch_compare(const struct restore_scratch *scratch, const int *fds,
			     struct restore_list *gone)
{
	for (size_t i = 0; i < scratch->count; i++) {
		const char *path = scratch->paths[i];
		size_t folder = strncmp(path, "/tmp/", 5) == 0 ? 0 : 1;
		cleanup_free char *quoted = NULL;

		if (fds != NULL && has(fds[folder], path + strlen(folders[folder]) + 1))
			continue;
		quoted = sanitize_quote(path);
		restore_report_add(gone, "'%s'", quoted);
	}
}
