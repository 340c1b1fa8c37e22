/* SPDX-License-Identifier: MIT */
/*
 * disk_usage.h - measures how much of the disk a session's folder takes.
 *
 * A walk covers all of `data`, also folders that a scan does not enter. It goes by descriptor,
 * follows no link, and works in slices of DISK_SLICE_MS. If the server lacks descriptors or memory,
 * or a disk fails, the walk begins anew after DISK_RETRY_MS. A file with several names counts in
 * part with each. Unlinked files that are still open are not counted: they only show in the free
 * space of the file system.
 */
#ifndef WORKSPACE_DISK_USAGE_H
#define WORKSPACE_DISK_USAGE_H

#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

enum {
	DISK_SLICE_MS = 5,
	DISK_RETRY_MS = 100,
	DISK_OPEN_MAX = 64,       /* folders held open; deeper ones are reopened on the way up */
	DISK_DEPTH_MAX = 1 << 20, /* nested folders */
	DISK_ENTRIES_MAX = 20 << 20,
	/* A disk has room for so many files only, also for empty ones: each counts so much. */
	DISK_ENTRY_MIN = 4096,
};

/*
 * Reported instead of a size that is not known: a maximum above was exceeded, a folder cannot be
 * read, or deep folders were moved during the walk.
 */
#define DISK_UNKNOWN UINT64_MAX
/* A disk with less free space counts as full. */
#define DISK_ROOM_MIN (1ULL << 20)

struct disk;

/* Makes a measure; disk_start() runs it. `workspace` is borrowed until disk_free(). */
struct disk *disk_new(struct loop *loop, const struct workspace *workspace, void *data);
/* Ends a running walk and frees `disk`, which may be NULL. */
void disk_free(struct disk *disk);
void *disk_data(const struct disk *disk);
/*
 * Starts a walk, unless one is running. `done` is called once, from the loop, and may free `disk`.
 */
void disk_start(struct disk *disk, void (*done)(struct disk *disk, uint64_t bytes));

/* Returns how many files and folders the last complete walk found. */
uint64_t disk_entries(const struct disk *disk);
/* Return the size of the largest file of the last complete walk, and its duration. */
uint64_t disk_largest(const struct disk *disk);
uint64_t disk_walk_ms(const struct disk *disk);

/*
 * Returns the bytes that are free for this user where the folder is stored, or UINT64_MAX if
 * unknown.
 */
uint64_t disk_free_bytes(const struct workspace *workspace);
/* Returns true if there is no room for DISK_ROOM_MIN bytes, or for another file. */
bool disk_is_full(const struct workspace *workspace);

#endif
