/* SPDX-License-Identifier: MIT */
/*
 * scan_fast.c - compares the stamps of a snapshot's folders and files. Some file systems store
 * whole seconds only, so a stamp in the second of the snapshot may hide a later change: such a
 * snapshot is unsure.
 */
#include "workspace/scan_fast.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "workspace/beneath.h"
#include "workspace/file_stat.h"

static const uint64_t second_ns = 1000000000U;

static uint64_t to_ns(const struct statx_timestamp *t)
{
	return (uint64_t)t->tv_sec * second_ns + t->tv_nsec;
}

/* ---- folders ---- */

static void fill_stamp(struct folder_stamp *stamp, const struct statx *st)
{
	stamp->device = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
	stamp->ino = st->stx_ino;
	stamp->mtime_ns = to_ns(&st->stx_mtime);
	stamp->ctime_ns = to_ns(&st->stx_ctime);
}

void scan_fast_note_folder(struct snapshot *snapshot, const char *path, int fd)
{
	struct folder_stamp *folder;
	struct statx st;

	if (snapshot->folder_count == SNAPSHOT_FOLDERS || file_stat_at(fd, "", &st) < 0) {
		snapshot->unsure = true;
		return;
	}
	folder = &snapshot->folders[snapshot->folder_count++];
	folder->path = path;
	fill_stamp(folder, &st);
	/* File systems without fractions of a second report whole seconds. */
	if (folder->ctime_ns + YOUNG_NS >= snapshot->started_ns ||
	    folder->ctime_ns % second_ns == 0)
		snapshot->unsure = true;
}

static bool same_folder(const struct folder_stamp *known, int fd, const char *name)
{
	struct folder_stamp now = { .path = known->path };
	struct statx st;

	if (file_stat_at(fd, name, &st) < 0 || !S_ISDIR(st.stx_mode))
		return false;
	fill_stamp(&now, &st);
	return now.device == known->device && now.ino == known->ino &&
	       now.mtime_ns == known->mtime_ns && now.ctime_ns == known->ctime_ns;
}

/* ---- files ---- */

static bool same_file(const struct snapshot *snapshot, size_t index, int folder_fd)
{
	const struct file_info *file = &snapshot->files[index];
	const struct stamp *stamp = &snapshot->stamps[index];
	struct statx st;

	if (stamp->young || file_stat_at(folder_fd, path_base(file->path), &st) < 0)
		return false;
	return stamp->ino == st.stx_ino && stamp->ctime_ns == to_ns(&st.stx_ctime) &&
	       file->mtime_ns == to_ns(&st.stx_mtime) && file->size == st.stx_size &&
	       file->is_link == S_ISLNK(st.stx_mode);
}

static bool has_files(const struct snapshot *snapshot, size_t folder)
{
	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->stamps[i].folder == folder)
			return true;
	return false;
}

static bool same_files(const struct snapshot *snapshot, size_t folder, int fd)
{
	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->stamps[i].folder == folder && !same_file(snapshot, i, fd))
			return false;
	return true;
}

/* Compares the folder itself, then its files. */
static bool holds(const struct snapshot *snapshot, size_t index, int data_fd)
{
	const struct folder_stamp *folder = &snapshot->folders[index];
	cleanup_fd int fd = -1;

	if (folder->path[0] == '\0')
		return same_folder(folder, data_fd, "") && same_files(snapshot, index, data_fd);
	if (strchr(folder->path, '/') == NULL && !has_files(snapshot, index))
		return same_folder(folder, data_fd, folder->path);
	fd = beneath_open_same_mount(data_fd, folder->path, O_PATH | O_DIRECTORY);
	return fd >= 0 && same_folder(folder, fd, "") && same_files(snapshot, index, fd);
}

bool scan_fast_holds(const struct snapshot *snapshot, int data_fd)
{
	if (snapshot->unsure || snapshot->capped || snapshot->count > SCAN_FAST_FILES_MAX)
		return false;
	for (size_t i = 0; i < snapshot->folder_count; i++)
		if (!holds(snapshot, i, data_fd))
			return false;
	return snapshot->folder_count > 0;
}
