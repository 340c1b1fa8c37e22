/* SPDX-License-Identifier: MIT */
/*
 * disk_usage.c - a walk over nested folders by descriptor. Only DISK_OPEN_MAX folders stay open;
 * those above are closed with their position and reopened by ".." on the way up. Session code may
 * move a folder meanwhile, so device and inode are compared: a mismatch makes the size unknown.
 */
#include "workspace/disk_usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { ENTRIES_BETWEEN_LOOKS = 64, BLOCK_BYTES = 512 };

/* A folder on the path from data to the current folder of the walk. */
struct level {
	DIR *dir; /* NULL: closed, at `position` */
	long position;
	dev_t dev;
	ino_t ino;
};

struct disk {
	struct loop *loop;
	const struct workspace *workspace;
	void *data;
	struct loop_timer slice;
	struct level *levels;
	size_t depth;
	size_t room;
	size_t entries;
	uint64_t named; /* entries without "." and ".." */
	uint64_t bytes;
	uint64_t largest;
	uint64_t started_ms;
	uint64_t walk_ms; /* of the last walk */
	bool unknown;
	bool failed; /* for want of descriptors or memory of the server's */
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

static void close_level(struct level *level)
{
	if (level->dir != NULL)
		(void)closedir(level->dir);
	level->dir = NULL;
}

static void close_all(struct disk *disk)
{
	while (disk->depth > 0)
		close_level(&disk->levels[--disk->depth]);
}

void disk_free(struct disk *disk)
{
	if (disk == NULL)
		return;
	loop_timer_stop(&disk->slice);
	close_all(disk);
	free(disk->levels);
	free(disk);
}

void *disk_data(const struct disk *disk)
{
	return disk->data;
}

static DIR *open_dir(int dir_fd, const char *name)
{
	return fd_list_own(
		openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

static void give_up(struct disk *disk)
{
	disk->unknown = true;
	close_all(disk);
}

/* Gives up a walk after `error`. The server's own failures say nothing about the folder. */
static void give_up_after(struct disk *disk, int error)
{
	disk->failed = error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
	give_up(disk);
}

static void push_level(struct disk *disk, DIR *dir, const struct stat *st)
{
	if (disk->depth == disk->room) {
		disk->room = disk->room * 2 + DISK_OPEN_MAX;
		disk->levels = xrealloc(disk->levels, disk->room * sizeof(*disk->levels));
	}
	disk->levels[disk->depth++] =
		(struct level){ .dir = dir, .dev = st->st_dev, .ino = st->st_ino };
}

static void enter_folder(struct disk *disk, int dir_fd, const char *name)
{
	DIR *dir = open_dir(dir_fd, name);
	struct stat st;

	/* A folder that was only deleted does not matter. */
	if (dir == NULL && fd_hides_entries(errno))
		give_up_after(disk, errno);
	if (dir == NULL)
		return;
	if (fstat(dirfd(dir), &st) < 0 || disk->depth == DISK_DEPTH_MAX) {
		(void)closedir(dir);
		give_up(disk);
		return;
	}
	if (disk->depth > DISK_OPEN_MAX) {
		struct level *above = &disk->levels[disk->depth - 1];

		above->position = telldir(above->dir);
		close_level(above);
	}
	push_level(disk, dir, &st);
}

/* Reopens the folder above `below`. Returns false if it is another one. */
static bool reopen(struct level *level, DIR *below)
{
	struct stat st;

	level->dir = open_dir(dirfd(below), "..");
	if (level->dir == NULL || fstat(dirfd(level->dir), &st) < 0 || st.st_dev != level->dev ||
	    st.st_ino != level->ino)
		return false;
	seekdir(level->dir, level->position);
	return true;
}

static void leave_folder(struct disk *disk)
{
	struct level left = disk->levels[--disk->depth];
	struct level *above = disk->depth > 0 ? &disk->levels[disk->depth - 1] : NULL;

	errno = 0;
	if (above != NULL && above->dir == NULL && !reopen(above, left.dir))
		give_up_after(disk, errno);
	close_level(&left);
}

static void count_entry(struct disk *disk, int dir_fd, const char *name)
{
	struct stat st;
	uint64_t bytes;

	if (fd_is_dot(name) || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	disk->named++;
	bytes = (uint64_t)st.st_blocks * BLOCK_BYTES;
	bytes = bytes > DISK_ENTRY_MIN ? bytes : DISK_ENTRY_MIN;
	if (S_ISDIR(st.st_mode)) {
		disk->bytes += bytes;
		enter_folder(disk, dir_fd, name);
	} else {
		disk->bytes += bytes / (st.st_nlink > 0 ? (uint64_t)st.st_nlink : 1);
		if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > disk->largest)
			disk->largest = (uint64_t)st.st_size;
	}
}

/* Handles some entries. Returns false when the walk is over. */
static bool walk_some(struct disk *disk)
{
	for (int i = 0; i < ENTRIES_BETWEEN_LOOKS; i++) {
		const struct dirent *entry;
		DIR *dir;

		if (disk->depth == 0)
			return false;
		if (++disk->entries > DISK_ENTRIES_MAX) {
			give_up(disk);
			return false;
		}
		dir = disk->levels[disk->depth - 1].dir;
		entry = fd_next_entry(dir);
		if (entry != NULL)
			count_entry(disk, dirfd(dir), entry->d_name);
		else if (errno != 0)
			give_up_after(disk, errno);
		else
			leave_folder(disk);
	}
	return true;
}

static void begin_walk(struct disk *disk)
{
	disk->bytes = 0;
	disk->unknown = false;
	disk->failed = false;
	disk->entries = 0;
	disk->named = 0;
	disk->largest = 0;
	disk->started_ms = clock_ms();
	enter_folder(disk, workspace_data_fd(disk->workspace), ".");
}

static void on_slice(struct loop_timer *timer);

static void on_retry(struct loop_timer *timer)
{
	begin_walk(container_of(timer, struct disk, slice));
	on_slice(timer);
}

static void on_slice(struct loop_timer *timer)
{
	struct disk *disk = container_of(timer, struct disk, slice);
	void (*done)(struct disk * disk, uint64_t bytes) = disk->done;
	uint64_t until = clock_ms() + DISK_SLICE_MS;

	while (clock_ms() < until) {
		if (walk_some(disk))
			continue;
		if (disk->failed) {
			loop_timer_start(disk->loop, timer, loop_now(disk->loop) + DISK_RETRY_MS,
					 on_retry);
			return;
		}
		disk->done = NULL;
		disk->walk_ms = clock_ms() - disk->started_ms;
		done(disk, disk->unknown ? DISK_UNKNOWN : disk->bytes);
		return;
	}
	loop_timer_start(disk->loop, timer, loop_now(disk->loop), on_slice);
}

void disk_start(struct disk *disk, void (*done)(struct disk *disk, uint64_t bytes))
{
	if (disk->done != NULL)
		return;
	disk->done = done;
	begin_walk(disk);
	loop_timer_start(disk->loop, &disk->slice, loop_now(disk->loop), on_slice);
}

uint64_t disk_entries(const struct disk *disk)
{
	return disk->named;
}

uint64_t disk_largest(const struct disk *disk)
{
	return disk->largest;
}

uint64_t disk_walk_ms(const struct disk *disk)
{
	return disk->walk_ms;
}

bool disk_is_full(const struct workspace *workspace)
{
	struct statvfs vfs;

	if (fstatvfs(workspace_data_fd(workspace), &vfs) < 0)
		return false;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize < DISK_ROOM_MIN ||
	       (vfs.f_files > 0 && vfs.f_favail == 0); /* some file systems count no files */
}

uint64_t disk_free_bytes(const struct workspace *workspace)
{
	struct statvfs vfs;

	if (fstatvfs(workspace_data_fd(workspace), &vfs) < 0)
		return UINT64_MAX;
	return (uint64_t)vfs.f_bavail * vfs.f_frsize;
}
