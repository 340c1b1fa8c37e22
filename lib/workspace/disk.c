/* SPDX-License-Identifier: MIT */
#include "workspace/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { ENTRIES_BETWEEN_LOOKS = 64, BLOCK_BYTES = 512 };

struct disk {
	struct loop *loop;
	const struct workspace *workspace;
	void *data;
	struct loop_timer slice;
	DIR *open[DISK_DEPTH_MAX]; /* from data down to where the walk is */
	size_t depth;
	uint64_t bytes;
	bool too_deep;
	void (*done)(struct disk *disk, uint64_t bytes);
};

struct disk *disk_new(struct loop *loop, const struct workspace *workspace, void *data)
{
	struct disk *disk = xcalloc(1, sizeof(*disk));

	disk->loop = loop;
	disk->workspace = workspace;
	disk->data = data;
	return disk;
}

static void leave(struct disk *disk)
{
	(void)closedir(disk->open[--disk->depth]);
}

void disk_free(struct disk *disk)
{
	if (disk == NULL)
		return;
	loop_timer_stop(&disk->slice);
	while (disk->depth > 0)
		leave(disk);
	free(disk);
}

void *disk_data(const struct disk *disk)
{
	return disk->data;
}

static void enter(struct disk *disk, int dir_fd, const char *name)
{
	cleanup_fd int fd = -1;
	DIR *dir;

	if (disk->depth == DISK_DEPTH_MAX) {
		disk->too_deep = true;
		return;
	}
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL)
		return;
	(void)fd_steal(&fd);
	disk->open[disk->depth++] = dir;
}

static void count(struct disk *disk, int dir_fd, const char *name)
{
	struct stat st;

	if (str_eq(name, ".") || str_eq(name, "..") ||
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		disk->bytes += (uint64_t)st.st_blocks * BLOCK_BYTES;
		enter(disk, dir_fd, name);
	} else {
		disk->bytes += (uint64_t)st.st_blocks * BLOCK_BYTES /
			       (st.st_nlink > 0 ? (uint64_t)st.st_nlink : 1);
	}
}

/* Some entries; false when the walk is over. */
static bool walk_some(struct disk *disk)
{
	for (int i = 0; i < ENTRIES_BETWEEN_LOOKS; i++) {
		DIR *dir;
		const struct dirent *entry;

		if (disk->depth == 0)
			return false;
		dir = disk->open[disk->depth - 1];
		entry = readdir(dir);
		if (entry != NULL)
			count(disk, dirfd(dir), entry->d_name);
		else
			leave(disk);
	}
	return true;
}

static void on_slice(struct loop_timer *timer)
{
	struct disk *disk = container_of(timer, struct disk, slice);
	void (*done)(struct disk * disk, uint64_t bytes) = disk->done;
	uint64_t until = clock_ms() + DISK_SLICE_MS;

	while (clock_ms() < until) {
		if (walk_some(disk))
			continue;
		disk->done = NULL;
		done(disk, disk->too_deep ? DISK_TOO_DEEP : disk->bytes);
		return;
	}
	loop_timer_start(disk->loop, timer, loop_now(disk->loop), on_slice);
}

void disk_start(struct disk *disk, void (*done)(struct disk *disk, uint64_t bytes))
{
	if (disk->done != NULL)
		return;
	disk->done = done;
	disk->bytes = 0;
	disk->too_deep = false;
	enter(disk, workspace_data_fd(disk->workspace), ".");
	loop_timer_start(disk->loop, &disk->slice, loop_now(disk->loop), on_slice);
}

uint64_t disk_free_bytes(const struct workspace *workspace)
{
	struct statvfs vfs;

	if (fstatvfs(workspace_data_fd(workspace), &vfs) < 0)
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}
